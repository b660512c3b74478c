"""The lessons of the site without a server, on a sample and on a visitor's photograph."""

import base64
import io
import re
from functools import partial
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import waiting
from PIL import Image
from playwright.sync_api import expect

from browser.on_the_site import READ_FIRST_DRAWING, SiteVisitor
from browser.policy import WATCH_VIOLATIONS
from browser.truth import assert_close, colour_row, python_trace
from browser.visitor import finish_exercise
from browser.without_server import plain_server
from playground.analysis.ablation import ablation_effect
from playground.analysis.heads import disagreement, even_distance, head_report
from playground.lessons.registry import LESSONS
from playground.numbers import percent
from playground.pictures.images import open_image
from playground.samples import named
from playground.ui import site

EIGHT_BITS = 0.05  # most error of an attention weight if the model's weights have 8 bits
OWN_TAG = "This is your photograph: its numbers are computed in this browser."
SAMPLE_TAG = "These numbers are of a sample, not of your photograph."
READ_DRAWINGS = """() => [...document.querySelectorAll("#lesson :is(.lesson-drawing, .lesson-chart)")]
  .filter((one) => one.checkVisibility())
  .map((one) => [...(one.shadowRoot ?? one).querySelectorAll("canvas, img, .bars, table, svg, code")].some(
    (part) => part.getBoundingClientRect().height > 9))"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return site.write(
        tmp_path_factory.mktemp("host") / "playground", "/playground/", ["bundled"], named_samples=("meadow",)
    )


@pytest.fixture(scope="module")
def host(folder):
    with plain_server(folder.parent) as url:
        yield f"{url}/playground"


@pytest.fixture(params=["folder", "served"])
def lesson_at(request):
    """lesson_at("scale", "step=row") gives the address of a lesson in the folder, and on the server."""
    if request.param == "folder":
        host = request.getfixturevalue("host")
        return lambda name, words="": f"{host}/#page={name}&{words}"
    server = request.getfixturevalue("server")
    return lambda name, words="": f"{server.url}/{name}?sample=meadow&model=bundled&{words}"


def is_drawn(page) -> bool:
    return all(page.evaluate(READ_DRAWINGS))


@pytest.mark.parametrize("lesson_at", ["folder"], indirect=True)
def test_lessons_have_their_words_guesses_and_drawings_without_a_server(arrive, lesson_at):
    visitor = arrive(SiteVisitor, lesson_at(""))
    visitor.context.add_init_script("localStorage.removeItem('attention-playground:guesses')")
    visitor.context.add_init_script(WATCH_VIOLATIONS)
    page = visitor.page
    for name, lesson in LESSONS.items():
        step_count, drawing_count = len(lesson.steps), 0
        page.goto(lesson_at(name))
        page.reload()
        page.locator("#lesson .guess .lock").wait_for()
        step_buttons = page.locator(".lesson-steps button:enabled")
        assert step_buttons.count() == (step_count if step_count > 1 else 0)  # a single step needs no button
        for step in range(step_count):
            if step:
                page.locator(".lesson-next button").click()
            if step_count > 1:
                expect(step_buttons.nth(step)).to_have_attribute("aria-current", "step")
            page.locator("#lesson .guess .lock").wait_for()
            page.locator("#lesson .lesson-next").wait_for(state="attached")  # the last part
            hidden_count = page.locator("#lesson [data-after]").count()
            assert page.locator("#lesson [data-after]:visible").count() == 0
            page.locator("#lesson .guess button", has_text="without a guess").click()
            if hidden_count:
                page.locator("#lesson [data-after]:visible").first.wait_for()
            waiting.until(partial(is_drawn, page), f"{name} {step} has a drawing that is empty")
            drawing_count += len(page.evaluate(READ_DRAWINGS))
        assert drawing_count, name
    assert page.evaluate("violations") == []


def open_lesson_step(visitor, picture_id: str, lesson: str, step: str) -> list[str]:
    """Opens a step on this photograph and skips the guesses. Returns the tags that tell whose numbers are shown."""
    page = visitor.page
    page.goto(f"{visitor.url}/about.html")
    page.goto(f"{visitor.url}/#page={lesson}&step={step}&model=bundled&mine={picture_id}")
    page.locator("#lesson .guess").first.wait_for()

    def skip_guesses() -> bool:
        """Whether all are skipped. A question about the photograph takes the place of the sample's a moment later."""
        open_buttons = page.locator("#lesson .guess button:visible", has_text="without a guess")
        if open_buttons.count():
            open_buttons.first.click()
        return not open_buttons.count()

    waiting.until(skip_guesses, f"{lesson} {step} has a question that can't be skipped")
    waiting.until(partial(is_drawn, page), f"{lesson} {step} has a drawing that is empty")
    waiting.until(skip_guesses, f"{lesson} {step} has a question that can't be skipped")
    return page.locator(".lesson-whose").all_inner_texts()


