"""No text of a lesson is lost: each step still shows every text that kept.json holds for it."""

import pytest

from ui.lessons.kept import LESSONS, read_kept, texts_of_steps

pytestmark = pytest.mark.usefixtures("nothing_fetched")


@pytest.mark.parametrize("page", LESSONS)
def test_each_step_says_what_it_said(page):
    kept_texts, current_texts = read_kept()[page], texts_of_steps(page)
    assert [*current_texts] == [*kept_texts]
    for step, texts in kept_texts.items():
        step_text = "\n".join(current_texts[step])
        assert [text for text in texts if text not in step_text] == [], f"{page}, {step}"
