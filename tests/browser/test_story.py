"""The story in a browser: fourteen scenes beside one photograph, walked through as a reader does."""

import pytest

import playground
from browser.truth import model
from browser.visitor import Visitor
from playground import open_image, samples, trace
from playground.analysis.inside import inside
from playground.numbers import percent

SCENES = 14
STORY_ADDRESS = "/?sample=meadow&model=bundled&story=1"
READ_STORY = """() => {
  const roots = [document, ...[...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean)];
  const lens = roots.map((root) => root.querySelector(".lens")).find((one) => one?.__lens);
  const told = lens?.__lens.see.story.read();
  return told?.facts ? { ...told, scale: lens.__lens.view.scale } : null;
}"""


class Reader(Visitor):
    def begin(self, address: str = STORY_ADDRESS) -> dict:
        self.page.goto(self.url + address)
        return self.page.wait_for_function(READ_STORY).json_value()

    def story(self, part: str):
        return self.page.locator(f".story-{part}")

    def wait_for_scene(self, n: int) -> None:
        self.page.get_by_text(f"The story · {n} of {SCENES}").wait_for()
        self.page.wait_for_function(f"() => new URLSearchParams(location.search).get('story') === '{n}'")

    def guess(self) -> None:
        """Guesses: presses a place on the picture or the last answer, whichever the scene asks for, if any."""
        if self.story("guess").get_by_text("Press the place").count():
            box = self.part("picture").bounding_box()
            self.page.mouse.click(box["x"] + 0.2 * box["width"], box["y"] + 0.2 * box["height"])
        elif self.story("guess").locator("button").count():
            self.story("guess").locator("button").last.click()
        self.story("guess").locator("button").first.wait_for(state="detached")
        self.story("after").locator("a").wait_for()


@pytest.fixture
def reader(arrive, server):
    return arrive(Reader, server.url)


def test_the_story_is_walked_through_from_its_address_to_its_end(reader):
    reader.page.goto(f"{reader.url}/story?sample=meadow&model=bundled")
    story_state = reader.page.wait_for_function(READ_STORY).json_value()
    reader.rest()  # waits until the toolbar has its final height
    picture_box = reader.part("picture").bounding_box()
    for n in range(1, SCENES + 1):
        reader.wait_for_scene(n)
        assert reader.part("picture").bounding_box() == picture_box, f"in scene {n} the picture has moved"
        if n == 1:
            assert reader.page.locator(".lens.untouched").count(), "the row is shown before it is asked for"
        reader.guess()
        assert reader.page.evaluate(READ_STORY)["base"] == story_state["base"], f"scene {n} is about another square"
        below = reader.page.locator(".lens .story").evaluate("panel => panel.scrollHeight - panel.clientHeight")
        assert below <= 0, f"of scene {n}, {below} px lie below the fold"
        if n < SCENES:
            reader.page.get_by_role("button", name="Next", exact=True).click()
    assert "playground.load" in reader.story("figure").inner_text()
    reader.page.get_by_role("button", name="Open this in Lab").click()
    reader.page.locator('.lens[data-face="lab"]').wait_for()
    assert "story" not in reader.page.url


def test_the_story_s_numbers_are_the_model_s_own(reader):
    story_state = reader.begin()
    base_view, facts = story_state["base"], story_state["facts"]
    model_trace = trace(model(), open_image(samples.named("meadow").path))
    place = divmod(base_view["patch"], model_trace.grid[1])
    row = model_trace.row(base_view["layer"], base_view["head"], place)
    partner = divmod(facts["partner"], model_trace.grid[1])
    assert facts["share"] == pytest.approx(
        float(row[model_trace.token(partner)]), abs=2e-3
    )  # the browser has 16-bit floats
    assert facts["loudest"] == pytest.approx(
        float(model_trace.row(base_view["layer"], base_view["head"], place, scale="off").max()), abs=0.02
    )
    score = float(model_trace.scores(base_view["layer"], base_view["head"], place)[model_trace.token(partner)])
    assert facts["score"] == pytest.approx(score, abs=0.05)
    assert facts["distance"] == max(abs(a - b) for a, b in zip(place, partner, strict=True))


def test_what_the_story_asks_beyond_the_pack_is_the_model_s_own(reader):
    base = reader.begin()["base"]
    vit, image = model(), open_image(samples.named("meadow").path)
    seen = playground.trace(vit, image)
    layer, head, query = base["layer"], base["head"], divmod(base["patch"], seen.grid[1])
    found = inside(seen, layer, head, query)

    def text_of(n: int, words: str) -> str:
        reader.page.goto(f"{reader.url}{STORY_ADDRESS.replace('story=1', f'story={n}')}")
        text = reader.story("text").filter(has_text=words)
        text.wait_for()
        return text.inner_text().replace("\u00a0", " ").replace("−", "-")

    made = float(max(seen.record[layer].q[head, seen.token(query)], key=abs))
    assert f"a bias make {made:.2f}." in text_of(5, "a bias make")
    head_share, all_share = (found[name].norm() / found["entering"].norm() for name in ("head", "attention"))
    assert f"writes is {percent(head_share)} as long" in (told := text_of(10, "as long as our token"))
    assert f"all heads write together, {percent(all_share)}" in told
    told = text_of(14, "Switch this head off")
    for name in ("zero", "mean"):
        assert percent(seen.ablate([(layer, head)], to=name).moved(seen, query)) in told
    share = vit.config.shares(seen.logits)
    likeliest = int(share.argmax())
    assert f"{vit.config.labels[likeliest]}: {100 * float(share[likeliest]):.1f} %" in text_of(12, "Now we cut")
    reader.guess()
    square = seen.on_grid(seen.rows(seen.layers - 1, "cls").mean(0)).argmax()
    cut = playground.trace(vit, image, cut="cls>{},{}".format(*divmod(int(square), seen.grid[1])))
    after = float(vit.config.shares(cut.logits)[likeliest])
    assert f"{100 * after:.1f} %" in reader.story("after").inner_text().replace("\u00a0", " ")