def test_lessons_follow_a_photograph_or_say_that_their_numbers_are_of_a_sample(somebody, tmp_path):
    visitor = somebody("#model=bundled&sample=flock")
    visitor.bring_photograph(named("twins").path)
    page = visitor.page
    waiting.until(lambda: "mine=" in page.url, "the address does not name the photograph")
    picture_id = parse_qs(urlsplit(page.url).fragment)["mine"][0]
    truth = python_trace("twins")
    query = (truth.grid[0] // 2, truth.grid[1] // 2)
    all_heads = head_report(truth, query, None)["all"]

    open_step = partial(open_lesson_step, visitor, picture_id)

    assert open_step("weight", "carries") == [OWN_TAG]
    states: list[dict] = []
    waiting.until(lambda: states.append(page.evaluate(READ_FIRST_DRAWING)) or states[-1], "the row is not drawn")
    assert divmod(states[-1]["patch"], truth.grid[1]) == query
    row = truth.row(states[-1]["layer"], states[-1]["head"], query)
    assert_close(states[-1]["weights"], row, EIGHT_BITS)
    vector_lengths = row * truth.value_norms(states[-1]["layer"])[states[-1]["head"]]
    assert_close(states[-1]["arriving"], vector_lengths / vector_lengths.sum(), EIGHT_BITS)
    text = page.locator("#lesson .guess .told").inner_text()
    assert abs(float(re.search(r"It is ([\d.]+)\.", text)[1]) - 100 * disagreement(truth).overall) < 2
    assert f"over {disagreement(truth).rows:,} rows" in text

    assert open_step("heads", "row") == [OWN_TAG]
    text = page.locator("#lesson .guess").inner_text()
    farthest = max(head["far"] for head in all_heads)
    named_head, named_layer = (int(number) for number in re.search(r"in head (\d+) of layer (\d+)\.", text).groups())
    (far,) = (head for head in all_heads if (head["layer"], head["head"]) == (named_layer, named_head))
    assert far["far"] > farthest - EIGHT_BITS
    far_peak = float(truth.on_grid(truth.row(far["layer"], far["head"], query)).max())
    assert abs(float(re.search(r"largest weight is ([\d.]+) %", text)[1]) / 100 - far_peak) < EIGHT_BITS

    assert open_step("two_ways", "far") == [OWN_TAG]
    text = page.locator("#lesson .lesson-words").last.inner_text()
    assert text.startswith(f"This picture is {max(truth.grid)} patches long.")
    assert f"needs {max(truth.grid) - 1} layers" in text
    distances = [head["distance"] for head in all_heads]
    mean_distance, distance_of_even = (float(number) for number in re.findall(r"([\d.]+) patches away", text))
    assert abs(mean_distance - np.mean(distances[: truth.heads])) < 0.2
    assert abs(distance_of_even - even_distance(*truth.grid)) < 0.06
    head_distances = page.evaluate("[...document.querySelector('.lesson-chart').data[0].y]")
    assert_close(head_distances, distances, 0.3)

    assert open_step("two_ways", "built") == [OWN_TAG]
    picture_element, caption_element = (
        page.locator(f"#lesson .lesson-picture {part}").last for part in ("img", "figcaption")
    )
    waiting.until(lambda: caption_element.inner_text().endswith("mixes all patches"), "the row is not shown")
    waiting.until(lambda: picture_element.get_attribute("src").startswith("data:"), "the row has no picture")
    layer, head = (int(number) for number in re.findall(r"(?:layer|head) (\d+)", caption_element.inner_text()))
    picture = Image.open(io.BytesIO(base64.b64decode(picture_element.get_attribute("src").partition(",")[2]))).convert(
        "RGB"
    )
    brightness = np.asarray(picture.resize(truth.grid[::-1], Image.Resampling.BOX), float).sum(-1)  # (rows, columns)
    assert brightness.argmax() == int(truth.on_grid(truth.row(layer, head, query)).argmax())

    assert open_step("by_hand", "colours") == [OWN_TAG]
    waiting.until(lambda: states.append(page.evaluate(READ_FIRST_DRAWING)) or states[-1], "the colours are not drawn")
    image = open_image(named("twins").path)
    assert_close(states[-1]["row"], colour_row(image, 8, states[-1]["at"], states[-1]["temperature"]))
    assert open_step("weight", "explain") == [SAMPLE_TAG]
    assert open_step("weight", "scores") == []
    assert page.evaluate("violations") == []


READ_CHARTS = (
    "[...document.querySelectorAll('.lesson-chart')].map((one) => one.data.map(({ y, text }) => ({ y, text })))"
)


@pytest.mark.slow
def test_numbers_of_all_heads_of_a_photograph_are_python_s(somebody):
    visitor = somebody("#model=bundled&sample=flock")
    visitor.bring_photograph(named("twins").path)
    page = visitor.page
    waiting.until(lambda: "mine=" in page.url, "the address does not name the photograph")
    picture_id = parse_qs(urlsplit(page.url).fragment)["mine"][0]
    truth = python_trace("twins")
    all_heads = head_report(truth, (0, 0), None)["all"]
    share = {(head["layer"], head["head"]): head["to_one"] for head in all_heads}

    def opens(lesson: str, step: str) -> None:
        assert open_lesson_step(visitor, picture_id, lesson, step)[0] == OWN_TAG

    opens("weight", "locked")
    text = page.locator("#lesson .guess").inner_text()
    layer, head = max(share, key=share.__getitem__)
    assert f"Head {head} of layer {layer} agrees most" in text
    assert f"In an even row every token would get {percent(1 / truth.tokens)}" in text
    first_line = page.locator("#lesson .lesson-table tbody tr").first.inner_text()
    assert abs(float(re.search(r"([\d.]+) %", first_line)[1]) - 100 * share[layer, head]) < 2

    opens("scale", "model")
    unscaled_heads = head_report(truth, (0, 0), 1.0)["all"]
    quantities = ("entropy", "peak", "deviation")
    sharpness_with, sharpness_without = (
        [np.array([head[name] for head in heads]) for name in quantities] for heads in (all_heads, unscaled_heads)
    )
    for chart, values_with, values_without, tolerance in zip(
        page.evaluate(READ_CHARTS), sharpness_with, sharpness_without, (0.2, 0.05, 0.2), strict=True
    ):
        np.testing.assert_allclose(chart[1]["y"], values_with, atol=tolerance)
        np.testing.assert_allclose(chart[2]["y"], values_without, atol=4 * tolerance)
    text = page.locator("#lesson .guess").first.inner_text()
    widest = sharpness_with[2][: truth.heads].max()
    assert abs(float(re.search(r"deviation of (\d+\.\d+)", text)[1]) - widest) < 0.1
    page.get_by_role("button", name="the whole pass").click()
    whole_pass = head_report(python_trace("twins", scale="off"), (0, 0), 1.0)["all"]
    whole_sharpness = np.mean([head["entropy"] for head in whole_pass])
    waiting.until(
        lambda: abs(np.mean(page.evaluate(READ_CHARTS)[0][2]["y"]) - whole_sharpness) < 0.25,
        f"the mean entropy of the whole pass without its scale is not {whole_sharpness:.2f}",
    )
    assert page.evaluate("violations") == []


def test_heads_are_switched_off_without_streamlit_and_each_leads_into_the_microscope(arrive, lesson_at):
    visitor = arrive(SiteVisitor, lesson_at(""))
    page, layer, head = visitor.page, 3, 2
    page.goto(lesson_at("heads", "step=off"))
    page.reload()
    switch = page.locator(f'.board .cell[data-layer="{layer}"][data-head="{head}"]')
    switch.click()
    page.locator(f'.board[data-off="{layer}.{head}"]:not(.waiting)').wait_for()
    without_head = ablation_effect(python_trace(), {(layer, head)})
    changes = without_head.change[:, len(python_trace().prefix) :].mean(1).tolist()  # (layers,)
    for caption, change in zip(page.locator(".film figcaption").all_inner_texts(), changes, strict=True):
        assert abs(float(caption.split(":")[1].split("%")[0]) - 100 * change) < 0.6
    page.locator(".exercise[data-id=heads_strongest][data-done=true]").wait_for()
    switch.click()
    page.locator('.board[data-off=""]').wait_for()
    page.locator(".board button.side").nth(4).click()
    page.locator('.board[data-off="4.0 4.1 4.2 4.3 4.4 4.5"]').wait_for()
    finish_exercise(page, "heads_layer_off")
    page.get_by_role("button", name="2 · All heads").click()
    page.locator(f'.atlas .cell[data-layer="{layer}"][data-head="{head}"]').click()
    visitor.until(f"r => r.picture === 'meadow' && r.layer === {layer} && r.head === {head}")


def test_teach_has_its_plan_notes_and_quiz_and_says_what_needs_the_app(arrive, host):
    visitor = arrive(SiteVisitor, host)
    visitor.context.add_init_script(WATCH_VIOLATIONS)
    visitor.page.goto(f"{host}/#page=teach&minutes=0&scenes=8-scale")
    anchors = visitor.page.locator(".teach-plan a")
    anchors.first.wait_for()
    assert anchors.first.inner_text() == "The volume knob"
    assert visitor.page.get_by_text("need the app").count() == 1
    assert visitor.page.get_by_role("button", name="Make slides").count() == 0
    for part, element in (("notes", ".teach-notes summary"), ("print", ".teach-sheets li"), ("quiz", "fieldset")):
        visitor.page.locator(f'.lesson-steps [data-step="{part}"]').click()
        visitor.page.locator(element).first.wait_for()
        assert f"part={part}" in visitor.page.url
    visitor.page.locator('.lesson-steps [data-step="plan"]').click()
    anchors.last.click()
    visitor.page.locator('.lesson-steps [data-step="row"][aria-current="step"]').wait_for()
    visitor.page.go_back()
    anchors.first.click()
    visitor.page.get_by_text("The story · 8 of 14").wait_for(timeout=60_000)
    assert visitor.page.evaluate("violations") == []
