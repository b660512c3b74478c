"""A person's own pictures over HTTP, and who may change or delete them."""

import gc
import io

import numpy as np
import pytest
from pictures.test_cifar import write_cifar
from PIL import Image

from playground.assets import DRAWINGS
from playground.pictures import cifar
from playground.serving import chosen, classes, ledger, people, pictures, queue
from playground.serving.routes import ROUTES
from serving.visits import ANNA, BERT, assert_refused, bring, photograph


def test_an_uploaded_picture_is_served_to_its_owner_and_not_cached(http):
    reply = bring(http, ANNA, name="my%20cat%20%F0%9F%90%88.jpg")
    assert reply["title"] == "my cat 🐈.jpg"
    assert reply["thumb"].startswith("data:image/jpeg;base64,")
    answer = http.get(f"/api/pictures/{reply['id']}.jpg", headers=ANNA)
    assert (answer.headers["Content-Type"], answer.headers["Cache-Control"]) == ("image/jpeg", "private, no-store")
    assert Image.open(io.BytesIO(answer.content)).size == (300, 225)


def test_the_same_file_gets_the_same_id_at_each_upload(http):
    """This lets the address of an own picture work at another replica and after a restart."""
    first_id = bring(http, ANNA)["id"]
    assert http.delete("/api/pictures", headers=ANNA).status_code == 204
    assert_refused(http.get(f"/api/pictures/{first_id}.jpg", headers=ANNA), 404)
    assert bring(http, ANNA)["id"] == first_id


def test_a_forgotten_picture_is_asked_for_by_its_id(http):
    answer = http.get("/api/trace?mine=0123456789abcdef&model=bundled", headers=ANNA)
    assert "sent again" in assert_refused(answer, 404)
    assert answer.json()["forgotten"] == "0123456789abcdef"


def test_a_person_can_delete_one_picture_or_all(http):
    first_id, second_id, third_id = (bring(http, ANNA, number)["id"] for number in range(3))
    assert http.delete(f"/api/pictures/{first_id}", headers=ANNA).status_code == 204
    assert_refused(http.delete(f"/api/pictures/{first_id}", headers=ANNA), 404)
    assert_refused(http.delete(f"/api/pictures/{second_id}", headers=BERT), 404)
    assert http.get(f"/api/pictures/{second_id}.jpg", headers=ANNA).status_code == 200
    assert http.delete("/api/pictures", headers=ANNA).status_code == 204
    for picture_id in (second_id, third_id):
        assert_refused(http.get(f"/api/pictures/{picture_id}.jpg", headers=ANNA), 404)


@pytest.mark.parametrize("data", [b"", b"no picture", photograph()[:200], b"<svg onload=alert(1)>"], ids=range(4))
def test_bytes_that_are_no_picture_are_refused_with_a_sentence_and_kept_nowhere(http, data):
    assert_refused(http.post("/api/pictures", content=data, headers=ANNA), 400)
    assert people.everybody().find(ANNA["X-Playground-Key"]) is None


@pytest.mark.parametrize(
    "name", ["x" * 500, "%00%0d%0aSet-Cookie:%20a=b", "..%2F..%2Fetc%2Fpasswd", "%E2%80%AEgpj.exe"]
)
def test_a_hostile_name_is_a_short_title_and_nothing_else(http, name):
    reply = bring(http, ANNA, name=name)
    assert 0 < len(reply["title"]) <= pictures.LONGEST_NAME
    answer = http.get(f"/api/pictures/{reply['id']}.jpg", headers=ANNA)
    assert answer.status_code == 200
    assert "Set-Cookie" not in answer.headers


# Requests that change something

CHANGING_REQUESTS = [
    (method, route.path)
    for route in ROUTES
    for method in sorted(route.methods & {"POST", "PUT", "PATCH", "DELETE"})
]  # fmt: skip
FOREIGN_HEADERS = {
    "no key": {},
    "a foreign page": ANNA | {"Origin": "https://elsewhere.example"},
    "a page of no origin": ANNA | {"Origin": "null"},
    "another port": ANNA | {"Origin": "http://testserver:81"},
    "a name that begins like ours": ANNA | {"Origin": "http://testserver.elsewhere.example"},
    "a foreign form": ANNA | {"Sec-Fetch-Site": "cross-site"},
    "a neighbour": ANNA | {"Sec-Fetch-Site": "same-site"},
}


@pytest.mark.parametrize("visitor", FOREIGN_HEADERS)
@pytest.mark.parametrize(("method", "path"), CHANGING_REQUESTS)
def test_only_this_server_s_own_pages_change_anything(http, method, path, visitor):
    reply = bring(http, ANNA)
    code = classes.classes().start("lecturer" * 4, "").code if "{code}" in path else ""
    path = path.format(id=reply["id"], kind="svg", code=code)
    answer = http.request(method, path, params={"model": "bundled", "number": "1"}, headers=FOREIGN_HEADERS[visitor])
    classes.classes().end_all()
    assert_refused(answer, 403)
    assert reply["id"] in people.everybody().find(ANNA["X-Playground-Key"]).pictures


# Pictures of a labelled data set


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_CIFAR", str(tmp_path))
    return tmp_path


