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
        "Point at one, and follow its pixels into its numbers.",
        ".drawing .apart", {"patch": "32"},
    ),
    Step(
        "shapes", "shapes", "One layer, step by step",
        "From here on there are only tables of numbers: tokens times width, shared out among heads, joined again. "
        "Here queries meet keys; step on, and every number of a shape says where it comes from.",
        ".walk", {"step": "4"},
    ),
    Step(
        "scale", "scale", "Why the square root",
        "512 numbers in a query and no scale: the scores lie far apart, and softmax gives one key nearly everything. "
        "Turn the scale back to 1/√d_k, and the row is soft again.",
        ".softmax", {"dk": "512", "power": "0.0"},
    ),
    Step(
        "by-hand", "by_hand", "By hand, without training",
        "Nine tokens, and you set their queries and keys: make one key match, and its column lights up. "
        "Nothing is learned here, it only matters who points where.",
        ".drawing .pair",
    ),
    Step(
        "habits", "heads", "What each head does",
        "One cell is one head, coloured by how far away it listens on average. "
        "Point at one to read its habit, click it to open it in the microscope.",
        ".atlas .headgrid", {"measure": "distance"}, ".atlas .card",
    ),
    Step(
        "cost", "cost", "What asking everybody costs",
        "1,024 × 1,024 pixels are 4,096 patches, and every head makes 16.8 million scores of them: that is the price. "
        "Now open a picture of your own in the microscope, and ask it yourself.",
        ".st-key-square", {"image": "1024"}, ".st-key-cost_dials",
    ),
)  # fmt: skip
