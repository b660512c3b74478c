"""The app on a machine with DINOv2 and the photographs. Skipped with a message where they are not there."""

import numpy as np
import pytest

from benchmarks import striking
from browser.own_picture import hand_over
from browser.server import serving
from browser.truth import model
from browser.visitor import Visitor
from playground import open_image
from playground.models import borrowed
from playground.samples import named
from playground.serving.prepared import prepare


@pytest.fixture(scope="module")
def server(really_here):
    really_here("dinov2-small")
    really_here("photographs")
    prepare()
    with serving(PLAYGROUND_BORROWED=str(borrowed.cache_folder())) as running_server:
        yield running_server


@pytest.fixture
def first_visitor(arrive, server):
    visitor = arrive(Visitor, server.url)
    visitor.page.goto(server.url)
    visitor.until()
    return visitor


def eye_shares(state: dict) -> tuple[float, float]:
    rows, columns = state["grid"]
    row = np.asarray(state["row"][-rows * columns :]).reshape(rows, columns)
    return row[6:12, 10:16].sum(), row[8:13, 22:27].sum()


def test_the_first_picture_is_the_cat_whose_eye_listens_to_the_other_eye(first_visitor):
    state, look = first_visitor.read(), named("chelsea").look
    assert (state["layer"], state["head"], state["grid"]) == (look.layer, look.head, list(look.grid))
    left_share, right_share = eye_shares(state)
    print(f"left eye {left_share:.0%}, right eye {right_share:.0%}")
    assert left_share > 0.4
    assert left_share + right_share > 0.7
    assert "CC0" in first_visitor.part("credit").inner_text()
    assert "DINOv2 S/14" in first_visitor.opener("more").inner_text()


def test_every_layer_of_the_cat_comes_when_it_is_asked_for(first_visitor):
    for layer in (0, 11):
        state = first_visitor.choose_layer(layer)
        assert abs(sum(state["row"]) - 1) < 1e-3


def test_a_link_to_a_photograph_opens_its_best_view(arrive, server):
    state = arrive(Visitor, server.url).open("sample=rocket").read()
    look = named("rocket").look
    assert (state["layer"], state["head"], state["grid"]) == (look.layer, look.head, list(look.grid))


@pytest.mark.slow
@pytest.mark.parametrize("sample", ["rocket", "chelsea"])
def test_an_own_photograph_opens_at_the_row_that_the_benchmark_of_openings_chooses(first_visitor, sample):
    data = named(sample).path.read_bytes()
    ((trace, chosen),) = striking.openings(model("dinov2-small"), "dinov2-small", [open_image(data)])
    hand_over(first_visitor, "drop", data, "image/jpeg" if sample == "rocket" else "image/png")
    first_visitor.page.get_by_title("Yours: dropped").first.wait_for(state="attached")
    row, column = divmod(chosen["patch"], trace.grid[1])
    print(f"{sample}: layer {chosen['layer']}, head {chosen['head']}, patch {row},{column} of {trace.grid}")
    first_visitor.until(
        f"r => r.layer === {chosen['layer']} && r.head === {chosen['head']} && r.query === '{row},{column}'"
        f" && r.grid.join() === '{trace.grid[0]},{trace.grid[1]}'"
    )