def test_a_labelled_picture_is_called_by_its_number_and_label_and_enlarged_for_the_eye(http, folder):
    label = ("red", "green", "blue")[write_cifar(folder)[17]]
    reply = http.post("/api/labelled?number=17", headers=ANNA).json()
    assert reply["title"] == f"CIFAR-10 no. 17: {label}"
    picture = people.everybody().find(ANNA["X-Playground-Key"]).pictures[reply["id"]]
    assert picture.image.size == (32, 32)
    shown_image = Image.open(io.BytesIO(http.get(f"/api/pictures/{reply['id']}.jpg", headers=ANNA).content))
    assert shown_image.size == (512, 512)
    small_pixels = np.asarray(shown_image.resize((32, 32), Image.Resampling.BOX), float)
    assert np.abs(small_pixels - np.asarray(picture.image, float)).mean() < 6
    assert pictures.labelled_set()["count"] == 25


def test_without_a_folder_there_are_our_own_drawings_which_do_not_say_that_they_are_cifar_s(http, monkeypatch):
    monkeypatch.delenv("PLAYGROUND_CIFAR", raising=False)
    assert pictures.labelled_set() == {"count": len(cifar.read(DRAWINGS)), "word": "byNumberDrawn"}
    reply = http.post("/api/labelled?number=5", headers=ANNA).json()
    assert reply["title"] == "Drawing no. 5: cat"
    picture = people.everybody().find(ANNA["X-Playground-Key"]).pictures[reply["id"]]
    assert picture.image.size == (32, 32)
    assert http.post("/api/labelled?number=5", headers=ANNA).json() == reply, "a number is the same drawing each time"
    sentence = assert_refused(http.post(f"/api/labelled?number={len(cifar.read(DRAWINGS))}", headers=ANNA), 400)
    assert "from 0 to 299" in sentence


# Many people's pictures


def limit_pictures(monkeypatch, limit: int) -> None:
    monkeypatch.setattr(ledger, "PICTURE_BYTES", limit)


def own_picture(number: int, side: int = 1600):
    return pictures.upload(photograph(number, side), f"{number}.jpg")


def test_many_people_s_own_pictures_take_no_more_than_their_share_and_go_with_them(own_app, monkeypatch):
    limit_pictures(monkeypatch, pictures.own_pictures().bytes + 12 * 2**20)
    former_bytes, keys = pictures.own_pictures().bytes, [f"{number}" * 22 for number in range(6)]
    for number, key in enumerate(keys):  # pictures of 7.7 MB each
        people.everybody().enter(key).take(own_picture(number))
    assert pictures.own_pictures().bytes - former_bytes <= 12 * 2**20
    widths = [next(iter(people.everybody().find(key).pictures.values())).image.width for key in keys]
    assert widths == sorted(widths)
    assert widths[-1] == 1600, "the latest has lost pixels"
    for key in keys:
        people.everybody().forget(key)
    gc.collect()
    assert pictures.own_pictures().bytes == former_bytes


def bring_one(number: int, network: str) -> str:
    """Uploads a picture as a new person of this network, and returns the person's key."""
    key = f"{network}{number:02d}".ljust(22, "-")
    with queue.working_for(queue.Asker(ledger.Visitor(key, network))):
        people.everybody().enter(key).take(pictures.upload(photograph(number, 400), "mine.jpg"))
    return key


@pytest.fixture
def room_for_ten(own_app, monkeypatch):
    """Room for about ten pictures of 400 pixels, which are not made smaller."""
    monkeypatch.setattr(pictures, "LEAST_SIDE", 400)
    limit_pictures(monkeypatch, 5 * 2**20)


def assert_only_the_latest_have_pictures(keys: list[str]) -> None:
    has_picture = [bool(people.everybody().find(key).pictures) for key in keys]
    assert has_picture == sorted(has_picture)
    assert (has_picture[0], has_picture[-1]) == (False, True)
    assert pictures.own_pictures().bytes <= 5 * 2**20


def test_when_there_is_no_room_the_oldest_of_the_network_that_has_most_is_forgotten(room_for_ten):
    """New keys do not help: the pictures of the network that mints keys are forgotten."""
    stranger = bring_one(0, "elsewhere")
    assert_only_the_latest_have_pictures([bring_one(number, "minting") for number in range(1, 21)])
    assert people.everybody().find(stranger).pictures


def test_in_a_network_a_picture_that_is_asked_for_outlasts_those_that_are_only_brought(room_for_ten):
    """Once, a person who waited for a large model lost their picture to 300 uploads from the same hall."""
    person = people.everybody().find(bring_one(0, "hall"))
    (picture_id,) = person.pictures
    keys = []
    for number in range(1, 21):
        keys.append(bring_one(number, "hall"))
        chosen.own_picture(picture_id, person)
    assert list(person.pictures) == [picture_id]
    assert not all(people.everybody().find(key).pictures for key in keys)


def test_in_a_house_of_many_networks_the_oldest_picture_is_forgotten_for_a_new_one(room_for_ten):
    """Once, each network of the house was reduced alone, and a newcomer's only picture was refused."""
    assert_only_the_latest_have_pictures([bring_one(n, f"2001:db8:1:2{n:02x}::/64") for n in range(1, 21)])


def test_when_there_is_no_room_for_one_more_picture_a_sentence_says_so(http, monkeypatch):
    """All other pictures belong to networks that hold less, so none of them is forgotten."""
    gc.collect()
    limit_pictures(monkeypatch, pictures.own_pictures().bytes + 2**20 // 4)
    answer = http.post("/api/pictures", content=photograph(1, 500), headers=ANNA)
    assert "no room for one more" in assert_refused(answer, 400)


@pytest.mark.parametrize("length", ["x", "-5", "9" * 5000, "1e9", "²", " "])
def test_an_invalid_content_length_is_refused_without_a_traceback(http, length):
    answer = http.post("/api/pictures", content=b"x", headers=ANNA | {"Content-Length": length.encode()})
    assert_refused(answer)
