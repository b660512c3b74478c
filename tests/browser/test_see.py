"""See: its picture, its sentence and its two switches, and the links to it on every device."""

import json
import re

import pytest

from browser.own_picture import hand_over, picture
from browser.seeing import STANDS_STILL, SeeVisitor
from browser.truth import assert_close, model
from playground import open_image, trace

READ_STOPS = """() => {
  const found = [];
  const visit = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) visit(element.shadowRoot);
      const can = element.matches("a[href], button, input, select, textarea, [tabindex]") && element.tabIndex >= 0;
      if (can && !element.disabled && element.checkVisibility({ visibilityProperty: true })) {
        const box = element.getBoundingClientRect();
        if (box.width > 1 && box.height > 1)
          found.push({ says: element.ariaLabel ?? element.innerText ?? element.tagName, width: box.width,
                       height: box.height });
      }
    }
  };
  visit(document);
  return found;
}"""
READ_TEXTS = """() => {
  const found = [];
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.currentNode; node; node = walker.nextNode()) {
      if (node.shadowRoot) visit(node.shadowRoot);
      const element = node.parentElement;
      const hidden = ["STYLE", "SCRIPT", "TEMPLATE"].includes(element?.tagName);
      if (node.nodeType !== 3 || !node.data.trim() || hidden) continue;
      if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      const inSight = box.width > 1 && box.bottom > 0 && box.top < innerHeight && box.left < innerWidth;
      if (inSight && !element.closest(".unseen, .live"))
        found.push([node.data.trim(), getComputedStyle(element).fontSize]);
    }
  };
  visit(document);
  return found;
}"""
# Records every element that a transition or an animation moves from now on
RECORD_MOTIONS = """() => {
  const seen = new Set();
  const look = (root) => {
    for (const one of root.getAnimations?.() ?? []) {
      const { duration } = one.effect.getComputedTiming();
      if (duration > 1) seen.add(`${one.effect.target.className?.baseVal ?? one.effect.target.className} ${duration}`);
    }
    for (const element of root.querySelectorAll("*")) if (element.shadowRoot) look(element.shadowRoot);
  };
  const watch = () => {
    look(document);
    requestAnimationFrame(watch);
  };
  watch();
  window.motions = () => [...seen];
}"""


# How a sentence about a row begins
ROW = "^(\\d.* of its attention|Its attention|It keeps to|This patch looks|Its largest share)"


@pytest.fixture
def see(arrive, server):
    def open_see(address: str = "", **options) -> SeeVisitor:
        return arrive(SeeVisitor, server.url, **options).open(address)

    return open_see


def test_a_plain_link_opens_see_within_its_budget(see):
    person = see()
    person.page.locator(".see-moments button").nth(1).wait_for()
    stops = person.page.evaluate(READ_STOPS)
    assert len(stops) <= 12, json.dumps(stops, indent=1)
    small_stops = [stop for stop in stops if min(stop["width"], stop["height"]) < 24]
    assert not small_stops, small_stops
    for _ in range(2):  # as it opens, and pointed at
        texts = person.page.evaluate(READ_TEXTS)
        words = re.findall(r"[^\W_]*[A-Za-z]{2,}[^\W_]*", " ".join(text for text, _ in texts))
        assert len(words) <= 60, words
        font_sizes = {size for _, size in texts}
        assert len(font_sizes) <= 4, texts
        person.point(0.75, 0.15)
        person.until_says(ROW)


def test_what_a_plain_link_asks_for_ahead_is_what_the_script_then_takes(see):
    person = see()
    person.asked.clear()
    person.page.goto(person.url)
    person.page.locator(".see-moments button").nth(1).wait_for()
    ahead = person.page.eval_on_selector_all("link[rel=preload][as=fetch]", "links => links.map((link) => link.href)")
    assert len(ahead) >= 3
    requests = person.page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    assert {address: requests.count(address) for address in ahead} == dict.fromkeys(ahead, 1)
    assert [one for one in person.asked if "/trace?" in one] == [one for one in ahead if "/trace?" in one]


READ_FOCUS = """() => {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element.dataset.ref ?? element.className;
}"""


def test_the_tab_key_reaches_the_picture_in_four_stops_and_the_bar_is_one_stop(see):
    person = see()
    person.page.locator(".see-moments button").nth(1).wait_for()
    stops = []
    while "picture" not in stops and len(stops) < 4:
        person.page.keyboard.press("Tab")
        stops.append(person.page.evaluate(READ_FOCUS))
    assert "picture" in stops, stops
    for _ in range(12):
        person.page.keyboard.press("Tab")
        if "pages" in (stop := person.page.evaluate(READ_FOCUS)):
            break
    assert "pages" in stop, stop
    for name in ("pictures", "photo", "sending", "other-face"):
        person.page.keyboard.press("ArrowRight")
        assert name in person.page.evaluate(READ_FOCUS)
    person.page.keyboard.press("Enter")
    person.page.locator('.lens[data-face="lab"] .rows').wait_for()


