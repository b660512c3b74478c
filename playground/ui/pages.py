"""Lists the pages of the app, in the order of the toolbar's menu."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    name: str  # the name of the file in pages/, and of the page in an address
    short: str
    title: str
    icon: str
    exports: str | None = None  # the figure layout for this page; "": all layouts; None: no Export

    @property
    def file(self) -> str:
        return f"pages/{self.name}.py"


TITLE, ICON = "Attention Playground", "🔭"  # the window's title and icon
MICROSCOPE = Page("microscope", "Microscope", "Microscope", ":material/center_focus_strong:", exports="")
WALL = Page("moments", "Moments", "Moments", ":material/photo_library:")
LESSONS = (
    Page("by_hand", "By hand", "By hand: attention without training", ":material/pan_tool_alt:"),
    Page("patches", "Patches", "Patches: from pixels to tokens", ":material/grid_on:"),
    Page("shapes", "Shapes", "Shapes: where every dimension comes from", ":material/data_array:"),
    Page("block", "Block", "Block: the rest of a layer", ":material/layers:"),
    Page("scale", "Scale", "Scale: why √d_k", ":material/show_chart:", exports="curves"),
    Page("heads", "Heads", "Heads: what they do", ":material/apps:", exports="atlas"),
    Page("weight", "Weight", "What a weight is not", ":material/balance:"),
    Page("cost", "Cost", "Cost: the quadratic wall", ":material/trending_up:"),
    Page("two_ways", "Two ways", "Two ways to look: convolution and attention", ":material/compare_arrows:"),
    Page("training", "Training", "Training: from fog to structure", ":material/timelapse:"),
    Page("code", "Code", "Code: read it", ":material/code:"),
)
TEACH = Page("teach", "Teach", "For the one who teaches", ":material/school:")
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


def next_page(page: Page) -> Page:
    """The next page to read."""
    pages = list(PAGES.values())
    return pages[(pages.index(page) + 1) % len(pages)]
