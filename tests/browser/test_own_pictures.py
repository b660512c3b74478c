"""A visitor's own picture can be opened in every way and is shown upright; a broken file harms nothing."""

from urllib.parse import parse_qs, urlsplit

import pytest
from waiting import until

from browser.own_picture import assert_shows, hand_over, picture, upload
from browser.visitor import REFUSED_REQUEST, Visitor


def test_an_uploaded_file_is_seen(visit):
    visitor, data = visit(), picture(320, 240)
    upload(visitor, data, "holiday.jpg")
    rows, columns = assert_shows(visitor, data, "holiday.jpg")["grid"]
    assert rows < columns
    assert "sample" not in visitor.page.url
    assert "mine=" in visitor.page.url
    visitor.page.locator(".toolbar .sending").click()
    visitor.page.locator('[data-share="link"]').click()
    visitor.part("shareStatus").filter(has_text="does not travel in a link").wait_for()


@pytest.mark.slow
def test_a_rotated_photo_comes_upright(visit):
    visitor, data = visit(), picture(320, 240, orientation=6)
    upload(visitor, data, "phone.jpg")
    rows, columns = assert_shows(visitor, data, "phone.jpg")["grid"]
    assert rows > columns


@pytest.mark.parametrize("gesture", ["drop", "paste"])
def test_a_picture_can_be_dropped_and_pasted_anywhere(visitor, gesture):
    data = picture(300, 200 if gesture == "drop" else 420)
    hand_over(visitor, gesture, data)
    assert_shows(visitor, data, "dropped.jpg")


def overlap(first_box: dict, second_box: dict) -> bool:
    return all(
        first_box[coordinate] < second_box[coordinate] + second_box[size]
        and second_box[coordinate] < first_box[coordinate] + first_box[size]
        for coordinate, size in (("x", "width"), ("y", "height"))
    )


def test_a_broken_file_is_refused_in_a_sentence_and_the_page_goes_on(visit):
    visitor = visit()
    visitor.forgiven_errors = REFUSED_REQUEST
    row_before = visitor.hover((4, 4))["row"]
    upload(visitor, b"this is no picture at all" * 40, "broken.jpg")
    visitor.hears("picture")
    assert visitor.hover((4, 4))["row"] == row_before
    hand_over(visitor, "drop", picture(320, 240)[:900])
    visitor.hears("damaged")
    notice = visitor.page.locator(".toolbar .notice")
    for part in visitor.page.locator(".lens :is(.see-says, .opens, [data-ref=picture])").all():
        assert not overlap(notice.bounding_box(), part.bounding_box()), part.inner_text()
    visitor.pick("flock")
    notice.wait_for(state="hidden")  # the choice of a sample closes the notice
    data = picture(240, 240)
    hand_over(visitor, "drop", data)
    assert_shows(visitor, data, "dropped.jpg")


def test_a_dropped_file_that_is_no_picture_is_refused_in_a_sentence(visitor):
    visitor.forgiven_errors = REFUSED_REQUEST
    choice_before = choice_in(visitor.page.url)
    hand_over(visitor, "drop", b"%PDF-1.7 and so on", "application/pdf", "slides.pdf")
    visitor.hears("PDF document")
    assert choice_in(visitor.page.url) == choice_before


def choice_in(address: str) -> dict[str, list[str]]:
    """The parameters of the address for picture and model, without those of the view, which may follow later."""
    parameters = parse_qs(urlsplit(address).query)
    return {name: parameters[name] for name in ("sample", "mine", "model", "detail") if name in parameters}


def test_a_photo_comes_from_the_camera_when_it_is_asked_for(visit):
    visitor = visit(permissions=["camera"])
    sheet = visitor.unfold("photo")
    assert sheet.locator("video").count() == 0
    sheet.get_by_role("button", name="Use the camera").click()
    sheet.locator("video").wait_for()
    sheet.get_by_role("button", name="Take the photo").click()
    visitor.page.get_by_title("Yours: ").first.wait_for(state="attached")
    assert abs(sum(visitor.until()["row"]) - 1) < 1e-3


@pytest.mark.slow
def test_a_patch_locked_in_one_photograph_is_free_in_the_next(visit):
    visitor, first_picture, second_picture = visit(), picture(320, 240), picture(300, 260)
    hand_over(visitor, "drop", first_picture, title="first.jpg")
    assert_shows(visitor, first_picture, "first.jpg")
    visitor.lock((2, 3))
    hand_over(visitor, "drop", second_picture, title="second.jpg")
    assert_shows(visitor, second_picture, "second.jpg")
    assert not visitor.read()["locked"]


def own_titles(visitor) -> list[str]:
    """The titles of the visitor's own photographs in the sheet of pictures."""
    titles = visitor.strip().locator(".mine [data-sample]").evaluate_all("all => all.map(one => one.title)")
    visitor.page.keyboard.press("Escape")
    return titles


def wait_until_kept(visitor, count: int) -> None:
    """Waits until the browser's database holds `count` photographs."""
    visitor.page.wait_for_function(
        """async (count) => {
          const open = indexedDB.open("attention-playground", 1);
          await new Promise((done) => (open.onsuccess = open.onerror = open.onupgradeneeded = done));
          const names = open.result.objectStoreNames;
          const all = names.contains("photographs")
            && open.result.transaction("photographs").objectStore("photographs").getAll();
          if (all) await new Promise((done) => (all.onsuccess = done));
          open.result.close();
          return (all ? all.result.length : 0) === count;
        }""",
        arg=count,
    )


