"""Each idea of docs/ideas.md is opened where the table says, and is something to touch or to see there."""

from itertools import groupby

import pytest
from ideas import ideas

from playground.lessons.registry import LESSONS

SORTED = sorted(ideas(), key=lambda idea: idea.place)
PLACES = {name: [*group] for name, group in groupby(SORTED, lambda idea: idea.place[0])}
INSIDE = {  # kind of a lesson's part -> what it is made of
    "drawing": "canvas, svg, p, input, button",
    "chart": ".lesson-chart > svg",
    "choice": "button",
    "slider": "input",
    "picture": "img",
    "table": "td",
    "code": "pre",
    "ask": "canvas, svg, img, button",
}
OPEN_STEP = """(step) => {  // what the former step shows counts no longer
  for (const part of document.querySelectorAll("#lesson [class^=lesson-]")) part.dataset.former = "";
  document.querySelector(`.lesson-steps [data-step="${step}"]`).click();
}"""
FIND = """([fold, kind, inside]) => {
  const folds = [...document.querySelectorAll("#lesson .lesson-fold:not([data-former]) details")];
  const root = fold ? folds.find((one) => one.firstElementChild.textContent.includes(fold))
    : document.querySelector("#lesson");
  if (!root) return false;
  if (fold) root.open = true;
  return [...root.querySelectorAll(`.lesson-${kind}:not([data-former])`)].some((part) => {
    if (!part.clientHeight || (!fold && part.closest("details"))) return false;
    part.scrollIntoView();
    const seen = (part.shadowRoot ?? part).querySelector(inside)?.getBoundingClientRect();
    return seen?.width > 5 && seen.height > 5;
  });
}"""


@pytest.mark.parametrize("name", [name for name in PLACES if name in LESSONS])
def test_an_idea_of_a_lesson_is_something_to_touch_or_to_see_where_the_table_says(visit, name):
    page = visit("sample=meadow&model=bundled").page
    page.goto(f"{page.url.split('?')[0]}{name}?sample=meadow&model=bundled&step={PLACES[name][0].place[1]}")
    page.locator("#lesson [class^=lesson-]").first.wait_for()
    for step, rows in groupby(PLACES[name], lambda idea: idea.place[1]):
        if page.locator(f'.lesson-steps [data-step="{step}"]:not([aria-current="step"])').count():
            page.evaluate(OPEN_STEP, step)
        for idea in rows:
            page.wait_for_function(FIND, arg=[idea.place[2], idea.kind, INSIDE[idea.kind]])


def test_ideas_of_the_story_and_of_see_stand_on_a_picture(visit):
    page = visit("sample=meadow&model=bundled").page
    page.locator("canvas >> visible=true").first.wait_for()
    for idea in PLACES["story"]:
        page.goto(f"{page.url.split('?')[0]}?sample=meadow&model=bundled&story={idea.place[1]}")
        page.get_by_text(f"The story · {idea.place[1]} of").wait_for()
        page.locator("canvas >> visible=true").first.wait_for()
