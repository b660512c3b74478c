"""Ideas that stand on a page as a drawing or a sentence: what is drawn is what is computed."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from streamlit.testing.v1 import AppTest

import playground
from playground.lessons import by_hand, teaching
from playground.ui.lessons import weight, weight_norms
from playground.ui.lessons.drawings import table_of

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent.parent


def opened(page: str, step: str = "") -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params |= {"model": "bundled", "sample": "meadow"} | ({"step": step} if step else {})
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def chart(app, key: str) -> list[dict]:
    (found,) = [one for one in app.get("plotly_chart") if one.proto.id.endswith(f"-{key}")]
    return json.loads(found.proto.spec)["data"]


def test_the_lines_between_tokens_are_their_weights():
    traces = chart(opened("by_hand", "values"), "neurons")
    lines = [trace for trace in traces if trace["mode"] == "lines"]
    weights = by_hand.weights(by_hand.read(by_hand.start(), tokens=18))
    assert [line["line"]["width"] for line in lines] == pytest.approx((0.5 + 8 * weights).flatten().tolist())
    received = (weights @ weights.new_tensor(teaching.VALUES)).tolist()
    assert traces[-1]["text"][0] == f"A  {received[0]:.3g}"


def test_on_the_mixing_desk_what_is_heard_is_fader_times_loudness():
    faders, loud, heard = (bar["text"] for bar in chart(opened("weight", "carries"), "mixer"))
    assert len(faders) == weight.CHANNELS
    for fader, loudness, product in zip(faders, loud, heard, strict=True):
        share = float(fader.rstrip("%")) / 100
        assert float(product) == pytest.approx(share * float(loudness), abs=0.006 * float(loudness) + 0.01)


@pytest.mark.parametrize(("length", "said"), [(9.0, "It has a **megaphone**"), (1.0, "no **megaphone**")])
def test_a_long_key_is_a_megaphone(seen, monkeypatch, length, said):
    words, token = [], 20
    keys = seen.record[1].k[2]
    keys[token] *= length * float(keys.norm(dim=-1).median() / keys[token].norm())
    monkeypatch.setattr(weight.st, "markdown", words.append)
    weight._megaphone(seen, 1, 2, token)
    assert said in words[0]
    assert f"**{length:.1f}" in words[0]


def test_the_library_comes_before_its_question():
    main = [(element.type, str(getattr(element, "value", ""))) for element in opened("code", "library").main]
    first = next(n for n, (_, text) in enumerate(main) if "what you ask at the desk" in text)
    asked = next(n for n, (kind, _) in enumerate(main) if kind == "bidi_component" and n > first)
    breaks = next(n for n, (_, text) in enumerate(main) if "easy to find, with little inside" in text)
    assert first < asked < breaks


def test_the_whole_table_has_a_pixel_for_every_weight(seen):
    weights = seen.matrix(1, 2)
    drawn = Image.open(io.BytesIO(table_of(weights)))
    assert drawn.size == (seen.tokens, seen.tokens)
    row, column = divmod(int(weights.argmax()), seen.tokens)
    bright = torch.from_numpy(np.array(drawn.convert("L")))
    assert bright[row, column] == bright.max()


def test_lengths_are_told_of_a_model_with_and_without_outliers(seen):
    from playground.analysis import token_norms

    plain = token_norms.Lengths(torch.full((1, 4, 4), 2.0), torch.ones(1, 1))
    assert "It does *not* have the outliers" in weight_norms.said("bundled", plain)
    plain.patches[0, 1, 1] = 20
    said = weight_norms.said("bundled", plain)
    assert "**10.0 ×**" in said
    assert "1 stands beyond" in said
    assert "It has the outliers" in said


def test_where_a_pair_is_here_both_are_measured_on_the_picture(monkeypatch, small):
    """With random weights: a model without registers, and one with two."""
    from dataclasses import replace

    from conftest import SMALL, scramble

    from playground.serving import models, traces
    from playground.vit import VisionTransformer

    without = scramble(VisionTransformer(replace(SMALL, registers=0)))
    pair, real, here = weight_norms.PAIRS[2], traces.trace, models.is_here
    vits = dict(zip(pair, (without, small), strict=True))

    def trace(picture, wish, own):
        if wish.model not in vits:
            return real(picture, wish, own)
        return replace(playground.trace(vits[wish.model], picture.image), model=wish.model)

    monkeypatch.setattr(models, "is_here", lambda name: name in vits or here(name))
    monkeypatch.setattr(traces, "trace", trace)
    app = opened("weight", "locked")
    said = " ".join(element.value for element in app.markdown)
    assert ", 0 registers" in said
    assert ", 2 registers" in said
    assert said.count("beyond Tukey’s bound") == 3  # the page's own model, and both
    for name in pair:
        assert chart(app, f"norms_{name}")
