"""The wall with the maps of all heads loads by itself; the film shows one patch in all layers."""

from browser.truth import python_trace


def test_the_film_shows_every_layer_a_click_goes_there_and_dragging_plays_them(visit):
    visitor, truth = visit("sample=meadow&model=bundled&detail=1"), python_trace()
    film = visitor.reach(".film canvas")
    box = film.bounding_box()

    def place(layer: int) -> tuple[float, float]:
        return box["x"] + (layer + 0.5) * box["width"] / truth.layers, box["y"] + box["height"] / 2

    visitor.page.mouse.click(*place(1))
    visitor.until("r => r.layer === 1")
    visitor.page.mouse.move(*place(0))
    visitor.page.mouse.down()
    for layer in range(truth.layers):
        visitor.page.mouse.move(*place(layer))
        visitor.until(f"r => r.layer === {layer}")
    visitor.page.mouse.up()
    read_pixels = "c => Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).join()"
    pictures = set()
    for film_kind in ("head", "sharpest", "mean"):
        visitor.page.locator(f'.lens [data-film="{film_kind}"][aria-pressed]').click()
        visitor.page.locator(f'.lens [data-film="{film_kind}"][aria-pressed="true"]').wait_for()
        visitor.until()
        pictures.add(film.evaluate(read_pixels))
    assert len(pictures) == 3
