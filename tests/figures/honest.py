"""Shared by the tests of honest figures: ROW, the figure of one row of a small model, and the text of a caption."""

from playground.figures import Spec, layouts
from playground.figures.compose import subjects

ROW = Spec(image="disc.png", model="small", layer=1, head=2, query=(3, 4), purpose="page", dpi=60)


def caption_text(spec, trace, picture, **draw_arguments) -> str:
    return layouts.content(*subjects(spec, trace, picture, **draw_arguments)).caption