def test_patch_is_explained_on_the_word_by_the_mouse_and_by_the_tab_key(see):
    person = see()
    word = person.page.locator(".see-outside [data-explains]")
    card = person.page.locator("p.explained")
    word.hover()
    card.get_by_text("one of the squares").wait_for()
    person.page.mouse.move(5, 5)
    card.wait_for(state="hidden")
    for _ in range(12):
        person.page.keyboard.press("Tab")
        if word.evaluate("(element) => element.matches(':focus')"):
            break
    card.get_by_text("one of the squares").wait_for()


PHOTOGRAPHS = [(1440, 900, 1.5, 0.61), (1280, 720, 0.75, 0.3), (1280, 720, 5, 0.34), (736, 704, 1.5, 0.2)]


@pytest.mark.parametrize(("width", "height", "aspect", "least_share"), PHOTOGRAPHS)
def test_the_photograph_has_most_of_the_window(arrive, server, width, height, aspect, least_share):
    person = arrive(SeeVisitor, server.url, viewport={"width": width, "height": height})
    person.open()
    hand_over(person, "drop", picture(round(600 * aspect), 600))
    person.until(f"r => Math.abs(r.grid[1] / r.grid[0] - {aspect}) < 0.1")
    box = person.box("picture")
    assert box["width"] * box["height"] >= least_share * width * height, box
    assert abs(box["width"] / box["height"] / aspect - 1) < 0.1, "nothing is cropped but what the model cuts off"
    doors, sentence, bar = (
        person.page.locator(part).bounding_box() for part in (".see-doors", ".see-says", "#toolbar")
    )
    assert sentence["width"] >= 250, "the sentence has no room"
    assert bar["y"] + bar["height"] <= box["y"], "the bar covers the photograph"
    assert max(box["y"] + box["height"], doors["y"] + doors["height"]) <= height, doors
    assert person.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_phone_shows_all_of_see_without_scrolling(arrive, server):
    phone_options = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    person = arrive(SeeVisitor, server.url, **phone_options).open()
    person.page.locator(".see-moments button").nth(1).wait_for()
    for name in (".see-says", ".see-tabs", ".see-doors", ".see-moments"):
        box = person.page.locator(name).bounding_box()
        assert box["y"] + box["height"] <= 844 + 1, f"{name}: {box}"
    assert person.page.evaluate("document.documentElement.scrollHeight") <= 845
    small_stops = [stop for stop in person.page.evaluate(READ_STOPS) if stop["height"] < 44]
    assert len(small_stops) <= 1, small_stops  # only the line with layer and head may be less than 44 pixels high


def test_the_sentence_follows_the_cursor_and_without_a_cursor_the_photograph_is_untouched(see):
    person = see()
    person.until_says(ROW)
    person.point(0.2, 0.8)
    person.until("r => r.query !== null")
    sentence = person.until_says(ROW)
    assert person.opacity() == 1
    person.page.mouse.move(1200, 650)
    person.until_says("^Point at any place")
    person.page.locator(".lens.untouched").wait_for()
    canvas = person.part("picture").element_handle()
    person.page.wait_for_function("(canvas) => getComputedStyle(canvas).opacity === '0'", arg=canvas)
    person.point(0.2, 0.8)
    assert person.until_says(ROW) == sentence


def test_the_switch_collapses_the_row_and_the_sentence_says_so(see):
    person = see()
    state_before = person.until("r => r.row")
    person.part("switch").click()
    state_after = person.until("r => r.scale === 1")
    assert max(state_after["row"]) > max(state_before["row"])
    person.until_says("^Without ÷")
    assert "without ÷" in person.page.locator(".provenance").inner_text()
    person.part("switch").click()
    person.until_says(ROW)


def test_lab_and_back_keep_picture_patch_head_and_scale_and_the_browser_remembers(see):
    person = see()
    person.point(0.3, 0.3)
    person.page.mouse.down()
    person.page.mouse.up()
    person.part("switch").click()
    see_state = person.until("r => r.locked && r.scale === 1")
    person.page.keyboard.press("l")
    person.page.locator('.lens[data-face="lab"] .rows').wait_for()
    lab_state = person.until("r => r.locked")
    view_keys = ("picture", "model", "layer", "head", "query", "scale", "locked")
    assert {key: lab_state[key] for key in view_keys} == {key: see_state[key] for key in view_keys}
    person.page.get_by_role("button", name="See", exact=True).click()
    person.page.locator(".see-says").wait_for()
    person.page.get_by_role("button", name="Lab", exact=True).click()
    person.page.locator('.lens[data-face="lab"] .rows').wait_for()
    for face in ("see", "lab", "see"):
        person.page.go_back()
        person.page.locator(f'.lens[data-face="{face}"]').wait_for()
    person.page.go_forward()
    person.page.locator('.lens[data-face="lab"] .rows').wait_for()
    person.page.goto(person.url)
    person.until()
    assert person.page.locator('.lens[data-face="lab"]').count() == 1


