"""A damaged file in the cache makes only its own model or photograph unavailable."""

from pathlib import Path

import pytest

from playground.errors import PlaygroundError
from playground.models import borrowed
from playground.samples import PHOTOGRAPHS, SAMPLES
from playground.serving import chosen, models, pictures, prepared, routes_samples, starting

FIRST_PHOTOGRAPH, *OTHER_PHOTOGRAPHS = PHOTOGRAPHS
DAMAGES = {
    "an empty photograph": ("chelsea.png", lambda data: b""),
    "a photograph with zeros at its end": ("chelsea.png", lambda data: data[:-4096] + bytes(4096)),
    "half of DINOv2": (borrowed.DINOV2.file, lambda data: data[: len(data) // 2]),
}


@pytest.fixture
def cache(all_fetched):
    _forget()
    yield borrowed.cache_folder()
    _forget()


def _forget() -> None:
    answers = (routes_samples.edition, routes_samples.sample_list_json)
    for cached_function in (prepared.sample_digest, pictures.sample, *answers):
        cached_function.cache_clear()


def damage(cache: Path, kind: str) -> str:
    name, change = DAMAGES[kind]
    data = (cache / name).read_bytes()
    (cache / name).unlink()
    (cache / name).write_bytes(change(data))
    return name


@pytest.mark.parametrize("kind", DAMAGES)
def test_all_but_the_damaged_file_is_shown(kind, cache, client, monkeypatch):
    starting.is_warm().set()
    damaged_file = damage(cache, kind)
    sample_list = client.get(f"/{routes_samples.address()}").json()
    sound_samples = [*PHOTOGRAPHS, *SAMPLES] if damaged_file == borrowed.DINOV2.file else [*OTHER_PHOTOGRAPHS, *SAMPLES]
    assert [item["name"] for item in sample_list["samples"]] == [sample.name for sample in sound_samples]
    assert sample_list["real"]["here"] == (damaged_file != borrowed.DINOV2.file)
    assert client.get("/readyz").json()["ready"]
    description = client.get("/api/trace").json()
    assert description["picture"]["sample"] == chosen.first_sample() != "chelsea"
    answers = [client.get(f"/{item['picture']}") for item in sample_list["samples"]]
    answers.append(client.get("/api/trace?sample=chelsea&model=dinov2-small"))
    assert {item.status_code for item in answers} == {200, 404}
    assert str(cache) not in answers[-1].text


def test_weights_with_nan_are_refused_without_naming_their_folder(cache, caplog):
    """NaN weights in a file of the right length: only the doctor reads the whole file. No sentence names a folder."""
    file = cache / borrowed.DINOV2.file
    data = file.read_bytes()
    file.unlink()
    file.write_bytes(data[:-4000] + b"\xff" * 4000)
    with pytest.raises(PlaygroundError) as refusal:
        models.load("dinov2-small")
    assert str(refusal.value).startswith("dinov2-small.safetensors holds numbers that are none")
    assert str(file) in caplog.text