def test_the_scale_is_off_in_its_own_scene_alone_and_back_goes_back(reader):
    reader.begin(STORY_ADDRESS.replace("story=1", "story=8"))
    reader.wait_for_scene(8)
    assert reader.page.evaluate(READ_STORY)["scale"] == "on"
    reader.guess()
    reader.page.wait_for_function(f"() => ({READ_STORY})().scale === 'off'")
    reader.page.get_by_role("button", name="Next", exact=True).click()
    reader.wait_for_scene(9)
    reader.page.wait_for_function(f"() => ({READ_STORY})().scale === 'on'")
    reader.page.go_back()
    reader.wait_for_scene(8)
    reader.page.get_by_role("button", name="Lab", exact=True).click()
    reader.page.wait_for_function("() => !location.search.includes('story')")
    reader.page.go_back()
    reader.wait_for_scene(8)
    reader.page.keyboard.press("Escape")
    reader.page.wait_for_function("() => !location.search.includes('story')")
    reader.page.locator(".see-says").wait_for()


def test_the_story_goes_on_in_its_scene_on_a_finer_grid(reader):
    former = reader.begin(STORY_ADDRESS.replace("story=1", "story=3"))
    reader.guess()
    address = """history.pushState(null, "", `${location.href}&detail=2`)"""
    reader.page.evaluate(f"() => {{ {address}; dispatchEvent(new PopStateEvent('popstate')); }}")
    reader.page.wait_for_function(f"() => ({READ_STORY})()?.base.patch > {former['base']['patch']}")
    reader.page.get_by_role("heading", name="Nine, or everybody").wait_for()
    reader.story("after").get_by_text("The answer: ").wait_for()


def test_the_menu_opens_the_story_and_german_browsers_read_german(arrive, server):
    reader = arrive(Reader, server.url, locale="de-DE")
    reader.page.goto(f"{reader.url}/?sample=meadow&model=bundled&face=see")
    reader.unfold("pages").get_by_role("link", name="Die Geschichte").click()
    reader.page.get_by_text(f"Die Geschichte · 1 von {SCENES}").wait_for()
    reader.page.get_by_role("heading", name="Wohin schaut es?").wait_for()


def test_on_a_phone_nothing_is_wider_than_the_screen(arrive, server):
    reader = arrive(Reader, server.url, viewport={"width": 390, "height": 844}, has_touch=True)
    reader.begin()
    for n in range(1, SCENES + 1):
        reader.wait_for_scene(n)
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390, n
        if n < SCENES:
            reader.page.get_by_role("button", name="Next", exact=True).click()


def test_ten_questions_stand_before_and_after_the_story_and_marks_count_both(reader):
    reader.begin()
    reader.page.evaluate("localStorage.setItem('attention-playground-answers', '{damaged')")
    reader.begin()  # what is damaged counts as absent
    reader.page.get_by_text("Ten questions first").click()
    asked = []
    for n in range(1, 11):
        reader.page.get_by_role("heading", name=f"Before the story: question {n} of 10", exact=True).wait_for()
        assert reader.page.locator(".lens.untouched").count(), "the row would tell what scene 1 asks"
        asked.append(reader.page.locator(".story-asks").inner_text())
        reader.story("guess").get_by_role("button", name="I don’t know").click()
        reader.story("after").get_by_text("Noted.").wait_for()
        reader.page.get_by_role("button", name="Next", exact=True).click()
    reader.wait_for_scene(1)
    reader.page.goto(f"{reader.url}{STORY_ADDRESS.replace('story=1', 'story=a1')}")
    for n in range(1, 11):
        reader.page.get_by_role("heading", name=f"After the story: question {n} of 10", exact=True).wait_for()
        asked.remove(reader.page.locator(".story-asks").inner_text())
        reader.story("guess").locator("button").first.click()
        reader.story("after").get_by_text("Scene").wait_for()
        if n < 10:
            reader.page.get_by_role("button", name="Next", exact=True).click()
    assert not asked, "the same ten are asked twice"
    marks = reader.page.locator(".story-marks")
    assert marks.inner_text() == "Before the story 0 of 10 were right, now 4."
    reader.page.reload()  # marks outlast the page
    marks.wait_for()