def test_a_link_with_a_view_opens_lab_and_one_of_see_opens_see(see):
    person = see("layer=2&head=1&query=3%2C3&locked=true")
    assert person.page.locator('.lens[data-face="lab"]').count() == 1
    second_person = see("layer=2&head=1&query=3%2C3&locked=true&face=see")
    assert second_person.page.locator('.lens[data-face="see"]').count() == 1
    see_state = second_person.until("r => r.locked")
    assert (see_state["layer"], see_state["head"], see_state["query"]) == (2, 1, "3,3")
    assert "face=see" in second_person.page.url


def test_the_wall_of_heads_lies_over_everything_asks_where_one_points_and_gives_the_pressed_head(see):
    person = see()
    person.page.locator(".see-moments button").nth(1).wait_for()
    person.page.get_by_role("button", name="Heads", exact=True).click()
    wall = person.part("wall")
    wall.wait_for()
    box = wall.bounding_box()
    assert box["width"] > 0.9 * person.page.viewport_size["width"], box
    state = person.read()
    person.page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.2 * box["height"], steps=3)
    person.until(f"r => r.query !== '{state['query']}'")
    said = person.page.locator(".wall-head p", has_text=re.compile("Layer [0-9]+, head [0-9]+: ")).inner_text()
    person.page.mouse.down()
    person.page.mouse.up()
    wall.wait_for(state="hidden")
    layer, head = map(int, re.search("Layer ([0-9]+), head ([0-9]+)", said).groups())
    person.until(f"r => r.layer === {layer} && r.head === {head}")
    person.page.get_by_role("button", name="Heads", exact=True).click()
    person.page.locator(".wall-head .close").click()
    wall.wait_for(state="hidden")


def test_a_moment_is_layer_head_and_patch_in_one_press_and_the_arrow_keys_step_through_heads(see):
    person = see()
    moments = person.page.locator(".see-moments button")
    moments.nth(1).wait_for()
    assert moments.count() <= 6
    moments.nth(1).click()
    person.page.locator('.see-moments button:nth-child(2)[aria-pressed="true"]').wait_for()
    state_before = person.read()
    person.page.locator(".provenance").press("ArrowRight")
    state_after = person.until(f"r => r.head !== {state_before['head']}")
    assert state_after["layer"] == state_before["layer"]
    person.page.locator(".provenance").press("ArrowDown")
    person.until(f"r => r.layer === {state_before['layer'] - 1}")
    moments.last.click()
    person.until(f"r => r.head !== {state_after['head']} || r.layer !== {state_before['layer'] - 1}")


def test_see_speaks_german_where_the_browser_does_and_changes_by_a_switch(arrive, server):
    person = arrive(SeeVisitor, server.url, locale="de-DE").open()
    person.until_says("Attention|Es bleibt|schaut")
    assert person.page.get_by_role("button", name="Ihr Foto").is_visible()
    person.page.get_by_role("button", name="Warum").click()
    person.page.locator(".lens .sums h2", has_text="Ein Gewicht, Zeile").wait_for()
    person.page.get_by_role("button", name="Zahlen").click()
    person.page.locator(".lens .numbers", has_text="größtes Gewicht").wait_for()
    page_text = " ".join(text for text, _ in person.page.evaluate(READ_TEXTS))
    assert not re.search(r"\b(the|of|head|layer|largest|same|by|to)\b", page_text), page_text
    person.page.get_by_role("button", name="Zahlen").click()
    person.page.get_by_role("button", name="Attention Playground").click()
    person.page.get_by_role("button", name="English", exact=True).click()
    person.until_says(ROW)


# Records for each frame what is visible, to find a sentence beside a photograph that is still loading
RECORD_FRAMES = """(stage) => {
  const root = (stage ?? document).querySelector(".lens");
  const shown = (name) => root.querySelector(name)?.checkVisibility({ visibilityProperty: true }) ?? false;
  window.frames_shown = [];
  const look = () => {
    const { picture, layer, head } = root.__lens.read();
    const now = { picture, layer, head, says: root.querySelector(".see-says").textContent, coming: shown(".expected") };
    now.claims = [".provenance", ".see-stairs", ".see-credit", ".see-moments", ".see-outside"].filter(shown);
    if (JSON.stringify(now) !== JSON.stringify(window.frames_shown.at(-1))) window.frames_shown.push(now);
    requestAnimationFrame(look);
  };
  look();
}"""


