"""What an address asks for, and the digest of everything that determines the resulting numbers."""

import shutil

import pytest

from playground.assets import SHIPPED_MODELS
from playground.serving import chosen, models, people, pictures, prepared
from playground.serving.answering import Refused
from playground.serving.traces import Setup
from serving.visits import photograph

pytestmark = pytest.mark.usefixtures("nothing_fetched")
FLOCK = pictures.sample("flock")


@pytest.fixture
def anna():
    person = people.everybody().enter("anna" * 6)
    person.take(pictures.upload(photograph(), "mine.jpg"))
    yield person
    people.everybody().forget(person.key)


def refusal_of(words: dict, person=None) -> Refused:
    with pytest.raises(Refused) as error:
        chosen.read(words, person)
    assert str(error.value).endswith("."), str(error.value)
    return error.value


@pytest.mark.parametrize(
    ("words", "name", "setup"),
    [
        ({}, "meadow", Setup("bundled", 2)),  # the default: the first drawing, on a finer grid
        ({"sample": "meadow"}, "meadow", Setup("bundled", 2)),
        ({"sample": "flock"}, "flock", Setup("bundled")),
        ({"sample": "meadow", "model": "bundled"}, "meadow", Setup("bundled")),  # with a model: the plain grid
        ({"model": "untrained"}, "meadow", Setup("untrained")),
        ({"sample": "flock", "scale": "off"}, "flock", Setup("bundled", scale=1.0)),
        ({"sample": "flock", "scale": "0.25", "detail": "2"}, "flock", Setup("bundled", 2, 0.25)),
    ],
    ids=str,
)
def test_words_that_an_address_leaves_out_get_defaults_that_suit_the_picture(words, name, setup):
    picture, chosen_setup = chosen.read(words, None)
    assert (picture.name, chosen_setup) == (name, setup)


NOTHING_OF_THE_KIND = {
    "sample": ("nobody", "../../etc/passwd", "meadow\n", "x" * 10**5, "coffee"),  # coffee is not on this server
    "mine": ("0123456789abcdef", "../meadow"),
    "model": ("vit_nonsense_patch3", "resnet50", "../secret.safetensors", "https://elsewhere.example/x.safetensors"),
}
NO_NUMBER = {"detail": ("0", "99", "²", "", "9" * 5000), "scale": ("loud", "nan", "inf", "-0.1", "8.01", "1e400", "")}


@pytest.mark.parametrize(
    ("choices", "status"), [(NOTHING_OF_THE_KIND, 404), (NO_NUMBER, 400)], ids=["names", "numbers"]
)
def test_a_choice_that_does_not_exist_gets_a_status_and_a_short_sentence(choices, status):
    for word, values in choices.items():
        for value in values:
            error = refusal_of({word: value})
            assert error.status == status, (word, value[:50], str(error))
            assert len(str(error)) < 300


def test_one_s_own_picture_goes_before_a_sample_in_the_same_address(anna):
    (picture_id,) = anna.pictures
    assert not chosen.read({"mine": picture_id, "sample": "flock"}, anna)[0].is_sample
    assert refusal_of({"mine": "0" * 16, "sample": "flock"}, anna).status == 404


def test_the_refusal_of_a_missing_model_says_how_to_fetch_it(monkeypatch):
    monkeypatch.setattr(models, "may_fetch", lambda name: True)
    error = refusal_of({"model": "dinov2-small"})
    assert error.fields["missing"] == {
        "model": "dinov2-small", "title": "DINOv2 S/14", "megabytes": models.megabytes("dinov2-small"),
        "may_fetch": True,
    }  # fmt: skip


def test_both_sides_of_a_comparison_have_the_same_detail():
    words = {"sample": "flock", "model": "bundled", "detail": "2"}
    assert chosen.compared_pair(words, None) is None
    picture, setup = chosen.compared_pair(words | {"with": "sample:meadow"}, None)
    assert (picture.name, setup) == ("meadow", Setup("bundled", 2))
    assert chosen.compared_pair(words | {"with": "model:bundled"}, None)[1] == Setup("bundled", 2)
    assert chosen.compared_pair(words | {"with": "model:untrained"}, None)[1] == Setup("untrained")


# The digest of a trace


def test_a_digest_depends_on_all_that_determines_the_numbers():
    usual_digest = chosen.digest(FLOCK, Setup("bundled"))
    other_digests = [
        chosen.digest(pictures.sample("meadow"), Setup("bundled")),
        chosen.digest(FLOCK, Setup("bundled-taught")),
        chosen.digest(FLOCK, Setup("untrained")),
        chosen.digest(FLOCK, Setup("bundled", 2)),
        chosen.digest(FLOCK, Setup("bundled", scale=1.0)),
        chosen.digest(FLOCK, Setup("bundled", scale=0.5)),
    ]
    assert len({usual_digest, *other_digests}) == 1 + len(other_digests)
    assert chosen.digest(FLOCK, Setup("bundled")) == usual_digest


def test_other_weights_under_the_same_name_have_other_digests(monkeypatch, tmp_path):
    former_digest, weights_copy = chosen.digest(FLOCK, Setup("bundled")), tmp_path / "bundled.safetensors"
    shutil.copy(SHIPPED_MODELS["bundled"], weights_copy)
    monkeypatch.setitem(prepared.SHIPPED_MODELS, "bundled", weights_copy)
    assert chosen.digest(FLOCK, Setup("bundled")) == former_digest, "the same bytes elsewhere"
    weights_copy.write_bytes(weights_copy.read_bytes() + b"x")
    assert chosen.digest(FLOCK, Setup("bundled")) != former_digest
