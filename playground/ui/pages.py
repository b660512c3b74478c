"""The pages of the app, in the order in which they are offered."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    name: str  # of the file in pages/, and in the address
    short: str
    title: str
    icon: str

    @property
    def file(self) -> str:
        return f"pages/{self.name}.py"


MICROSCOPE = Page("microscope", "Microscope", "Microscope", ":material/center_focus_strong:")
LESSONS = (
    Page("patches", "Patches", "Patches: from pixels to tokens", ":material/grid_on:"),
    Page("shapes", "Shapes", "Shapes: where every dimension comes from", ":material/data_array:"),
    Page("scale", "Scale", "Scale: why √d_k", ":material/show_chart:"),
    Page("by_hand", "By hand", "By hand: attention without training", ":material/pan_tool_alt:"),
    Page("heads", "Heads", "Heads: what they do", ":material/apps:"),
    Page("cost", "Cost", "Cost: the quadratic wall", ":material/trending_up:"),
    Page("code", "Code", "Code: read it", ":material/code:"),
)
TRAINING = Page("training", "Training", "Training: from fog to structure", ":material/timelapse:")
PAGES = {page.name: page for page in (MICROSCOPE, *LESSONS, TRAINING)}


def after(page: Page) -> Page:
    """Where to go on reading."""
    pages = list(PAGES.values())
    return pages[(pages.index(page) + 1) % len(pages)]
