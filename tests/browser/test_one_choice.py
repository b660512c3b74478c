"""Toolbar, address and stage show one choice: they agree after every way to choose."""

import json
import time
from urllib.parse import parse_qsl, urlsplit

import pytest
from waiting import PATIENCE

import playground
from browser.own_picture import hand_over, picture
from browser.truth import model
from playground.models.names import plain_name
from playground.pictures.images import fit

MEADOW = {"sample": "meadow", "model": "bundled"}
CHOICE_WORDS = ("sample", "mine", "model", "detail", "with")  # words of an address that select pictures or a model


def shown_choice(visitor) -> dict:
    """{part of the page: the choice that it shows}"""
    page = visitor.page
    address = {word: value for word, value in parse_qsl(urlsplit(page.url).query) if word in CHOICE_WORDS}
    stage = page.evaluate("document.querySelector('#stage[hidden]') ? null : (window.theLens?.()?.read() ?? null)")
    return {
        "address": address,
        "picture": page.locator(".toolbar").get_attribute("data-picture"),
        "model": visitor.opener("more").locator(".label").text_content(),
        "stage": stage and [stage["picture"], stage["model"], " × ".join(map(str, stage["grid"]))],
    }  # fmt: skip


def choice_for(grid: tuple[int, int], parameters: dict) -> dict:
    """The value that `shown_choice` should return for these parameters of the address."""
    grid_text = " × ".join(map(str, grid))
    return {
        "address": parameters,
        "picture": f"mine:{parameters['mine']}" if "mine" in parameters else parameters["sample"],
        "model": plain_name(parameters["model"]),
        "stage": [parameters.get("mine") or parameters["sample"], parameters["model"], grid_text],
    }


def agree(visitor, expected_choice: dict) -> None:
    """Waits until `shown_choice` returns this, and prints what it returned if it never does."""
    deadline = time.monotonic() + PATIENCE
    while (choice := shown_choice(visitor)) != expected_choice:
        assert time.monotonic() < deadline, (
            f"{json.dumps(choice, indent=1)}\ninstead of\n{json.dumps(expected_choice, indent=1)}"
        )
        visitor.page.evaluate("() => new Promise(requestAnimationFrame)")


def choose_grid(visitor, detail: str) -> None:
    visitor.unfold("more").locator("select").select_option(detail)


def go_to(visitor, page: str) -> None:
    visitor.unfold("pages").get_by_role("link").filter(has_text=page).first.click()


def drop_own(visitor, data: bytes, name: str) -> str:
    hand_over(visitor, "drop", data, title=name)
    visitor.page.wait_for_url("**mine=**")
    return dict(parse_qsl(urlsplit(visitor.page.url).query))["mine"]


@pytest.mark.slow
def test_all_parts_of_the_page_agree_after_every_choice_and_every_step_back_and_forward(visit):
    visitor = visit(MEADOW)
    page, steps = visitor.page, []

    def step(grid: tuple[int, int], **parameters: str) -> None:
        steps.append(choice_for(grid, parameters))
        agree(visitor, steps[-1])

    step((14, 14), **MEADOW)
    visitor.pick("flock")
    step((14, 14), sample="flock", model="bundled")
    choose_grid(visitor, "2")
    step((28, 28), sample="flock", model="bundled", detail="2")
    data = picture(320, 240)
    c = model().config
    rows, columns = (
        side // c.patch_size
        for side in fit(playground.open_image(data).size, c.patch_size, tuple(2 * side for side in c.image_size))
    )
    picture_id = drop_own(visitor, data, "mine.jpg")
    step((rows, columns), mine=picture_id, model="bundled", detail="2")
    choose_grid(visitor, "1")
    coarse_grid = (rows // 2, columns // 2)
    step(coarse_grid, mine=picture_id, model="bundled")
    visitor.pick_model(plain_name("bundled-taught"))
    step(coarse_grid, mine=picture_id, model="bundled-taught")
    visitor.unfold("compare").locator('[data-sample="portrait"]').click()
    step(coarse_grid, mine=picture_id, model="bundled-taught", **{"with": "sample:portrait"})
    visitor.pick("portrait")  # the two pictures change places
    step((14, 14), sample="portrait", model="bundled-taught", **{"with": f"mine:{picture_id}"})
    visitor.unfold("compare").get_by_role("button", name="end the comparison").click()
    step((14, 14), sample="portrait", model="bundled-taught")
    for step_before in reversed(steps[:-1]):
        page.go_back()
        agree(visitor, step_before)
    for step_after in steps[1:]:
        page.go_forward()
        agree(visitor, step_after)
    page.reload()
    agree(visitor, steps[-1])


@pytest.mark.parametrize(
    ("grid", "parameters"),
    [
        ((14, 14), {"model": "bundled-taught", "sample": "portrait", "with": "sample:meadow"}),
        ((14, 14), {"model": "bundled", "sample": "still-life", "with": "model:bundled-taught"}),
    ],
)
def test_all_parts_of_the_page_agree_where_a_link_is_opened(go, grid, parameters):
    agree(go(parameters), choice_for(grid, parameters))


def test_back_from_a_lesson_finds_the_microscope_as_it_was_left(visit):
    visitor = visit(MEADOW)
    visitor.pick("portrait")
    choice_before = choice_for((14, 14), {"sample": "portrait", "model": "bundled"})
    agree(visitor, choice_before)
    go_to(visitor, "Heads: what they do")
    visitor.page.get_by_role("heading", name="Heads: what they do").wait_for()
    visitor.rest()
    visitor.page.go_back()
    agree(visitor, choice_before)
    visitor.page.go_forward()
    agree(visitor, choice_before | {"stage": None})
