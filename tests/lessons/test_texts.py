"""The lessons' texts and questions exist, and their numbers are measured."""

from playground.lessons import block, heads
from playground.lessons.registry import EXERCISES, LESSONS, QUESTIONS
from playground.ui.pages import LESSONS as PAGES


def test_every_lesson_has_a_page():
    assert [*LESSONS] == [page.name for page in PAGES]
    assert len({*QUESTIONS}) == len(QUESTIONS)
    assert len({*EXERCISES}) == len(EXERCISES)


def test_the_slider_of_a_guess_reaches_the_truth():
    push_question = block.push_question((1.8, 2.0, 8.0), (1.7, 2.5, 36.0), (1.0, 2.0, 16.0))
    sum_question = heads.layer_sum_question(3, (0.01, 0.02), 0.03, 0.3, 0.1, (0.04, 0.4))
    for question in (push_question, sum_question):
        assert question.guess.low <= question.truth <= question.guess.high
        assert question.picture.high >= question.truth