def test_photographs_stay_in_the_browser_until_they_are_forgotten(visit):
    visitor, files = visit(), {f"{n}.jpg": picture(300 + 20 * n, 240) for n in range(3)}
    for name, data in files.items():
        hand_over(visitor, "drop", data, title=name)
        assert_shows(visitor, data, name)
    wait_until_kept(visitor, 3)
    visitor.uploaded.clear()
    visitor.open()
    visitor.strip().locator(".mine [data-sample]").nth(2).wait_for()
    visitor.page.keyboard.press("Escape")
    assert own_titles(visitor) == [f"Yours: {name}" for name in reversed(files)]
    visitor.rest()
    assert not visitor.uploaded, "nothing is sent before it is chosen"
    visitor.strip().locator('.mine [title="Yours: 1.jpg"]').click()
    assert_shows(visitor, files["1.jpg"], "1.jpg")
    assert own_titles(visitor) == [f"Yours: {name}" for name in reversed(files)]
    second_tab = visitor.new_tab().open()
    theirs = second_tab.strip().locator('.mine [title="Yours: 2.jpg"]')
    theirs.wait_for()
    visitor.strip().locator(".forget").click()
    visitor.page.locator('.toolbar .pictures[title=""]').wait_for(state="attached")
    visitor.page.keyboard.press("Escape")
    assert own_titles(visitor) == []
    wait_until_kept(visitor, 0)
    visitor.forgiven_errors = REFUSED_REQUEST  # the server has forgotten the picture, and the tab uploads it again
    theirs.click()  # the other tab's still shows the picture
    assert_shows(second_tab, files["2.jpg"], "2.jpg")
    second_tab.page.close()


@pytest.mark.slow
def test_a_browser_that_keeps_nothing_shows_photographs_all_the_same(arrive, server):
    visitor, data = arrive(Visitor, server.url), picture(320, 240)
    visitor.context.add_init_script("IDBFactory.prototype.open = () => { throw new DOMException('private') };")
    visitor.open()
    hand_over(visitor, "drop", data)
    assert_shows(visitor, data, "dropped.jpg")
    visitor.pick("flock")
    visitor.strip().locator('.mine [title="Yours: dropped.jpg"]').click()
    assert_shows(visitor, data, "dropped.jpg")


# Records the microscope's sentence, and whether the picture takes clicks, when the microscope begins to wait
RECORD_WAITING = """() => {
  const find = (root) => root.querySelector(".lens")
    ?? [...root.querySelectorAll("*")].map((e) => e.shadowRoot && find(e.shadowRoot)).find(Boolean);
  const lens = find(document);
  new MutationObserver(() => {
    if (!lens.classList.contains("waits")) return;
    queueMicrotask(() => {
      const message = lens.querySelector('[data-ref="message"]').textContent;
      window.waited ??= [message, getComputedStyle(lens.querySelector('[data-ref="picture"]')).pointerEvents];
    });
  }).observe(lens, { attributeFilter: ["class"] });
}"""


@pytest.mark.slow
@pytest.mark.parametrize("gesture", ["drop", "file"])
def test_while_a_photograph_is_on_its_way_the_old_picture_takes_no_clicks(visit, gesture):
    visitor, data = visit(), picture(320, 240)
    visitor.page.evaluate(RECORD_WAITING)
    if gesture == "drop":
        hand_over(visitor, "drop", data)
    else:
        upload(visitor, data, "dropped.jpg")
    visitor.page.wait_for_function("() => window.waited")
    assert visitor.page.evaluate("window.waited") == ["Your photograph is on its way", "none"]
    assert_shows(visitor, data, "dropped.jpg")
    visitor.hover((2, 4))
    assert visitor.part("message").inner_text() == ""


@pytest.mark.slow
def test_a_costly_model_gives_a_first_look_and_the_real_one_takes_over_under_the_cursor(visit):
    visitor = visit({"sample": "portrait", "model": "ViT-B/16", "detail": 2})  # random weights, nothing to fetch
    visitor.page.evaluate(
        """() => {
          window.grids = [];
          const look = () => {
            const grid = theLens()?.read()?.grid.join(" × ");
            if (grid && grid !== window.grids.at(-1)) window.grids.push(grid);
            requestAnimationFrame(look);
          };
          look();
        }"""
    )
    hand_over(visitor, "drop", picture(400, 400))
    visitor.page.get_by_title("Yours: dropped.jpg").first.wait_for(state="attached")
    visitor.until("r => window.grids.length > 1")
    box = visitor.part("picture").bounding_box()
    query_by_rows = {side: f"{int(0.72 * side)},{int(0.31 * side)}" for side in (20, 28)}

    def is_on_patch() -> bool:
        visitor.page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.7 * box["height"])
        visitor.page.mouse.move(box["x"] + 0.31 * box["width"], box["y"] + 0.72 * box["height"])
        state = visitor.page.evaluate("theLens()?.read() ?? {}")
        return state.get("query") in query_by_rows.values()

    until(is_on_patch, "the cursor is on no patch")
    visitor.until(f"r => r.grid[0] === 28 && r.query === '{query_by_rows[28]}'")
    assert visitor.page.evaluate("window.grids")[-2:] == ["20 × 20", "28 × 28"]
