"""A soft cursor greets whoever comes for the first time."""


def test_a_newcomer_is_shown_three_patches_and_then_it_is_their_turn_and_never_again(visit):
    visitor = visit(newcomer=True)
    ghost, title = visitor.page.locator(".lens .ghost svg"), visitor.part("sentence")
    ghost.wait_for()
    asked, said = set(), set()
    for _ in range(3):
        visitor.page.locator(".lens .ghost.rests svg").wait_for()
        asked.add(visitor.read()["query"])
        said.add(title.inner_text())
        visitor.page.locator(".lens .ghost:not(.rests) svg, .lens .ghost.turn svg").wait_for()
    visitor.page.locator(".lens .ghost.turn").get_by_text("your turn").wait_for()
    ghost.wait_for(state="detached")
    assert len(asked) == 3, asked
    assert len(said) == 3, said
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
