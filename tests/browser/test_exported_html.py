"""The interactive figure, opened from a disk without a network: its numbers are Python's, and it sends no request."""

from dataclasses import replace

import pytest
import torch
from waiting import until

import playground
from browser.truth import TOLERANCE, assert_close, python_trace, rounded_trace
from browser.visitor import Visitor
from playground.__main__ import main
from playground.figures import Spec, html
from playground.figures.notebook import LivingPage

HOSTILE_NAME = "</script><img src=x onerror=alert(1)>.jpg"
FILE_SPEC = Spec(image=HOSTILE_NAME, model="bundled", all_layers=True, layer=4, head=2, query=(7, 5))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("figures") / "meadow.html"
    path.write_text(html.page(FILE_SPEC, python_trace()), encoding="utf-8")
    return path


class Reader(Visitor):
    def __init__(self, chromium, **options):
        super().__init__(chromium, "", offline=True, **options)
        self.requested_urls: list[str] = []
        self.context.on("request", lambda request: self.requested_urls.append(request.url))

    def read_file(self, path):
        self.page.goto(path.as_uri())
        self.until()
        self.page.wait_for_load_state("load")
        return self

    def check(self):
        super().check()
        assert [url for url in self.requested_urls if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.fixture
def reader(arrive):
    return lambda **options: arrive(Reader, **options)


def _wait_until_painted(frame):
    """Waits until the frame is painted, without wait_for_function, whose eval the frame's policy forbids."""
    until(lambda: frame.evaluate("window.theLens?.()?.read()?.painted"), "the frame is not painted")


def test_hover_lock_keys_heads_switch_and_dial_answer_like_python_with_no_network(reader, file):
    visitor, truth = reader().read_file(file), python_trace()
    first_state = visitor.read()
    assert (first_state["layer"], first_state["head"], first_state["query"]) == (4, 2, "7,5")
    assert_close(first_state["row"], truth.row(4, 2, (7, 5)))
    for patch in ((0, 0), (12, 11)):
        assert_close(visitor.hover(patch)["row"], truth.row(4, 2, patch))
    visitor.page.locator('.lens[data-face="see"] .see-moments canvas').first.wait_for()
    visitor.page.get_by_role("button", name="Lab").click()
    visitor.lock((3, 4))
    visitor.aim((9, 9))
    assert "gives this patch" in visitor.page.locator(".lens .pair-label").inner_text()
    visitor.page.locator(".lens .pair-label.resting").click()
    visitor.page.locator(".lens .sums dd").last.filter(has_text="%").wait_for()
    visitor.page.keyboard.press("Escape")
    visitor.page.locator(".lens .sums").wait_for(state="hidden")
    for key, (layer, head) in ((".", (4, 3)), (",", (4, 2)), ("[", (3, 2))):
        visitor.page.keyboard.press(key)
        state = visitor.until(f"r => r.layer === {layer} && r.head === {head}")
        assert_close(state["row"], truth.row(layer, head, (3, 4)))
    visitor.page.keyboard.press("ArrowDown")
    visitor.until("r => r.query === '4,4' && r.locked")
    visitor.part("switch").click()
    state = visitor.until("r => r.scale === 1")
    assert_close(state["row"], rounded_trace().row(3, 2, (4, 4), scale="off"))
    visitor.part("dial").fill("250")
    state = visitor.until("r => r.scale < 1")
    assert state["scale"] == pytest.approx(truth.native_scale / 2)
    assert_close(state["row"], rounded_trace().row(3, 2, (4, 4), scale=state["scale"]))
    assert visitor.requested_urls == [file.as_uri()]


def test_nothing_is_offered_that_the_file_can_t_answer(reader, file):
    visitor = reader().read_file(file)
    visitor.page.get_by_role("button", name="Lab").click()
    button_texts = []
    for opens in visitor.page.locator(".opens:visible").all():
        opens.click()
        button_texts += visitor.page.locator("button:visible").all_inner_texts()
    assert {"weight", "Share", "all heads of all layers"} <= set(button_texts)
    assert not {"similarity", "rollout", "whole forward pass", "compare", "cut this head"} & set(button_texts)
    visitor.open_row("head")
    assert [text.split()[0] for text in visitor.page.locator(".lens [data-head]").all_inner_texts()] == list("012345")
    visitor.part("wallTab").click()
    visitor.until()
    box = visitor.part("wall").bounding_box()
    fourth_of_height = box["height"] / 4  # cells are square, and stand in the middle
    visitor.page.mouse.click(box["x"] + box["width"] / 2 + fourth_of_height, box["y"] + fourth_of_height)
    state = visitor.until("r => r.layer === 1 && r.head === 4")
    asked = tuple(map(int, state["query"].split(",")))  # the place in the map where the mouse pressed
    assert_close(state["row"], python_trace().row(1, 4, asked))


def test_a_link_to_a_view_opens_it_and_knows_only_what_the_file_holds(reader, file):
    visitor = reader()
    visitor.page.goto(f"{file.as_uri()}#layer=9&head=5&query=2,3&what=rollout&pass=whole&beside=compare")
    state = visitor.until()
    assert (state["layer"], state["head"], state["query"], state["what"]) == (5, 5, "2,3", "weight")
    assert_close(state["row"], python_trace().row(5, 5, (2, 3)))
    assert visitor.page.locator('.lens[data-face="see"]').count() == 1
    visitor.page.goto("about:blank")
    visitor.page.goto(f"{file.as_uri()}#layer=4&direction=column")
    visitor.until()
    assert visitor.page.locator('.lens[data-face="lab"]').count() == 1, "See shows no columns"


def test_without_a_chosen_row_it_opens_where_the_picture_shows_most_and_its_facts_name_no_row(reader, tmp_path):
    page = html.page(Spec(image="photo.jpg", model="bundled"), python_trace())
    (tmp_path / "best.html").write_text(page, encoding="utf-8")
    visitor = reader().read_file(tmp_path / "best.html")
    state = visitor.until()
    assert_close(
        state["row"], python_trace().row(state["layer"], state["head"], tuple(map(int, state["query"].split(","))))
    )
    pressed = visitor.page.locator(".see-moments [aria-pressed=true]")
    pressed.wait_for()
    assert not visitor.page.locator('meta[name="playground:layer"]').count()
    assert " --layer" not in visitor.page.locator("#foot code").inner_text()


@pytest.mark.parametrize("width", [900, pytest.param(1180, marks=pytest.mark.slow)])
def test_in_the_frame_of_a_slide_everything_stands_inside(reader, file, tmp_path, width):
    slide = tmp_path / "slide.html"
    slide.write_text(f'<iframe src="{file.as_uri()}" width="{width}" height="540" style="border: 0"></iframe>')
    visitor = reader()
    visitor.page.goto(slide.as_uri())
    frame = visitor.page.frames[1]
    _wait_until_painted(frame)
    assert frame.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == [
        width,
        540,
    ]
    canvas_box = frame.locator('[data-ref="picture"]').bounding_box()
    last_patch = tuple(side - 1 for side in python_trace().grid)
    visitor.page.mouse.move(canvas_box["x"] + canvas_box["width"] * 0.99, canvas_box["y"] + canvas_box["height"] * 0.99)
    until(
        lambda: frame.evaluate("theLens().read().query") == "{},{}".format(*last_patch), "the last patch does not ask"
    )
    assert_close(frame.evaluate("theLens().read().row"), python_trace().row(4, 2, last_patch))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_a_tap_chooses_the_query_and_the_page_has_the_reader_s_colours(reader, file, scheme):
    size = {"width": 390, "height": 844}
    visitor = reader(viewport=size, has_touch=True, is_mobile=True, color_scheme=scheme).read_file(file)
    visitor.page.touchscreen.tap(*visitor.place((10, 2)))
    state = visitor.until("r => r.query === '10,2' && r.locked")
    assert_close(state["row"], python_trace().row(4, 2, (10, 2)))
    assert visitor.page.evaluate("document.documentElement.scrollWidth") == 390
    sum_script = "sum(getComputedStyle(document.body)[what].match(/\\d+/g).slice(0, 3).map(Number))"
    brightness_script = f"(what) => {{ const sum = (a) => a.reduce((x, y) => x + y); return {sum_script}; }}"
    paper_brightness, ink_brightness = (
        visitor.page.evaluate(brightness_script, property_name) for property_name in ("backgroundColor", "color")
    )
    assert (paper_brightness > ink_brightness) == (scheme == "light")


def test_a_notebook_s_frame_follows_the_cursor_and_can_not_read_the_notebook(reader, tmp_path):
    figure_html = playground.show(python_trace(), layer=4, head=2, query=(7, 5))
    assert isinstance(figure_html, LivingPage)
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><body><div style='width: 900px'>{figure_html._repr_html_()}</div></body>")
    visitor = reader()
    visitor.page.goto(notebook.as_uri())
    frame = visitor.page.frames[1]
    _wait_until_painted(frame)
    assert_close(frame.evaluate("theLens().read().row"), python_trace().row(4, 2, (7, 5)), TOLERANCE)
    canvas_box = frame.locator('[data-ref="picture"]').bounding_box()
    visitor.page.mouse.move(canvas_box["x"] + 2, canvas_box["y"] + 2)
    until(lambda: frame.evaluate("theLens().read().query") == "0,0", "the patch under the cursor does not ask")
    assert frame.evaluate("() => { try { return parent.document.title } catch { return 'forbidden' } }") == "forbidden"
    content_and_frame_height = frame.evaluate("[document.documentElement.scrollHeight, innerHeight]")
    assert content_and_frame_height[0] <= content_and_frame_height[1]


def test_a_bare_file_shows_the_picture_alone_in_the_middle_and_follows_the_cursor(reader, tmp_path):
    page = html.page(replace(FILE_SPEC, bare=True), python_trace())
    (tmp_path / "bare.html").write_text(page, encoding="utf-8")
    visitor = reader(viewport={"width": 900, "height": 420}).read_file(tmp_path / "bare.html")
    assert visitor.page.locator("body").inner_text().count("Put the cursor on a patch: it asks.") == 1
    assert visitor.page.locator("button:visible").count() == 0
    box = visitor.part("picture").bounding_box()
    print(box)
    assert abs(box["x"] + box["width"] / 2 - 450) < 2
    assert 390 < box["height"] <= 420
    assert_close(visitor.hover((0, 0))["row"], python_trace().row(4, 2, (0, 0)))


def test_a_saved_trace_of_given_attention_is_alive_in_the_page_that_the_command_line_writes(reader, tmp_path):
    truth = python_trace()
    layers = torch.stack([truth.weights(layer) for layer in (3, 4)])
    given = playground.from_attention(layers, grid=truth.grid, prefix=len(truth.prefix), title="Another")
    page, file = tmp_path / "page.html", str(given.save(tmp_path / "mine.trace"))
    assert main(["figure", "meadow", "--model", file, "--layer", "1", "--head", "2", "-o", str(page)]) == 0
    visitor = reader().read_file(page)
    assert_close(visitor.hover((9, 3))["row"], truth.row(4, 2, (9, 3)))
    assert not visitor.page.locator('.lens [data-value="contribution"]').is_visible()
