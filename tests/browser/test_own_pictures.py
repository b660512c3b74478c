"""One's own picture comes in by every door, upright, and a broken one harms nothing."""

import pytest

from browser.own_picture import assert_shows, hand_over, picture, upload


def test_an_uploaded_file_is_seen(visit):
    visitor, data = visit(), picture(320, 240)
    upload(visitor, data, "holiday.jpg")
    rows, columns = assert_shows(visitor, data, "holiday.jpg")["grid"]
    assert rows < columns
    assert "sample" not in visitor.page.url
    visitor.part("link").click()
    visitor.part("message").filter(has_text="Your own image does not travel in it").wait_for()


def test_a_rotated_photo_comes_upright(visit):
    visitor, data = visit(), picture(320, 240, orientation=6)
    upload(visitor, data, "phone.jpg")
    rows, columns = assert_shows(visitor, data, "phone.jpg")["grid"]
    assert rows > columns


@pytest.mark.parametrize("how", ["drop", "paste"])
def test_a_picture_can_be_dropped_and_pasted_anywhere(visitor, how):
    data = picture(300, 200 if how == "drop" else 420)
    hand_over(visitor, how, data)
    assert_shows(visitor, data, "dropped.jpg")


def test_a_broken_file_is_said_and_the_page_goes_on(visit):
    visitor = visit()
    before = visitor.hover((4, 4))["row"]
    upload(visitor, b"this is no picture at all" * 40, "broken.jpg")
    visitor.says("picture")
    visitor.page.keyboard.press("Escape")
    assert visitor.hover((4, 4))["row"] == before
    hand_over(visitor, "drop", picture(320, 240)[:900])
    visitor.says("damaged")
    visitor.pick("flock")
    visitor.until()
    data = picture(240, 240)
    hand_over(visitor, "drop", data)
    assert_shows(visitor, data, "dropped.jpg")


def test_a_dropped_file_that_is_no_picture_is_said(visitor):
    before = visitor.page.url
    hand_over(visitor, "drop", b"%PDF-1.7 and so on", "application/pdf", "slides.pdf")
    visitor.says("PDF document")
    assert visitor.page.url == before


def test_a_photo_comes_from_the_camera_when_it_is_asked_for(visit):
    visitor = visit(permissions=["camera"])
    body = visitor.unfold("Open")
    body.get_by_test_id("stFileUploader").wait_for()
    assert body.get_by_test_id("stCameraInput").count() == 0
    body.get_by_text("or one from the camera").click()
    video = body.locator("video").element_handle()
    visitor.page.wait_for_function("video => video.readyState >= 2", arg=video)
    body.get_by_test_id("stCameraInputButton").click()
    visitor.page.locator(".strip .own").filter(has_text="yours: ").wait_for(state="attached")
    assert abs(sum(visitor.until()["row"]) - 1) < 1e-3
