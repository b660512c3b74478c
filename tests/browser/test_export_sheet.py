"""The sheet Export in a browser: its choices, previews and files, for samples and for
a visitor's own picture."""

import io

import numpy as np
import pytest

from browser.own_picture import hand_over, picture
from browser.truth import assert_close, python_trace
from browser.visitor import PATIENCE, REFUSED_REQUEST

VIEW = {"model": "bundled", "sample": "flock", "layer": "2", "head": "1", "query": "3,4", "locked": "true"}
FIRST_BYTES = {
    "PNG": b"\x89PNG", "SVG": b"<?xml", "PDF": b"%PDF", "interactive": b"<!doctype html>", "numbers": b"PK",
}  # fmt: skip


def wait_for_preview(sheet):
    sheet.locator(".export-preview img").wait_for()
    sheet.locator(".exporting:not([aria-busy])").wait_for()
    return sheet


def save(visitor, sheet) -> tuple[str, bytes]:
    with visitor.page.expect_download(timeout=PATIENCE) as download:
        sheet.get_by_role("button", name="Download").click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def copied_line(sheet, heading: str) -> str:
    return sheet.locator(".export-copy").filter(has_text=heading).locator("code").inner_text()


def choose(sheet, kind: str):
    sheet.get_by_label("As", exact=True).select_option(kind)
    return wait_for_preview(sheet)


def saved_row(data: bytes) -> np.ndarray:
    arrays = np.load(io.BytesIO(data))
    return arrays["values"][0]


@pytest.mark.slow
def test_every_kind_of_file_is_drawn_and_saved(visit):
    visitor = visit(VIEW)
    sheet = wait_for_preview(visitor.unfold("export"))
    for kind, beginning in FIRST_BYTES.items():
        choose(sheet, kind)
        name, data = save(visitor, sheet)
        assert data[:20].lower().startswith(beginning.lower()), (kind, name, data[:20])
    assert sheet.locator(".export-status").filter(has_text="is downloaded").count() == 1


def test_the_numbers_are_those_of_the_row_and_the_command_names_it(go):
    visitor = go(VIEW)
    sheet = choose(wait_for_preview(visitor.unfold("export")), "numbers")
    name, data = save(visitor, sheet)
    assert_close(saved_row(data), python_trace("flock").row(2, 1, (3, 4)))
    command = copied_line(sheet, "The command")
    for words in ("--model bundled", "flock", "--layer 2", "--head 1", "--patch 3,4", name):
        assert words in command, command


def test_a_figure_of_an_own_picture_has_no_address_and_a_refusal_is_a_sentence(visit):
    visitor = visit()
    hand_over(visitor, "drop", picture(320, 240))
    visitor.page.get_by_title("Yours: dropped.jpg").first.wait_for(state="attached")
    sheet = wait_for_preview(visitor.unfold("export"))
    assert sheet.locator("img").get_attribute("src").startswith("blob:")
    assert sheet.locator(".export-copy").last.is_hidden(), "an own picture's figure has no address for a web page"
    visitor.forgiven_errors = REFUSED_REQUEST
    sentence = "Too many of your figures wait already."
    visitor.page.route("**/api/exports*", lambda route: route.fulfill(status=400, json={"says": sentence}))
    sheet.get_by_label("As", exact=True).select_option("SVG")
    sheet.locator(".export-status").get_by_text(sentence).wait_for()
