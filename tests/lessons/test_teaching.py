"""Teaching material: plans fill their time, links open existing pages, and the sheet's numbers are a
softmax's."""

import html
import math
import re
from pathlib import Path

import pytest
from ideas import ROOT, ideas
from twins import in_javascript

from playground.figures import teaching as printed
from playground.lessons import teaching
from playground.lessons.lesson import Setting
from playground.lessons.registry import LESSONS


@pytest.mark.parametrize("minutes", teaching.PLANS)
def test_a_plan_fills_its_time(minutes):
    assert sum(scene.minutes for scene in teaching.scenes_of("-".join(teaching.PLANS[minutes]))) == minutes


@pytest.mark.parametrize("minutes", teaching.PLANS)
def test_a_plan_tells_the_whole_story_in_its_order(minutes):
    stories = [scene.story for scene in teaching.scenes_of("-".join(teaching.PLANS[minutes])) if scene.story]
    assert stories == list(range(1, 15))


def test_the_story_s_scenes_have_the_story_s_titles():
    body = "return Array.from({ length: 14 }, (_, at) => story_words.STORY_WORDS.en[`title${at + 1}`]);"
    titles = [teaching.SCENES[str(n)].title for n in range(1, 15)]
    assert in_javascript(["story/words"], body) == titles


@pytest.mark.parametrize(
    ("own", "keys"),
    [("1-hands-8", ["1", "hands", "8"]), ("8-1-8", ["8", "1"]), ("", []), ("1-<b>-quiz", ["1", "quiz"])],
)
def test_a_plan_of_one_s_own_has_the_scenes_that_it_names_in_their_order_and_each_once(own, keys):
    assert teaching.scenes_of(own) == [teaching.SCENES[key] for key in keys]


def test_every_link_opens_a_page_in_a_state_that_it_accepts():
    from playground.ui.pages import PAGES

    scenes = [*teaching.SCENES.values(), *(note.show for note in teaching.MISCONCEPTIONS)]
    for scene in scenes:
        page = scene.page
        assert page in PAGES
        if page == "microscope":
            assert scene.words == {"story": str(scene.story)}
        elif page == "teach":
            assert scene.words == {"part": "quiz"}  # tests/browser/test_teach.py opens it
        elif scene.words:
            steps = Setting("", LESSONS[page].steps)
            settings = {**LESSONS[page].choices, "step": steps}
            for name, text in scene.words.items():
                assert str(settings[name].read(text)) == text, (page, name, text)
        class_words = scene.words_for_class
        fixed_words = {} if scene.story else {"model": "bundled", "sample": "meadow"}
        assert class_words.items() >= {"class": "yes", **fixed_words}.items()
        assert not (scene.story and "sample" in class_words), "the story is told on the photograph, not on a drawing"


def test_a_class_link_names_the_step_of_every_scene_so_that_all_see_the_same():
    for scene in teaching.SCENES.values():
        if scene.page in ("microscope", "teach"):
            continue
        if len(LESSONS[scene.page].steps) > 1:
            assert "step" in scene.words, scene.title
    assert teaching.SCENES["scale"].words["dk"] == "64"  # the scene says "Lock a guess for 64 numbers"


def test_the_sheet_can_be_computed_by_hand():
    sheet = teaching.sheet()
    row = []
    for (a, b), (c, d) in zip([sheet.queries[0]] * 9, sheet.keys, strict=True):
        row.append((a * c + b * d) / math.sqrt(2))
    total = sum(math.exp(score) for score in row)
    assert sheet.all_rows[0] == pytest.approx(sheet.weights, abs=1e-3)
    assert [sum(weights) for weights in sheet.all_rows] == pytest.approx([1] * 9)
    assert sheet.weights == pytest.approx([math.exp(score) / total for score in row], abs=1e-3)
    mixture = sum(math.exp(s) / total * v for s, v in zip(row, teaching.VALUES, strict=True))
    assert sheet.mixture == pytest.approx(mixture, abs=0.05)


def value(option: str) -> float | str:
    """The option's number, so that √64 and 8 count as one answer; an option without a number stays a text."""
    match = re.fullmatch(r"(?:about )?(√?)([\d,.]+)(?: times)?", option)
    if not match:
        return option
    number = float(match[2].replace(",", ""))
    return math.sqrt(number) if match[1] else number


def test_each_lesson_has_outcomes_that_its_own_questions_check_and_the_documentation_lists():
    page = (Path(__file__).parents[2] / "docs" / "pages" / "teaching.md").read_text(encoding="utf-8")
    for name, lesson in LESSONS.items():
        assert lesson.outcomes, name
        questions = {step.question for step in lesson.steps.values()}
        for question, can in lesson.outcomes.items():
            assert question in questions, name
            assert f"- {can}\n" in page, name
    assert len(teaching.as_data()["outcomes"]) == sum(len(lesson.outcomes) for lesson in LESSONS.values())


def test_the_quiz_has_thirteen_questions_with_one_right_answer_each():
    questions = teaching.quiz()
    assert len(questions) == 13
    for question in questions:
        assert len({value(option) for option in question.options}) == 4, question.options
        assert 0 <= question.right < 4
    assert questions[0].options[questions[0].right] == "196"
    assert "576" in questions[7].why
    assert re.search(r"2,981", questions[3].why)


@pytest.mark.parametrize("language", [tag for tag in teaching.LANGUAGES if tag != "en"])
def test_handout_and_quiz_speak_every_language_with_its_numbers(language):
    english, quiz = teaching.quiz(), teaching.quiz(language)
    assert [question.right for question in quiz] == [question.right for question in english]
    for question, original in zip(quiz, english, strict=True):
        assert question.asks != original.asks
        assert len(set(question.options)) == 4
        assert set(re.findall(r"\d\d+", question.why)) >= set(re.findall(r"\b\d\d+\b", original.why.replace(",", "")))
    handout = printed.sheet("handout-key", language)
    assert f'<html lang="{language}">' in handout
    decimal = in_javascript(["core/numbers"], f'return core_numbers.localNumber("{language}", "14.52");')
    assert f"<td>{decimal}</td>" in handout
    assert not re.search(r"\{\w+\}", handout + printed.sheet("quiz-key", language))


@pytest.mark.parametrize("name", teaching.SHEETS)
def test_a_sheet_has_its_numbers_or_answers_in_the_key_alone(name):
    given, quiz, text = teaching.sheet(), teaching.quiz(), printed.sheet(name)
    is_key = name.endswith("-key")
    if name.startswith("handout"):
        assert all((f"<td>{weight:.3f}</td>" in text) == is_key for weight in given.weights)
        assert f"<td>({given.queries[0][0]:.1f}, {given.queries[0][1]:.1f})</td>" in text
    else:
        assert all((html.escape(question.why, quote=False).split("d_k")[0] in text) == is_key for question in quiz)
        assert text.count('class="question"') == len(quiz)
    assert not re.search(r"https?:|<script|src=", text), "it asks nobody for anything"


def test_every_idea_has_a_number_a_place_and_a_test_that_exist():
    numbers, lessons = [], set()
    for idea in ideas():
        name, step, _ = idea.place
        numbers.append(idea.number)
        lessons.add(name)
        if name in LESSONS:
            assert step in LESSONS[name].steps, idea
        else:
            assert name in ("see", "story"), idea
        file, _, test = idea.test.partition("::")
        assert (ROOT / file).is_file(), idea
        assert not test or f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), idea
    assert numbers == [*range(1, len(numbers) + 1)]
    assert lessons >= LESSONS.keys()
