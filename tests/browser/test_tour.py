"""The guided tour in a browser, from the first step to the last."""

from urllib.parse import parse_qs, urlsplit

CARD_STANDS_APART = """() => {
  const boxOf = (part) => document.querySelector(part)?.getBoundingClientRect();
  const [card, ring] = [boxOf(".tour-card"), boxOf(".tour-ring")];
  if (!card || !ring) return false;
  const inside = card.left >= 0 && card.top >= 0 && card.right <= innerWidth && card.bottom <= innerHeight;
  const over = (begin, end) => Math.max(0, Math.min(card[end], ring[end]) - Math.max(card[begin], ring[begin]));
  const covered = over("left", "right") * over("top", "bottom");
  return inside && ring.width > 60 && ring.height > 20 && covered < 0.25 * ring.width * ring.height;
}"""
MEADOW = {"model": "bundled", "sample": "meadow"}
LANDSCAPE = {"model": "bundled", "sample": "landscape"}


def parameters(page) -> dict[str, str]:
    return {key: value[0] for key, value in parse_qs(urlsplit(page.url).query).items()}


def wait_for_step(page, n: int) -> None:
    """Waits until the card shows step n and does not cover the part that it outlines."""
    page.locator(f'.tour-card[data-step="{n}"]').wait_for()
    page.wait_for_function(f"() => new URLSearchParams(location.search).get('tour') === '{n}'")
    page.locator('.lens[data-face="see"]').wait_for()
    page.wait_for_function(CARD_STANDS_APART)


def press(page, button: str) -> None:
    page.locator(f'.tour-card [data-go="{button}"]').click()


def begin(visit):
    visitor = visit(LANDSCAPE | {"layer": "2", "query": "3,4", "locked": "true", "draw": "light"})
    visitor.unfold("pages").get_by_role("link", name="Guided tour").click()
    wait_for_step(visitor.page, 1)
    visitor.until("r => r.picture === 'meadow'")  # the tour's own
    return visitor


def wait_until_view_is_back(visitor) -> None:
    """Waits until the view that `begin` chose is back, in Lab."""
    visitor.page.locator('.lens[data-face="lab"]').wait_for()
    visitor.until("r => r.layer === 2 && r.query === '3,4' && r.locked && r.scale !== 1")
    visitor.page.locator('.lens [data-choice="draw"] [data-value="light"][aria-pressed="true"]').wait_for(
        state="attached"
    )
    visitor.page.wait_for_function("() => location.search.includes('draw=light')")
    assert LANDSCAPE.items() <= parameters(visitor.page).items()


def test_the_tour_runs_on_see_to_its_end_and_gives_everything_back(visit):
    visitor = begin(visit)
    for n in range(1, 5):
        wait_for_step(visitor.page, n)
        press(visitor.page, "next")
    visitor.page.locator(".tour-card").wait_for(state="detached")
    visitor.page.wait_for_function("() => !location.search.includes('tour')")
    wait_until_view_is_back(visitor)


def test_the_row_that_a_step_explains_stays_when_the_pointer_goes_to_the_card(visit):
    visitor = visit(MEADOW | {"tour": "1"})
    for n in range(1, 5):
        wait_for_step(visitor.page, n)
        if n > 1:
            faded = visitor.page.locator(".lens.untouched").count()
            assert not faded, f"step {n} begins with a faded picture"
        visitor.point((4, 4))
        visitor.page.locator('.tour-card [data-go="next"]').hover()
        if n > 1:
            faded = visitor.page.locator(".lens.untouched").count()
            assert not faded, f"the picture of step {n} fades"
        press(visitor.page, "next")


def test_on_a_phone_the_card_leaves_room_for_what_it_points_at(visit):
    visitor = visit("tour=2", viewport={"width": 390, "height": 844})
    for n in range(2, 5):
        wait_for_step(visitor.page, n)
        press(visitor.page, "next")
