"""A soft cursor greets whoever comes for the first time."""

import json

from browser.visitor import Visitor

# What is asked and said while the cursor rests, noted in each frame: however slow the machine, none is missed.
NOTES = """
window.rested = [];
const note = () => {
  const lens = window.theLens();
  if (lens?.ghost?.box?.classList.contains("rests")) {
    const note = JSON.stringify([lens.read().query, lens.refs.sentence.innerText]);
    if (!window.rested.includes(note)) window.rested.push(note);
  }
  requestAnimationFrame(note);
};
requestAnimationFrame(note);
"""


def test_a_newcomer_is_shown_three_patches_and_then_it_is_their_turn_and_never_again(arrive, server):
    visitor = arrive(Visitor, server.url, newcomer=True)
    visitor.context.add_init_script(NOTES)
    visitor.open(early=True)
    ghost = visitor.page.locator(".lens .ghost svg")
    visitor.page.locator(".lens .ghost.turn").get_by_text("your turn").wait_for()
    ghost.wait_for(state="detached")
    rested = [json.loads(note) for note in visitor.page.evaluate("rested")]
    assert len({asked for asked, _ in rested}) == 3, rested
    assert len({said for _, said in rested}) >= 3, rested
    visitor.page.reload()
    visitor.until()
    visitor.rest()
    assert visitor.page.evaluate("localStorage.getItem('attention-playground-been-here')")
    assert ghost.count() == 0


def test_any_movement_ends_it(visit):
    visitor = visit(newcomer=True)
    visitor.page.locator(".lens .ghost svg").wait_for()
    visitor.page.mouse.move(600, 400)
    visitor.page.mouse.move(640, 440)
    visitor.page.locator(".lens .ghost svg").wait_for(state="detached")
    assert not visitor.page.locator(".lens .ghost.turn").count()


def test_who_wants_no_motion_sees_none(visit):
    willing, still = visit(), visit(reduced_motion="reduce")
    greet = "theLens().greet(() => {})"
    assert willing.page.evaluate(greet)
    assert not still.page.evaluate(greet)
