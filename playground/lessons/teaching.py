"""Material for a lecturer: plans, the usual misconceptions, a sheet to compute by hand, and a quiz.

The page Teach shows it, and figures/teaching.py prints it.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from playground.analysis import by_hand
from playground.lessons.by_hand import TOKENS, VALUES, first_arrows
from playground.lessons.registry import LESSONS

ASKING_TOKEN = 0  # the token of the handout whose row students compute

FIXED_WORDS = {"model": "bundled", "sample": "meadow"}


@dataclass(frozen=True)
class Scene:
    minutes: int
    title: str
    do: str  # advice for the lecturer
    page: str
    words: dict[str, str] = field(default_factory=dict)

    @property
    def story(self) -> int:
        """The number of the story's scene; 0 if the scene is not from the story."""
        return int(self.words.get("story", 0))

    @property
    def words_for_class(self) -> dict[str, str]:
        """The words of an address that hides what a class does not need and fixes a lesson's model and sample, so that
        all see the same; the page Teach puts its own picture and model in their place."""
        return ({} if self.story else FIXED_WORDS) | self.words | {"class": "yes"}


def _story(scene: int, minutes: int, title: str, do: str) -> Scene:
    return Scene(minutes, title, do, "microscope", {"story": str(scene)})


# All scenes. The address of a lecturer's own plan lists their keys.
SCENES = {
    "1": _story(
        1, 3, "Where does it look?",
        "Say nothing at first. Let the room press the place, or point. Only then name layer and head, and promise "
        "that every number of the next scenes is of this patch.",
    ),
    "2": _story(
        2, 2, "Patches",
        "Let them compute how many numbers a patch has before you read it. What does a patch know of its neighbour? "
        "Nothing yet.",
    ),
    "3": _story(
        3, 4, "Nine, or everybody",
        "Stack layers with the slider, count 9, 25, 49 aloud. Guess. Then the button: one layer, all patches. To be "
        "able to look at all is not yet to look: that depends on what the patches hold.",
    ),
    "4": _story(
        4, 3, "Tokens and places",
        "Hands up for *yes* and for *no*. Most say yes. Ask somebody who said no for the reason: a score compares "
        "what tokens hold.",
    ),
    "5": _story(
        5, 4, "A library",
        "Multiply one of the three products aloud: so a token becomes a query. Then the three books. Easy to find, "
        "little inside: come back to it in scene 9. Say that what asks here was rewritten by the layers before.",
    ),
    "6": _story(6, 3, "One score by hand", "Compute one product aloud. Their sum, divided, is the score."),
    "7": _story(
        7, 3, "Shares",
        "e to the power of each, divided by the sum: the last line. Ask what a score of 0 becomes: not a share of "
        "0.",
    ),
    "8": _story(
        8, 4, "The volume knob",
        "Do our products cancel, do a random query’s? Turn the volume down: all alike. Up to the mark: the row that "
        "was trained. Guess. Then further: it clips. This is an experiment; the model was trained with the "
        "division.",
    ),
    "9": _story(
        9, 3, "The mixture",
        "Follow the arrows to their end. Then find the token whose upper bar is long, its lower one short.",
    ),
    "10": _story(
        10, 4, "Heads",
        "Guess in how many heads the patch looks there. Then read the small pictures: who agrees, who elsewhere? "
        "W_O joins them.",
    ),
    "11": _story(
        11, 3, "Layers",
        "Norm, sum, MLP in every layer. The old token is always added: by how many degrees has it turned, and "
        "towards whom? Then ask the class token.",
    ),
    "12": _story(
        12, 3, "An answer",
        "Guess. Then let somebody name patches to cut: when does the answer fall? What is left without any patch?",
    ),
    "13": _story(
        13, 2, "Two sinks",
        "Much of every row goes to one token. Ask first: does it carry nothing, or one thing to all?",
    ),
    "14": _story(
        14, 4, "What it is not",
        "A share is no importance; zero or mean tells how much the head does. Guess the factor; then show the ten "
        "lines that compute this row, and say what comes next: their own photographs.",
    ),
    "hands": Scene(
        14, "By hand",
        "Hand out the sheet; each pair of seats computes one row. Guess on the screen, then drag an arrow and compare.",
        "by_hand", {"step": "arrows"},
    ),
    "cut": Scene(
        8, "From pixels to tokens", "Guess the number of patches. Let the picture fall apart.", "patches",
        {"step": "cut", "patch": "16"},
    ),
    "shuffle": Scene(
        7, "Without positions", "Guess. Shuffle without positions, then with them: what has changed?", "patches",
        {"step": "shuffle"},
    ),
    "shapes": Scene(
        10, "One layer, step by step",
        "Guess the shape of the scores. Step through all nine; stop at softmax.", "shapes", {"example": "picture"},
    ),
    "stream": Scene(
        8, "What a layer adds", "Guess the length of the push, then go from layer to layer: a push to the side.",
        "block", {"step": "stream"},
    ),
    "scale": Scene(
        6, "Why √d_k", "Lock a guess for 64 numbers. Turn d_k up without the scale, then switch it on.", "scale",
        {"step": "row", "dk": "64", "power": "0.0"},
    ),
    "row": Scene(
        8, "Heads, one by one", "Somebody paints where a patch will look. Reveal. Then another head.", "heads",
        {"step": "row"},
    ),
    "weight": Scene(
        6, "What a weight is not", "Let the room guess in how many rows the brightest patch is not the one that adds "
        "most.", "weight", {"step": "carries"},
    ),
    "cost": Scene(
        6, "What it costs", "Guess the share of the pairs. Then both ratios out of one figure: turn the switches.",
        "cost", {"step": "formulas", "count": "scores", "other": "depthwise"},
    ),
    "shift": Scene(
        6, "A shifted picture", "Who expects the ViT to answer the same? Reveal.", "two_ways",
        {"step": "shift", "moved": "1"},
    ),
    "quiz": Scene(
        8, "Questions of the quiz", "Five of the thirteen questions by show of hands. The rest is for home.", "teach",
        {"part": "quiz"},
    ),
}  # fmt: skip
PLANS = {  # minutes -> keys of scenes; both plans follow the story, and the longer one adds scenes
    45: ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14"),
    90: (
        "1", "2", "3", "4", "shuffle", "5", "6", "hands", "7", "8", "9", "10", "row", "11", "stream", "12", "13", "14",
        "quiz",
    ),
}  # fmt: skip


