"""Lists the learner's pages, in the order of the menu."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    name: str  # in an address
    title: str


MICROSCOPE = Page("microscope", "Microscope")
WALL = Page("moments", "Moments")
LESSONS = (
    Page("by_hand", "By hand: attention without training"),
    Page("patches", "Patches: from pixels to tokens"),
    Page("shapes", "Shapes: where every dimension comes from"),
    Page("block", "Block: the rest of a layer"),
    Page("scale", "Scale: why √d_k"),
    Page("heads", "Heads: what they do"),
    Page("weight", "What a weight is not"),
    Page("cost", "Cost: the quadratic wall"),
    Page("two_ways", "Two ways to look: convolution and attention"),
    Page("training", "Training: from fog to structure"),
    Page("code", "Code: read it"),
)
TEACH = Page("teach", "For the one who teaches")
PAGES = {page.name: page for page in (MICROSCOPE, WALL, *LESSONS, TEACH)}
MODEL_PARTS = {  # a part of the model, in the model's order -> (page about the part, pages on which it is highlighted)
    "Picture": ("patches", ("training", "code")),
    "Patches": ("patches", ("patches", "training", "code")),
    "+ Positions": ("patches", ("patches", "two_ways", "training", "code")),
    "Norm": ("block", ("block", "training", "code")),
    "Attention": (
        "shapes", ("by_hand", "shapes", "scale", "heads", "weight", "cost", "two_ways", "training", "code"),
    ),
    "+": ("block", ("block", "weight", "training", "code")),
    "Norm ": ("block", ("block", "training", "code")),
    "MLP": ("block", ("block", "training", "code")),
    "+ ": ("block", ("block", "training", "code")),
    "Norm  ": ("block", ("training", "code")),
    "Answer": ("block", ("training", "code")),
}  # fmt: skip
BEFORE_LAYERS, AFTER_LAYERS = ("Picture", "Patches", "+ Positions"), ("Norm  ", "Answer")  # parts outside of the layers
