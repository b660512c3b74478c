"""Each number in a lesson's words equals what its measure computes from the trace, in Python and in JavaScript."""

import json
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from PIL import Image
from test_javascript import ROOT
from twins import in_javascript

import playground
from lessons.playing import flat_parts, meadow, parts_of, stand_in_for_file
from playground.analysis import heads, scale
from playground.lessons.measures import MEASURES, Measured, measured, trend
from playground.lessons.parts import (
    BLANKS,
    Ask,
    Chart,
    Drawing,
    Maker,
    Part,
    Words,
    formatted_number,
    own_of,
    plain_parts,
)
from playground.lessons.registry import LESSONS
from playground.numbers import percent
from playground.samples import start_patch
from playground.serving.here import Here
from playground.tracing import Trace

pytestmark = pytest.mark.usefixtures("nothing_fetched")
STEPS = [(name, step) for name, lesson in LESSONS.items() for step in lesson.steps]
FOLLOWING_STEPS = [(name, step) for name, step in STEPS if LESSONS[name].steps[step].own]
STEPS_WITHOUT_PICTURE = [(name, step) for name, step in STEPS if LESSONS[name].steps[step].own is None]
SUBJECT_SOURCE = (ROOT / "playground/microscope/lessons/subject.js").read_text(encoding="utf-8")
HEAD_QUANTITIES = ("layer", "head", "adds", "entropy")
AGREEING_QUANTITIES = ("layer", "head", "share")
SPREAD_QUANTITIES = ("first", "last", "least", "most", "layer", "head")
ARGUMENTS = {  # a measure's name -> its arguments in these tests; measures that are not listed take none
    "mean_distance": [{"layer": 0}, {"layer": 4}],
    "layers_needed": [{"kernel": 3}, {"kernel": 7}],
    "reaches": [{"kernel": 3}, {"kernel": 7}],
    "layer_by_distance": [
        {"which": one, "what": what} for one in ("nearest", "farthest") for what in ("layer", "distance")
    ],
    "a_head": [{"which": one, "what": what} for one in ("most", "sharpest", "evenest") for what in HEAD_QUANTITIES],
    "agreeing": [{"which": one, "what": what} for one in ("most", "least") for what in AGREEING_QUANTITIES],
    "spread_of_scores": [{"what": what} for what in SPREAD_QUANTITIES],
}


@pytest.fixture(autouse=True)
def looked_at_once(monkeypatch):
    """Caches `heads.measure_heads` and `scale.sharpness`, because many measures ask for them on one trace."""
    for module, name in ((heads, "measure_heads"), (scale, "sharpness")):
        monkeypatch.setattr(module, name, partial(cached_result, getattr(module, name)))


RESULTS: dict[tuple, tuple] = {}  # (function, id of a trace, arguments) -> (trace, kept so that its id stays, result)


def cached_result(measure, trace, *more):
    key = (measure.__name__, id(trace), *more)
    if key not in RESULTS:
        RESULTS[key] = trace, measure(trace, *more)
    return RESULTS[key][1]


def followed_values_in(part: Part) -> list[object]:
    """All values and words in a part that are made anew for a user's own photograph."""
    own_value = getattr(part, "own", None)
    followed_values = [own_value] if isinstance(own_value, Maker) else [*(own_value or {}).values()]
    if isinstance(part, Words) and part.values:
        followed_values.append(part)
    replacements = [
        replacement for value in followed_values if isinstance(value, Maker) for replacement in value.given.values()
    ]
    return followed_values + [replacement for replacement in replacements if isinstance(replacement, Words)]


def measures_of(value: object) -> list[Measured]:
    if isinstance(value, Words):
        return [*value.values.values()]
    return [value] if isinstance(value, Measured) else []


@pytest.mark.parametrize(("name", "step"), FOLLOWING_STEPS)
def test_the_numbers_in_the_words_are_those_of_their_measures(name, step):
    trace = meadow().trace()
    spot = start_patch("meadow", trace.grid)
    values = [thing for part in flat_parts(parts_of(name, step)) for thing in followed_values_in(part)]
    assert values, "nothing of it follows a photograph"
    for number in (number for thing in values for number in measures_of(thing)):
        assert "says" not in number.given, "that is what the sample's value is called in JSON"
        spot_option = {"spot": spot} if number.name.startswith("far_") else {}
        assert_same(number.value, MEASURES[number.name](trace, **number.given, **spot_option), number.name, rtol=1e-5)
    for words in (thing for thing in values if isinstance(thing, Words)):
        assert {blank[1] for blank in BLANKS.finditer(words.text)} == {*words.values}
        assert "{" not in words.says
    for made_value in (thing for thing in values if isinstance(thing, Maker)):
        assert re.search(rf"^  (async )?{made_value.name}\(", SUBJECT_SOURCE, re.MULTILINE), made_value.name