def scenes_of(text: str) -> list[Scene]:
    """The scenes of a plan in an address, which names them by their keys, joined by hyphens."""
    return [SCENES[key] for key in dict.fromkeys(text.split("-")) if key in SCENES]


SHEETS = {  # sheet to print -> its title; figures/teaching.py writes them
    "handout": "Nine tokens by hand: one sheet",
    "handout-key": "… with the numbers filled in",
    "quiz": "Quiz of thirteen questions",
    "quiz-key": "… with the answers",
}


@dataclass(frozen=True)
class Misconception:
    heard: str  # what students say
    true: str
    show: Scene


MISCONCEPTIONS = (
    Misconception(
        "The weight says how important a patch is.",
        "It says which share of the patch's value is mixed in. A short value adds little at any weight; what the "
        "answer depends on is found out by changing something.",
        SCENES["weight"],
    ),
    Misconception(
        "The class token sees everything.",
        "It has one query in each head, as every token has, and its weights sum to 1 as well. What it holds in the end "
        "went through all layers.",
        Scene(0, "", "", "weight", {"step": "locked"}),
    ),
    Misconception(
        "Heads have jobs by design.",
        "They start with random parameters and differ by what training makes of them. Names such as “fixed offset” are "
        "given afterwards, from averages. If a head was told where to look, the page Training says so.",
        Scene(0, "", "", "training"),
    ),
    Misconception(
        "The map explains the decision.",
        "One map is one head in one layer. Later layers mix it further, and the token also goes past attention on the "
        "skip connection. To know, blank parts of the picture and measure what changes.",
        Scene(0, "", "", "weight", {"step": "explain"}),
    ),
    Misconception(
        "Dividing by √d_k only makes numbers smaller.",
        "It keeps the softmax from giving nearly everything to one key. Trained scores may still lie far apart: the "
        "scale sets where they start.",
        SCENES["scale"],
    ),
    Misconception(
        "Attention always costs more than a convolution.",
        "It depends on what is counted and on the number of tokens. QKᵀ alone against a depthwise convolution is N / "
        "k²; the whole attention against a dense convolution of the same width is below 1 for a few hundred tokens.",
        Scene(0, "", "", "cost", {"step": "formulas"}),
    ),
    Misconception(
        "A Vision Transformer does not care where a patch is.",
        "Attention alone does not: without positions, shuffled patches give shuffled answers. That is why positions "
        "are added.",
        Scene(0, "", "", "patches", {"positions": "off"}),
    ),
)


@dataclass(frozen=True)
class QuizQuestion:
    asks: str
    options: tuple[str, ...]
    right: int
    why: str


QUIZ_RIGHT = (1, 0, 0, 2, 2, 1, 3, 2, 1, 1, 1, 1, 2)  # the right option of each question
OPTION_KEYS = "abcd"


