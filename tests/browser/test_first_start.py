"""The very first start of a server: without a cache and without a network, and after the set-up."""

from pathlib import Path

import pytest
from test_setup import NO_PIP, UNREACHABLE_HUB, change_times, make_borrow

from browser.server import Server
from browser.visitor import LOST_SERVER, Visitor
from playground.samples import PHOTOGRAPHS, start_patch

OTHER_EYE = (0.28, 0.30, 0.50, 0.46)  # top, left, bottom, right, as shares of the photograph of the cat
OWN_EYE = (0.36, 0.65, 0.56, 0.76)


@pytest.fixture(scope="module")
def filled_cache(tmp_path_factory) -> Path:
    cache = tmp_path_factory.mktemp("cache")
    output = make_borrow(cache)
    print(output)
    if "could not be fetched by pip" in output:
        pytest.skip(f"pip reaches no package from here: {output.strip()}")
    return cache


def inside(box: tuple[float, float, float, float], row: int, column: int, grid: list[int]) -> bool:
    top, left, bottom, right = box
    return top < (row + 0.5) / grid[0] < bottom and left < (column + 0.5) / grid[1] < right


@pytest.mark.slow
def test_the_set_up_leads_from_an_empty_cache_to_the_eyes_of_the_cat_in_dinov2_later_without_a_network_too(
    filled_cache, tmp_path, arrive
):
    files_before, offline_settings = change_times(filled_cache), NO_PIP | {"PLAYGROUND_OFFLINE": "yes"}
    for settings in ({}, offline_settings):
        make_borrow(filled_cache, **settings)
        assert change_times(filled_cache) == files_before  # a second set-up fetches and makes nothing
    settings = {"HF_HOME": str(filled_cache), "HF_HUB_OFFLINE": "0"} | UNREACHABLE_HUB | offline_settings
    server = Server(tmp_path, **settings).start()
    try:
        visitor = arrive(Visitor, server.wait().url)
        visitor.page.goto(server.url)  # the bare address: `open` would name the meadow
        state = visitor.until()
        cat, grid = PHOTOGRAPHS[0], state["grid"]
        start = start_patch(cat.name, cat.look.grid)
        assert state["scale"] == 64**-0.5  # 1/√d_k of DINOv2; the bundled model has another d_k
        assert (*grid, state["layer"], state["head"]) == (*cat.look.grid, cat.look.layer, cat.look.head)
        assert state["query"] == f"{start[0]},{start[1]}"
        assert inside(OWN_EYE, *start, grid)
        weights = state["row"][len(state["prefix"]) :]
        weights_and_patches = [(weight, divmod(i, grid[1])) for i, weight in enumerate(weights)]
        weights_elsewhere = [
            (weight, patch) for weight, patch in weights_and_patches if not inside(OWN_EYE, *patch, grid)
        ]
        strongest_patches = [patch for _, patch in sorted(weights_elsewhere, reverse=True)[:5]]
        print(f"from {start}, beyond its own eye, the strongest patches: {strongest_patches}")
        assert sum(inside(OTHER_EYE, *patch, grid) for patch in strongest_patches) >= 3
        visitor.check()
        visitor.forgiven_errors = LOST_SERVER
    finally:
        server.stop()
