"""The ghost, a soft cursor that moves by itself, greets first-time visitors."""

import pytest

from browser.visitor import Visitor

# Records the query and the page's sentence each time the ghost rests on a patch. Looks in every frame, so that a slow
# machine misses no rest.
RECORD_RESTS = """
window.rests = [];
let rested = false;
const inside = (root, selector) =>
  root.querySelector(selector) ??
  [...root.querySelectorAll("*")].map((part) => part.shadowRoot && inside(part.shadowRoot, selector)).find(Boolean);
const note = () => {
  const rests = Boolean(inside(document, ".lens .ghost.rests:not(.turn)"));
  if (rests && !rested) window.rests.push(null);
  if (rests)
    window.rests.splice(-1, 1, [window.theLens().read().query, inside(document, '.see-says').innerText]);
  rested = rests;
  requestAnimationFrame(note);
};
requestAnimationFrame(note);
"""


@pytest.mark.slow
def test_a_newcomer_is_shown_three_patches_and_then_it_is_their_turn_and_never_again(arrive, server):
    visitor = arrive(Visitor, server.url, newcomer=True)
    visitor.context.add_init_script(RECORD_RESTS)
    visitor.open()
    ghost = visitor.page.locator(".lens .ghost svg")
    visitor.page.locator(".lens .ghost.turn").get_by_text("your turn").wait_for()
    ghost.wait_for(state="detached")
    rests = visitor.page.evaluate("rests")
    assert len({query for query, _ in rests}) == len({sentence for _, sentence in rests}) == len(rests) == 3, rests
    visitor.page.reload()
    visitor.until()
    visitor.rest()
    assert visitor.page.evaluate("localStorage.getItem('attention-playground-been-here')")
    assert ghost.count() == 0
