"""An own photograph opens at its best moment, a line names the kind of a row, and a filter that needs no network
stands beside the network's row."""

import re

import numpy as np
from twins import overlap_with_filter
from waiting import until

from browser.truth import python_trace
from playground import open_image
from playground.analysis.colour_nearness import mean_colours, row_of
from playground.samples import named

QUERY = (10, 9)
COLOUR_TOLERANCE = 0.03  # largest difference between the browser's and Python's colours


def network_texts(visitor) -> dict[str, str]:
    visitor.open_row("scale")
    visitor.page.locator(".kindline span:not(:empty)").wait_for(state="attached")
    names = ("exposed", "big", "peak", "peakAt", "badge", "note")
    return {name: visitor.page.locator(f'.lens [data-ref="{name}"]').text_content() for name in names} | {
        "sentence": visitor.page.locator(".see-says").inner_text(),
        "kind": visitor.page.locator(".kindline span").text_content(),
        "drawn": visitor.read()["drawn"],
    }


def settled_texts(visitor) -> dict:
    """The texts of `network_texts`, once they no longer change: the line on kinds may come later than the row."""
    readings = []

    def has_settled() -> bool:
        readings.append(network_texts(visitor))
        return readings[-4:] == [readings[-1]] * 4

    until(has_settled, "what is said of the network's picture stays")
    return readings[-1]


def test_a_filter_without_a_network_stands_beside_and_each_picture_s_words_describe_its_own_row(visitor):
    visitor.until("r => r.waits === ''")
    visitor.choose_layer(5)
    state = visitor.lock(QUERY)
    texts_before = settled_texts(visitor)
    visitor.part("picture").focus()
    visitor.page.keyboard.press("n")
    visitor.part("filterWords").filter(has_text="in common").wait_for()
    assert visitor.choice("beside", "filter").get_attribute("aria-pressed") == "true"
    assert "no network: colour and nearness alone" in visitor.part("twinBadge").inner_text()
    assert settled_texts(visitor) == texts_before

    truth, columns = python_trace("meadow"), state["grid"][1]
    patch = QUERY[0] * columns + QUERY[1]
    small_picture = open_image(named("meadow").path).resize((8 * columns, 8 * state["grid"][0]))
    row = row_of(mean_colours(np.asarray(small_picture), state["grid"]), patch)
    sentence, legend = (visitor.part(name).inner_text() for name in ("filterWords", "filterExposed"))
    largest_match, largest = re.search(r"row (\d+), column (\d+) \(([\d.]+)\s%\)", sentence), row.max()
    assert divmod(int(row.argmax()), columns) == (int(largest_match[1]), int(largest_match[2])), sentence
    assert abs(float(largest_match[3]) / 100 - largest) < COLOUR_TOLERANCE, (sentence, largest)
    assert re.search(rf"(up to|from) {largest_match[3]}\s%", legend), (sentence, legend)
    expected_share = overlap_with_filter(truth.row(5, state["head"], QUERY).numpy()[len(truth.prefix) :], row, patch)
    share_in_common = float(re.search(r"([\d.]+)\s% in common", sentence)[1]) / 100
    assert abs(share_in_common - expected_share) < COLOUR_TOLERANCE, (sentence, expected_share)

    visitor.page.keyboard.press("n")
    visitor.part("filterFoot").wait_for(state="hidden")
    assert visitor.choice("beside", "convolution").get_attribute("aria-pressed") == "true"
