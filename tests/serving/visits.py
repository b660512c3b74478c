"""HTTP clients that play browsers, and pictures for them to upload."""

from __future__ import annotations

import io
import re

from PIL import Image
from starlette.applications import Starlette
from starlette.testclient import TestClient

from playground.serving.routes import ROUTES

ANNA, BERT = {"X-Playground-Key": "anna" * 6}, {"X-Playground-Key": "bert" * 6}


def client() -> TestClient:
    return TestClient(Starlette(routes=ROUTES), raise_server_exceptions=False)


def played(name: str, step: str, /, who: dict | None = None, **words: str) -> list[dict]:
    """All parts of a lesson's step, asked for with these words of an address."""
    with client() as http:
        answer = http.get(f"/api/lessons/{name}/{step}", params=words | {"whole": "yes"}, headers=who)
    assert answer.status_code == 200, answer.text
    return answer.json()


def texts_in(parts: list[dict]) -> str:
    """All prose in these parts, with the blanks filled in."""
    texts = []
    for part in parts:
        text = part.get("text") or part.get("asks", "")
        for name, value in part.get("values", {}).items():
            text = re.sub(rf"\{{{name}(:[^}}]*)?\}}", value["says"], text)
        texts += [text, texts_in(part.get("parts", []))]
    return " ".join(texts)


def photograph(number: int = 0, side: int = 300) -> bytes:
    """The JPEG file of a picture, a different one for each number."""
    file = io.BytesIO()
    image = Image.linear_gradient("L").resize((side, side * 3 // 4)).convert("RGB")
    image.paste((number * 40 % 256, 90, 200), (side // 4, side // 4, side // 2, side // 2))
    image.save(file, "JPEG")
    return file.getvalue()


def bring(client: TestClient, who: dict, number: int = 0, **options) -> dict:
    name = {"X-Playground-Name": options.pop("name", f"{number}.jpg")}
    answer = client.post("/api/pictures", content=photograph(number, **options), headers=who | name)
    assert answer.status_code == 200, answer.text
    return answer.json()


def assert_refused(answer, status: int | None = None) -> str:
    """The sentence of a refusal, after asserting that it has a 4xx status and shows no traceback."""
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text[:300])
    assert status in (None, answer.status_code), (answer.status_code, answer.text[:300])
    sentence = answer.json()["says"]
    assert " " in sentence, sentence
    assert sentence.endswith((".", "!")), sentence
    assert len(sentence) < 400, sentence
    assert "Traceback" not in answer.text
    assert 'File "' not in answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    return sentence
