"""The guided tour as data: ten steps, each with what is seen, one thing to do, and the view that it talks about.

`words` stand in the address behind `?tour=` and set the view; `point` names what is outlined, as a CSS selector that
also finds what lies inside a component; `keep` names what the card had better not cover. The steps in the microscope
speak of any picture in any model: what they say holds wherever it is shown.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Step:
    id: str
    page: str
    title: str
    text: str
    task: str
    point: str
    words: dict[str, str] = field(default_factory=dict)
    keep: str = ""
    slim: bool = False  # what matters lies on the left: a slim card stands beside it

    def shown(self) -> dict:
        """What the browser needs to know of it."""
        return asdict(self)


LOCKED = {"locked": "true"}

STEPS = (
    Step(
        "everybody", "microscope", "A patch asks everybody",
        "The outlined patch asks every patch of the picture at once; what lights up is whom it listens to.",
        "Move the cursor: every patch has an answer of its own.",
        ".lens [data-ref=pictureBox]", keep=".lens .title",
    ),
    Step(
        "nine", "microscope", "A convolution asks nine",
        "At the same place, a 3 × 3 convolution reads nine patches, with the same parameters on every picture. Only "
        "a stack of them sees farther: the larger frame.",
        "Press + below it, and the frame grows by one patch on each side.",
        ".lens .beside .picture", LOCKED, ".lens [data-ref=stepper], .lens [data-ref=pictureBox]",
    ),
    Step(
        "heads", "microscope", "Layers and heads differ",
        "Here is the same patch in every layer, downwards, and every head, to the right. Each has queries and keys of "
        "its own, so each answers in its own way.",
        "Click one to enlarge it.",
        ".lens .beside .picture", LOCKED | {"beside": "wall"}, ".lens [data-ref=pictureBox]",
    ),
    Step(
        "patches", "patches", "First, the picture falls apart",
        "Before anybody can ask, the picture is cut into patches, and each becomes a vector: a token.",
        "Point at a patch, and follow its pixels into its numbers.",
        ".drawing .apart", {"patch": "32"},
    ),
    Step(
        "by-hand", "by_hand", "Queries look, keys offer",
        "Nine tokens that nobody trained: a query says what a token looks for, a key what it offers. Where a query "
        "points as a key does, the weight is large.",
        "Turn one key, and watch its column of the table.",
        ".drawing .pair", slim=True,
    ),
    Step(
        "values", "by_hand", "What is received: values",
        "Each token also has a value, here one number. Each receives the mean of all values, weighted by its row: the "
        "last line of the table.",
        "Turn a query, and see what its token receives.",
        ".drawing .pair", {"step": "values"}, slim=True,
    ),
    Step(
        "positions", "patches", "Where a patch was",
        "A token does not know the place of its patch. So each place has a vector of its own, which is added to the "
        "token.",
        "Point at a place: teal places have vectors much like its own.",
        ".drawing .three", {"step": "positions"},
    ),
    Step(
        "block", "block", "Attention adds",
        "What a token receives does not replace it: it is added, like a push. Then a small network, the MLP, adds a "
        "second push, and the next layer begins.",
        "Choose another layer, and compare how long the pushes are.",
        ".st-key-push", {"step": "stream"},
    ),
    Step(
        "switch", "microscope", "What dividing by √d_k does",
        "The switch is off: scores lie farther apart, and the largest takes more. The division is made for the start "
        "of training: where one key takes all, little is learned.",
        "Switch it on and off again, and watch the number on the picture.",
        ".lens .scale", LOCKED | {"scale": "off"}, ".lens .title, .lens [data-ref=pictureBox]",
    ),
    Step(
        "cost", "cost", "What asking everybody costs",
        "1,024 × 1,024 pixels are 4,096 patches, and every head makes 16.8 million scores of them: that is the price.",
        "Finish here, and ask a picture of your own.",
        ".st-key-square", {"image": "1024"}, ".st-key-cost_dials",
    ),
)  # fmt: skip