def assert_same(value: object, twin_value: object, name: str, **tolerance: float) -> None:
    """Asserts that both values are equal words or nearly equal numbers."""
    if isinstance(twin_value, str):
        assert value == twin_value, name
    else:
        np.testing.assert_allclose(value, twin_value, err_msg=name, **tolerance)


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> tuple[Trace, str]:
    """The trace of a picture that is no sample, and the file of its pack. Queries and keys are rounded as in the pack.
    Values are not, because the browser has its engine compute the lengths of what heads add."""
    y, x = np.mgrid[0:240, 0:400]
    pixels = np.stack([127 + 120 * np.sin(x / 23), 127 + 120 * np.cos((x + y) / 31), (x + y) % 256], -1)
    trace = playground.trace(playground.load("bundled", device="cpu"), Image.fromarray(pixels.astype(np.uint8)))
    file = tmp_path_factory.mktemp("pack") / "own.pack"
    file.write_bytes(trace.to_bytes())
    rounded = Trace.from_bytes(file.read_bytes())
    record = {layer: rounded.record[layer]._replace(v=trace.record[layer].v) for layer in range(trace.layers)}
    return replace(rounded, vit=trace.vit, record=record), str(file)


def test_each_measure_has_a_twin_that_gives_the_same(own):
    seen, file = own
    calls = [(name, given) for name in MEASURES for given in ARGUMENTS.get(name, [{}])]
    adds = heads.measure_heads(seen).effect.tolist()  # the effects are relative to the layer's mean
    script = """
      const pack = core.unpack(new Uint8Array(readFileSync(given.file)));
      pack.header.adds = given.adds;
      const found = given.asked.map(([measure, more]) => measures.measureOf({ measure, ...more }, pack));
      return { found, names: Object.keys(measures.MEASURES), middle: measures.middleOf(pack) };
    """
    twin_values = in_javascript(["core", "measures"], script, {"file": file, "asked": calls, "adds": adds})
    assert twin_values["names"] == [*MEASURES]
    assert divmod(twin_values["middle"], seen.grid[1]) == start_patch("", seen.grid)
    for (name, given), value in zip(calls, twin_values["found"], strict=True):
        assert_same(value, measured(seen, name, **given).value, f"{name} {given}", rtol=2e-4, atol=1e-6)


def test_python_and_javascript_write_the_numbers_in_blanks_alike():
    numbers = [0, 7, 24.1327, 0.3649, 0.9996, 7056, 1234567.3, 0.0061]
    formats = {blank[2] or "" for words in followed_words() for blank in BLANKS.finditer(words.text)}
    assert formats >= {"", ",", ".1f", "%"}
    cases = [
        (number, number_format)
        for number_format in sorted(formats)
        for number in numbers
        if number_format or isinstance(number, int)
    ]
    script = "return given.cases.map(([number, how]) => measures.formatNumber(number, how));"
    assert in_javascript(["measures"], script, {"cases": cases}) == [
        formatted_number(number, number_format) for number, number_format in cases
    ]


def followed_words() -> list[Words]:
    things = [
        thing
        for name, step in FOLLOWING_STEPS
        for part in flat_parts(parts_of(name, step))
        for thing in followed_values_in(part)
    ]
    return [thing for thing in things if isinstance(thing, Words)]


def test_the_browser_fills_the_same_words_for_the_sample_and_others_for_a_photograph(own):
    """Braces that enclose no placeholder, such as "{a model}", stay."""
    seen, file = own
    words = Words("{share:%} of {side} in {a model}", values={
        "share": Measured("far_share", 0.25), "side": Measured("longer_side", 14),
    })  # fmt: skip
    (record,) = plain_parts([words], stand_in_for_file)
    assert words.says == "25 % of 14 in {a model}"
    script = """
      const pack = core.unpack(new Uint8Array(readFileSync(given.file)));
      return [measures.wordsOf(given.told), measures.wordsOf(given.told, pack)];
    """
    sample, photograph = in_javascript(["core", "measures"], script, {"file": file, "told": record})
    assert sample == words.says
    assert photograph == f"{percent(MEASURES['far_share'](seen))} of {max(seen.grid)} in {{a model}}"


def test_what_a_part_needs_to_follow_a_photograph_is_plain_data():
    share = Measured("differing", 24.0)
    assert own_of(Drawing("carried", b"", own=Maker("layer", {"layer": 4}))) == {"own": {"made": "layer", "layer": 4}}
    assert own_of(Words("")) == {}
    for name, step in FOLLOWING_STEPS:
        for part in flat_parts(parts_of(name, step)):
            if isinstance(part, Ask | Chart) and part.own:
                names = {"made", *part.own.given} if isinstance(part.own, Maker) else {str(name) for name in part.own}
                assert json.loads(json.dumps(own_of(part)))["own"].keys() == names
    assert share.as_plain() == {"measure": "differing"}


@pytest.mark.parametrize(("name", "step"), STEPS_WITHOUT_PICTURE)
def test_a_step_about_no_picture_is_the_same_for_another_picture(name, step):
    lesson = LESSONS[name]
    flock = Here({"sample": "flock", "model": "bundled"})
    meadow_parts, flock_parts = (
        plain_parts(lesson.steps[step].parts(subject, lesson.defaults()), stand_in_for_file)
        for subject in (meadow(), flock)
    )
    assert without_context(meadow_parts) == without_context(flock_parts)


def without_context(parts: list[dict]) -> str:
    return re.sub(r'"context": "[^"]*"', "", json.dumps(parts))


@pytest.mark.parametrize(
    ("by_layer", "words"),
    [
        ((1, 2, 3, 4), "near first, far later"),
        ((4, 3, 2, 1), "far first, near later"),
        ((1, 3, 3, 1), "no steady trend"),
    ],
)
def test_the_trend_of_distances_over_the_layers_is_named(by_layer, words):
    assert trend(np.repeat(np.array(by_layer, float)[:, None], 2, axis=1)) == words
