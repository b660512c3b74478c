"""All heads: of a layer, or of all layers as a matrix of small maps (the layout wall)."""

from __future__ import annotations

from dataclasses import replace

from playground.figures.drawing import captions, maps
from playground.figures.drawing.maps import Domain
from playground.figures.drawing.one_map import OneMap, Other, Shown, Subject
from playground.figures.drawing.spec import Spec
from playground.figures.layouts.layout import Drawn, Layout, layer_scale, small_maps


def of_a_layer(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    heads = range(subject.seen.heads)
    return [OneMap(subject, replace(spec, head=head), layer_scale(spec)) for head in heads]


HEADS = Layout(
    "heads",
    "all heads of a layer",
    of_a_layer,
    caption=lambda spec, shown, span: captions.caption(spec, shown, span, captions.say("layer", layer=spec.layer)),
    titled=lambda spec: captions.title(spec, captions.say("every_head", "of_layer", layer=spec.layer)),
    uses=("colours",),
    unused={"head": "the layout shows all heads"},
    of_heads=True,
)


# The wall


def of_every_layer(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    seen, scale = subject.seen, layer_scale(spec)
    places = [(layer, head) for layer in range(seen.layers) for head in range(seen.heads)]
    return [OneMap(subject, replace(spec, layer=layer, head=head), scale) for layer, head in places]


def matrix(spec: Spec, shown: list[Shown], spans: list[Domain]) -> Drawn:
    from matplotlib.patches import Rectangle

    from playground.figures.drawing import prints
    from playground.figures.drawing.panels import Matrix, photo_panel

    subject, seen = shown[0].subject, shown[0].seen
    patch, (rows, columns) = maps.patch_of(seen, spec.query), seen.grid

    def cell(sheet, axes, layer, head, box) -> None:
        extent = (box.x, box.y, box.x + box.width, box.y + box.height)
        place = layer * seen.heads + head
        sheet.layer(axes, prints.thumbnail(subject.image, shown[place].map.grid, spec, spans[place]), extent)
        if patch is not None and spec.marker and box.width > 0.22:
            x, y = box.x + patch[1] * box.width / columns, box.y + patch[0] * box.height / rows
            frame = Rectangle((x, y), box.width / columns, box.height / rows, fill=False, zorder=3)
            frame.set(edgecolor="white", linewidth=min(1.0, 0.9 * box.width))
            axes.add_patch(frame)

    picture = photo_panel(spec, subject) if spec.made_for.roomy else None
    return Drawn(Matrix(seen.layers, seen.heads, columns / rows, cell, picture))


SMALL = "its maps are too small for it"
WALL = Layout(
    "wall",
    "all heads of all layers",
    of_every_layer,
    matrix,
    caption=lambda spec, shown, span: captions.caption(spec, shown, span, ""),
    titled=lambda spec: captions.title(spec, captions.say("every_head")),
    prepared=lambda spec: small_maps(replace(spec, draw="heat")),
    uses=("colours",),
    unused={
        "layer": "the layout shows all layers",
        "head": "the layout shows all heads",
        "letters": "the layout has no panels of its own",
        **dict.fromkeys(("mass", "mask", "draw", "smooth"), SMALL),
    },
    of_heads=True,
)
