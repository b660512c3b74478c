"""The samples over HTTP: their list for the strip, and their files."""

import base64
import io

import pytest
from PIL import Image

from playground.samples import SAMPLES
from playground.serving import chosen, models, pictures, routes_samples
from serving.visits import assert_refused

pytestmark = pytest.mark.usefixtures("nothing_fetched")
FOREVER = "public, max-age=31536000, immutable"


def test_the_list_has_every_sample_with_its_look_and_where_it_opens(http):
    answer = http.get(f"/{routes_samples.address()}")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, FOREVER)
    reply = answer.json()
    assert [sample["name"] for sample in reply["samples"]] == [sample.name for sample in SAMPLES]
    for sample in reply["samples"]:
        setup = chosen.usual_setup(sample["name"])
        assert (sample["opens"]["model"], sample["opens"]["detail"]) == (setup.model, setup.detail)
        head, _, data = sample["thumb"].partition(",")
        assert head == "data:image/jpeg;base64"
        assert Image.open(io.BytesIO(base64.b64decode(data))).height == pictures.THUMB_SIDE
        assert sample["title"]
        assert sample["hint"]
    assert reply["own"] == {"model": models.default(), "detail": 1}
    assert reply["real"]["here"] is False


def test_a_sample_s_picture_is_its_file_and_may_be_kept_for_ever(http):
    for sample in http.get(f"/{routes_samples.address()}").json()["samples"]:
        answer = http.get(f"/{sample['picture']}")
        assert (answer.headers["Content-Type"], answer.headers["Cache-Control"]) == ("image/jpeg", FOREVER)
        assert answer.content == pictures.sample(sample["name"]).jpeg


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/api/samples/{'0' * 16}", 410),
        (f"/api/samples/flock/{'0' * 16}.jpg", 410),
        (f"/api/samples/nobody/{'0' * 16}.jpg", 404),
        (f"/api/samples/coffee/{'0' * 16}.jpg", 404),
        (f"/api/samples/..%2Fsecret/{'0' * 16}.jpg", 404),
    ],
)
def test_an_old_or_unknown_address_is_refused(http, path, status):
    answer = http.get(path)
    assert answer.status_code == status, answer.text
    if "application/json" in answer.headers["Content-Type"]:
        assert_refused(answer, status)