def test_an_own_photograph_comes_at_once_and_its_best_moment_is_the_first_attention_that_is_drawn(see):
    person = see()
    person.part("picture").evaluate(f"(canvas) => ({RECORD_FRAMES})(canvas.getRootNode())")
    data = picture(320, 240)
    hand_over(person, "drop", data)
    best_state = person.until("r => r.picture.length === 16 && r.painted")
    person.page.locator(".see-moments button").nth(1).wait_for()
    frames = person.page.evaluate("frames_shown")
    frames_loading = [frame for frame in frames if frame["coming"]]
    assert frames_loading, frames
    assert {frame["says"] for frame in frames_loading} == {"Reading…"}, frames_loading
    assert not any(frame["claims"] for frame in frames_loading), frames_loading
    frames_after = [frame for frame in frames if frame["picture"] == best_state["picture"]]
    assert {(frame["layer"], frame["head"]) for frame in frames_after} == {(best_state["layer"], best_state["head"])}, (
        frames_after
    )
    layer, head, query = best_state["layer"], best_state["head"], tuple(map(int, best_state["query"].split(",")))
    truth = trace(model(), open_image(data))
    assert layer >= truth.layers // 2, "a moment is searched in the later layers"
    assert_close(best_state["row"], truth.row(layer, head, query))
    assert not re.search("layer=|query=", person.page.url), "nobody has chosen it"


def test_at_200_percent_the_photograph_keeps_two_fifths_and_moments_have_a_door(arrive, server):
    """A window of 1280 × 720 at 200 % has 640 × 360 CSS pixels."""
    zoomed = {"viewport": {"width": 640, "height": 360}, "device_scale_factor": 2}
    person = arrive(SeeVisitor, server.url, **zoomed).open("model=bundled&sample=chelsea&face=see")
    person.page.locator(".see-moments button").nth(1).wait_for(state="attached")
    person.page.wait_for_function("() => document.fonts.status === 'loaded'")  # the bar's height depends on its font
    person.part("picture").evaluate(STANDS_STILL)
    box = person.box("picture")
    assert box["width"] * box["height"] >= 0.4 * 640 * 360, box
    assert person.page.evaluate("document.documentElement.scrollWidth") <= 640
    door = person.page.get_by_role("button", name="Moments", exact=True)
    door.click()
    moment = person.page.locator(".see-moments button").nth(1)
    moment.click()
    person.page.locator(".see-says").wait_for()
    moment.and_(person.page.locator("[aria-pressed=true]")).wait_for(state="attached")
    assert moment.is_hidden(), "the sentence is seen again"
    assert person.box("picture") == box


def test_forced_colours_keep_the_marks_of_what_is_chosen(see):
    person = see(forced_colors="active")
    chosen_moment = person.page.locator('.see-moments [aria-pressed="true"]')
    chosen_moment.wait_for()
    script_start = (
        "(element) => { const { borderTopColor, borderTopWidth, borderTopStyle } = getComputedStyle(element); return"
    )
    other_moment = person.page.locator('.see-moments [aria-pressed="false"]').first
    read_border = script_start + " [borderTopColor, borderTopWidth, borderTopStyle].join(); }"
    assert chosen_moment.evaluate(read_border) != other_moment.evaluate(read_border)
    door = person.page.get_by_role("button", name="Numbers", exact=True)
    closed_border = door.evaluate(read_border)
    door.click()
    person.page.locator('[data-door="numbers"][aria-expanded="true"]').wait_for()
    assert door.evaluate(read_border) != closed_border
    place = person.page.locator(".see-says .key")
    assert place.evaluate("(mark) => getComputedStyle(mark).backgroundColor") == "rgb(213, 94, 0)"
    read_knob = "(knob) => Math.round(knob.getBoundingClientRect().x)"
    knob_before = person.page.locator(".switch .knob").evaluate(read_knob)
    door.click()
    person.part("switch").click()
    person.page.locator('.switch[aria-checked="false"]').wait_for()
    person.page.locator(".switch .knob").element_handle().wait_for_element_state("stable")
    assert person.page.locator(".switch .knob").evaluate(read_knob) != knob_before


def test_with_reduced_motion_nothing_moves(see):
    person = see(reduced_motion="reduce")
    person.page.evaluate(f"({RECORD_MOTIONS})()")
    person.point(0.2, 0.8)
    person.until_says(ROW)
    person.page.mouse.move(1200, 650)
    person.page.locator(".lens.untouched").wait_for()
    person.point(0.5, 0.4)
    person.page.locator(".see-arc.drawn").wait_for(state="attached")
    person.part("switch").click()
    person.until("r => r.scale === 1")
    person.page.get_by_role("button", name="Heads", exact=True).click()
    person.part("wall").wait_for()
    assert person.page.evaluate("motions()") == []
