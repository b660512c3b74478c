"""A visitor's own picture can be opened in every way and is shown upright; a broken file harms nothing."""

import json

import pytest

from browser.own_picture import assert_opens_a_trace_file, assert_shows, hand_over, picture, upload
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


def test_a_saved_trace_is_opened_here_found_again_and_is_no_picture_for_lessons(visitor, tmp_path):
    assert_opens_a_trace_file(visitor, tmp_path)
    visitor.page.reload()
    visitor.until("r => r.grid[0] === 5")
    visitor.unfold("pages").get_by_role("link", name="Heads").click()
    visitor.page.locator("#lesson h1").wait_for()
    assert "mine" not in visitor.page.url
    hand_over(visitor, "drop", (tmp_path / "fox.trace").read_bytes(), "", "fox.trace")
    visitor.until("r => r.grid[0] === 5")
    visitor.page.go_back()
    visitor.page.locator("#lesson h1").wait_for()
    assert "/heads?" in visitor.page.url
    assert "mine" not in visitor.page.url


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
    notice = visitor.page.locator(".attention-notice")
    for part in visitor.page.locator(".lens :is(.see-says, .opens, [data-ref=picture])").all():
        assert not overlap(notice.bounding_box(), part.bounding_box()), part.inner_text()
    visitor.pick("flock")
    notice.wait_for(state="hidden")  # the choice of a sample closes the notice
    data = picture(240, 240)
    hand_over(visitor, "drop", data)
    assert_shows(visitor, data, "dropped.jpg")


def own_titles(visitor) -> list[str]:
    titles = visitor.strip().locator(".mine [data-sample]").evaluate_all("all => all.map(one => one.title)")
    visitor.page.keyboard.press("Escape")
    return titles


def wait_until_kept(visitor, count: int) -> None:
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


def test_a_reload_shows_one_s_own_photograph_again_and_brings_it_no_second_time(visit):
    visitor, data = visit(), picture(320, 240)
    hand_over(visitor, "drop", data, title="mine.jpg")
    assert_shows(visitor, data, "mine.jpg")
    visitor.page.reload()
    assert_shows(visitor, data, "mine.jpg")
    assert visitor.uploaded == ["mine.jpg"]


def test_a_photograph_that_this_browser_has_not_is_said_to_be_gone(arrive, server):
    visitor = arrive(Visitor, server.url).open(
        "mine=0123456789abcdef", sentence="This browser does not have that photograph"
    )
    assert "mine=" not in visitor.page.url
    assert visitor.uploaded == []


def test_a_page_that_is_older_than_the_server_offers_one_reload(arrive, server):
    visitor = arrive(Visitor, server.url)
    visitor.forgiven_errors = REFUSED_REQUEST

    def answer_as_older(route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=json.loads(answer.text()) | {"digest": "0" * 16})

    visitor.open()
    visitor.page.route("**/api/trace?**", answer_as_older)
    visitor.press_sample("portrait")
    visitor.hears("This page is older than the server")
    offers = visitor.page.locator(".attention-notice").get_by_role("button", name="reload it")
    assert offers.count() == 1
    visitor.page.unroute("**/api/trace?**")
    offers.click()
    visitor.shows("portrait")
