"""The guided tour as data: ten steps of two sentences, each with the view that it talks about.

`words` stand in the address behind `?tour=` and set the view; `point` names what is outlined, as a CSS selector that
also finds what lies inside a component; `keep` names what the card had better not cover.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    id: str
    page: str
    title: str
    text: str
    point: str
    words: dict[str, str] = field(default_factory=dict)
    keep: str = ""


CAT = {"layer": "4", "query": "9,7"}  # in the sample of the meadow
LOCKED = CAT | {"locked": "true"}

STEPS = (
    Step(
        "everybody", "microscope", "A patch asks everybody",
        "The outlined patch asks every patch of the picture at once; what lights up is whom it listens to. "
        "Move the cursor: every patch has an answer of its own.",
        ".lens [data-ref=pictureBox]", CAT, ".lens .beside",
    ),
    Step(
        "nine", "microscope", "A convolution asks nine",
        "At the same place, a 3 × 3 convolution reads nine patches, and its weights are the same on every picture. "
        "Only stacked, layer upon layer, does its view grow: the dashed frame.",
        ".lens .beside .picture", LOCKED, ".lens [data-ref=pictureBox]",
    ),
    Step(
        "heads", "microscope", "Layers and heads differ",
        "Here is the same patch in every layer, downwards, and every head, to the right. "
        "Click one to enlarge it: some listen near, some far, some to what looks alike.",
        ".lens .beside .picture", LOCKED | {"beside": "wall"}, ".lens [data-ref=pictureBox]",
    ),
    Step(
        "switch", "microscope", "What dividing by √d_k is for",
        "The switch is off, scores are not divided any more, and a few patches take nearly all the weight. "
        "Switch it on again: the patch hears many voices.",
        ".lens .scale", LOCKED | {"scale": "off"}, ".lens [data-ref=pictureBox], .lens .numbers",
    ),
    Step(
        "patches", "patches", "First, the picture falls apart",
        "Before anybody can ask, the picture is cut into patches, and each becomes a vector: a token. "
        "Change the patch size, and count them.",
        ".st-key-lesson",
    ),
    Step(
        "shapes", "shapes", "One layer, step by step",
        "From here on there are only tables of numbers: tokens times width, split among the heads, and joined again. "
        "Walk through one layer, and every number of every shape says where it comes from.",
        ".st-key-lesson",
    ),
    Step(
        "scale", "scale", "Why the square root",
        "Scores of longer vectors spread wider, and softmax turns a wide spread into a single winner. "
        "Divided by √d_k they stay where learning still works.",
        ".st-key-lesson",
    ),
    Step(
        "by-hand", "by_hand", "By hand, without training",
        "Nine tokens, and you set their queries and keys: make one key match, and its column lights up. "
        "Nothing is learned here, it is only a matter of who points where.",
        ".st-key-lesson",
    ),
    Step(
        "habits", "heads", "What each head does",
        "One cell is one head, coloured by how far away it listens on average. "
        "Point at one to read its habit, click it to open it in the microscope.",
        ".atlas .headgrid", {"measure": "distance"}, ".atlas .card",
    ),
    Step(
        "cost", "cost", "What asking everybody costs",
        "Twice the patches make four times the questions: that is the price of asking everybody. "
        "Now open a picture of your own in the microscope, and ask it yourself.",
        ".st-key-lesson",
    ),
)  # fmt: skip
