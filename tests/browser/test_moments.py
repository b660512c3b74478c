"""An own photograph opens in its best moment, a row says what kind it is, a filter without a network is a key away."""

from browser.own_picture import hand_over, picture
from browser.truth import model, seen
from playground import open_image, trace
from playground.analysis.moments import best_moments


def test_an_own_photograph_moves_to_its_best_moment_and_the_address_does_not_say_so(visit):
    visitor, data = visit(), picture(320, 240)
    hand_over(visitor, "drop", data)
    visitor.page.locator(".strip .own").filter(has_text="yours: dropped.jpg").wait_for(state="attached")
    truth = trace(model(), open_image(data))
    columns = truth.grid[1]
    best = best_moments(truth)[:3]  # numbers travel in sixteen bits: the best two may change places
    places = {(m.layer, m.head, f"{m.patches[0] // columns},{m.patches[0] % columns}") for m in best}
    wanted = " || ".join(
        f"(r.layer === {layer} && r.head === {head} && r.query === '{query}')" for layer, head, query in places
    )
    visitor.until(f"r => {wanted}")
    assert "layer=" not in visitor.page.url
    assert "query=" not in visitor.page.url
    visitor.page.locator(".kindline", has_text="row").wait_for()


def test_surprise_me_goes_through_rows_that_tell_and_the_list_of_keys_names_it(visitor):
    visitor.until("r => r.layersHeld.length === 6")
    visitor.part("picture").focus()
    visitor.page.keyboard.press("b")
    first = visitor.until("r => r.locked")
    visitor.page.keyboard.press("b")
    visitor.until(f"r => r.locked && r.query !== '{first['query']}'")
    visitor.part("drawing").click()
    keys = visitor.part("drawingSheet").inner_text()
    visitor.page.keyboard.press("Escape")
    assert "surprise me" in keys
    assert "without a network" in keys


def test_a_filter_without_a_network_is_one_key_away_and_the_head_s_numbers_stay(visitor):
    before = visitor.until("r => r.layersHeld.length === 6")
    said = visitor.part("sentence").inner_text()
    button = visitor.page.locator(".kindline [data-compare]")
    visitor.part("picture").focus()
    visitor.page.keyboard.press("n")
    visitor.part("sentence").filter(has_text="No network: colour and nearness alone").wait_for()
    visitor.page.locator(".kindline", has_text="in common").wait_for()
    assert button.get_attribute("aria-pressed") == "true"
    assert "no network" in visitor.part("badge").inner_text()
    assert visitor.read()["row"] == before["row"]
    button.click()
    visitor.part("sentence").filter(has_text=said).wait_for()
    visitor.page.locator(".kindline", has_text="row").wait_for()


def test_the_head_that_shows_more_is_where_the_line_says(visitor):
    visitor.until("r => r.layersHeld.length === 6")
    truth = seen("meadow")
    best = best_moments(truth)[0]
    patch = divmod(best.patches[0], truth.grid[1])
    visitor.layer(0)
    visitor.lock(patch)
    words = f"layer {best.layer}, head {best.head} shows more here"
    visitor.page.locator(".kindline [data-go]").filter(has_text=words).click()
    visitor.until(f"r => r.layer === {best.layer} && r.head === {best.head} && r.query === '{patch[0]},{patch[1]}'")