def quiz(language: str = "en") -> tuple[QuizQuestion, ...]:
    words = sheet_words(language)
    tokens, more_tokens = (224 // 16) ** 2, (384 // 16) ** 2
    numbers = {
        "tokens": tokens, "more": more_tokens, "times": local(f"{(more_tokens / tokens) ** 2:.1f}", language),
        "ratio": f"{math.exp(8):,.0f}" if language == "en" else f"{math.exp(8):.0f}",
    }  # fmt: skip
    return tuple(
        QuizQuestion(
            words[f"quiz{n}"],
            tuple(words[f"quiz{n}{key}"] for key in OPTION_KEYS),
            right,
            words[f"quiz{n}why"].format(**numbers),
        )
        for n, right in enumerate(QUIZ_RIGHT, 1)
    )


WORDS = Path(__file__).parent.parent / "microscope" / "words"  # a file for each language
LANGUAGES = ("en", "de", "zh", "es", "fr")
COMMA_LANGUAGES = ("de", "es", "fr")  # as in microscope/core/numbers.js


def local(number: str, language: str) -> str:
    return number.replace(".", ",") if language in COMMA_LANGUAGES else number


@cache
def sheet_words(language: str) -> dict[str, str]:
    """The words of the handout and the quiz: the table SHEETS_… of a language's file. A value is one string, or the
    lines of one."""
    text = (WORDS / f"{language}.js").read_text(encoding="utf-8")
    table = text.partition(f"export const SHEETS_{language.upper()} = ")[2].partition("\n};")[0] + "}"
    table = re.sub(r"^(\s*)(\w+):", r'\1"\2":', table, flags=re.MULTILINE)
    values = json.loads(re.sub(r",(\s*[\]}])", r"\1", table))
    lines = {key: [value] if isinstance(value, str) else value for key, value in values.items()}
    return {key: ("" if language == "zh" else " ").join(value) for key, value in lines.items()}


def as_data() -> dict[str, object]:
    return {
        "plans": {str(minutes): keys for minutes, keys in PLANS.items()},
        "scenes": {
            key: {
                "title": scene.title,
                "minutes": scene.minutes,
                "do": scene.do,
                "story": scene.story,
                "asks": _asks(scene),
                **_links(scene),
            }
            for key, scene in SCENES.items()
        },
        "notes": [{"heard": note.heard, "true": note.true, **_links(note.show)} for note in MISCONCEPTIONS],
        "quiz": [asdict(question) for question in quiz()],
        "quizzes": {language: [asdict(question) for question in quiz(language)] for language in LANGUAGES},
        "sheets": SHEETS,
        "outcomes": [
            {"page": name, "step": step, "can": lesson.outcomes[record.question]}
            for name, lesson in LESSONS.items()
            for step, record in lesson.steps.items()
            if record.question in lesson.outcomes
        ],
    }


def _asks(scene: Scene) -> bool:
    """Whether a class is asked a question there. The story knows itself which of its scenes ask."""
    lesson = LESSONS.get(scene.page)
    return lesson is not None and bool(lesson.steps[scene.words.get("step", next(iter(lesson.steps)))].question)


def _links(scene: Scene) -> dict[str, object]:
    return {"page": scene.page, "words": scene.words, "for_class": scene.words_for_class}


@dataclass(frozen=True)
class Sheet:
    """Nine tokens: queries and keys of two numbers, values of one. Students compute the row of one token by hand."""

    queries: list[list[float]]
    keys: list[list[float]]
    products: list[float]  # the asking token's query times each key
    scores: list[float]  # the products ÷ √2
    powers: list[float]  # e to the power of each score
    weights: list[float]
    all_rows: list[list[float]]  # of all tokens
    mixture: float  # the mean of the values, weighted by the row of the token that asks


def sheet() -> Sheet:
    arrows = by_hand.arrows_from_text(first_arrows(), tokens=2 * len(TOKENS))
    assert arrows is not None
    queries, keys = ([[round(x, 1) for x in arrow] for arrow in part.tolist()] for part in arrows.chunk(2))
    products = [round(sum(a * b for a, b in zip(queries[ASKING_TOKEN], key, strict=True)), 2) for key in keys]
    scores = [product / math.sqrt(2) for product in products]
    powers = [math.exp(score) for score in scores]
    weights = [power / sum(powers) for power in powers]
    mixture = sum(weight * value for weight, value in zip(weights, VALUES, strict=True))
    return Sheet(queries, keys, products, scores, powers, weights, by_hand.weights(arrows).tolist(), mixture)
