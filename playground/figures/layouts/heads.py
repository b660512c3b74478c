"""The layouts of one head, of several queries, of colours of features, of a head beside a convolution, and of all heads
as small maps (“wall”)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from playground.errors import PlaygroundError
from playground.figures.drawing import captions, maps
from playground.figures.drawing.maps import Domain
from playground.figures.drawing.one_map import OneMap, Other, ShownMap, Subject
from playground.figures.drawing.option_words import read_query
from playground.figures.drawing.spec import Spec
from playground.figures.layouts.layout import DrawnPanels, Layout, default_caption, layer_scale, one_head, small_maps
from playground.models.names import plain_name

# One head: the picture and the map. A narrow figure is the map alone.

MOST_QUERIES = 6  # the most queries in one picture


def panels(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    queries = [spec.query]
    if spec.other_queries:
        queries += [read_query(place) for place in spec.other_queries.split("-")]
    if len(queries) > MOST_QUERIES:
        raise PlaygroundError(f"At most {MOST_QUERIES} patches have colours of their own; given were {len(queries)}.")
    return [OneMap(subject, replace(spec, query=query), layer_scale(spec)) for query in queries]


def draw(spec: Spec, drawn_maps: list[ShownMap], domains: list[Domain]) -> DrawnPanels:
    from playground.figures.drawing.panels import Panels, has_room, map_panel, photo_panel

    if spec.other_queries:
        return _queries_together(spec, drawn_maps, domains[0])
    (panel,), (domain,) = drawn_maps, domains
    panel_list = [map_panel(panel, domain, captions.method(spec), captions.place(spec))]
    if has_room(spec, len(panel_list), panel_list[0].aspect):
        panel_list = [photo_panel(spec, panel.subject), *panel_list]
    return DrawnPanels(Panels(panel_list))


def _queries_together(spec: Spec, drawn_maps: list[ShownMap], domain: Domain) -> DrawnPanels:
    """Several queries in one picture, each with its own colour and outline."""
    from playground.figures.drawing import prints
    from playground.figures.drawing.panels import Panel, Panels

    subject, grids = drawn_maps[0].subject, [panel.map.grid for panel in drawn_maps]
    patches = [maps.patch_of(subject.seen, panel.spec.query) for panel in drawn_maps]

    def mark(sheet, axes, box) -> None:
        """Marks each query with its own colour, and with its own shape for prints in grey."""
        for patch, ink, symbol in zip(patches, prints.INKS, prints.SYMBOLS, strict=False):
            sheet.mark(axes, patch, box, colour=ink, halo="black")
            sheet.sign(axes, patch, box, symbol)

    def draw(sheet, axes, box) -> None:
        sheet.print(axes, subject.image, box, partial(prints.photo_with_queries, grids=grids, domain=domain))
        for grid, ink, dashes in zip(grids, prints.INKS, prints.DASHES, strict=False) if spec.mass else ():
            sheet.outline(axes, prints.outline(grid, spec), box, ink, dashes)
        mark(sheet, axes, box)

    def photo(sheet, axes, box) -> None:
        sheet.photo(axes, subject.image, box)
        mark(sheet, axes, box)

    panel_list = [Panel(captions.method(spec), captions.place(spec), subject.seen.grid, draw)]
    if spec.made_for.roomy:
        panel_list = [Panel("queries", f"{len(drawn_maps)} patches", subject.seen.grid, photo), *panel_list]
    words = [captions.query_phrase(panel.spec.query) for panel in drawn_maps]
    return DrawnPanels(Panels(panel_list), tuple(zip(prints.INKS, words, prints.SYMBOLS, strict=False)), bar=False)


def caption(spec: Spec, drawn_maps: list[ShownMap], domain: Domain) -> str:
    if spec.other_queries:
        return captions.queries_caption(spec, drawn_maps, domain)
    return default_caption(spec, drawn_maps, domain)


HEAD = Layout("head", "one head", panels, draw, caption, uses=("other_queries",), alive=True)


# The colours of features after a layer: the same as --what components.


ALIKE_REASON = "the layout components shows all patches alike"
COLOURS_REASON = "the colours of features are no numbers on a scale"

COMPONENTS = Layout(
    "components",
    "the colours of the features after a layer: their first three principal components",
    one_head,
    HEAD.draw,
    titled=lambda spec: captions.say("components", "title", model=plain_name(spec.model), layer=spec.layer),
    prepared=lambda spec: replace(spec, what="components"),
    unused={
        **dict.fromkeys(("query", "head", "direction", "what", "marker"), ALIKE_REASON),
        **dict.fromkeys(("over", "mass", "mask"), COLOURS_REASON),
    },
)


# Attention beside what a convolution reads, in the order of the screen.


def draw_beside_convolution(spec: Spec, drawn_maps: list[ShownMap], domains: list[Domain]) -> DrawnPanels:
    from playground.figures.drawing.panels import Panels, has_room, kernel_panel, map_panel, photo_panel

    (panel,), (domain,) = drawn_maps, domains
    sub = captions.place(spec)
    if spec.direction == "row" and spec.way.of_heads:
        sub = f"reads all {panel.map.grid.size}, {sub}"
    panel_list = [map_panel(panel, domain, captions.method(spec), sub), kernel_panel(spec, panel.subject)]
    if has_room(spec, len(panel_list), panel_list[0].aspect):
        panel_list = [photo_panel(spec, panel.subject), *panel_list]
    return DrawnPanels(Panels(panel_list))


CONVOLUTION = Layout(
    "convolution",
    "attention, and what a 3×3 convolution reads, side by side",
    one_head,
    draw_beside_convolution,
    uses=("kernel", "depth"),
    asks=True,
)


def panels_of_layer(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    heads = range(subject.seen.heads)
    return [OneMap(subject, replace(spec, head=head), layer_scale(spec)) for head in heads]


HEADS = Layout(
    "heads",
    "all heads of a layer",
    panels_of_layer,
    caption=lambda spec, shown, domain: captions.caption(spec, shown, domain, captions.say("layer", layer=spec.layer)),
    titled=lambda spec: captions.title(spec, captions.say("every_head", "of_layer", layer=spec.layer)),
    uses=("colours",),
    unused={"head": "the layout shows all heads"},
    of_heads=True,
)


# The wall: every head of every layer as a small map.


def panels_of_all_layers(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    trace, scale = subject.seen, layer_scale(spec)
    places = [(layer, head) for layer in range(trace.layers) for head in range(trace.heads)]
    return [OneMap(subject, replace(spec, layer=layer, head=head), scale) for layer, head in places]


def draw_matrix(spec: Spec, drawn_maps: list[ShownMap], domains: list[Domain]) -> DrawnPanels:
    from matplotlib.patches import Rectangle

    from playground.figures.drawing import prints
    from playground.figures.drawing.panels import Matrix, photo_panel

    subject, trace = drawn_maps[0].subject, drawn_maps[0].seen
    query_patch, (rows, columns) = maps.patch_of(trace, spec.query), trace.grid

    def cell(sheet, axes, layer, head, box) -> None:
        extent = (box.x, box.y, box.x + box.width, box.y + box.height)
        index = layer * trace.heads + head
        sheet.layer(axes, prints.thumbnail(subject.image, drawn_maps[index].map.grid, spec, domains[index]), extent)
        if query_patch is not None and spec.marker and box.width > 0.22:
            x, y = box.x + query_patch[1] * box.width / columns, box.y + query_patch[0] * box.height / rows
            frame = Rectangle((x, y), box.width / columns, box.height / rows, fill=False, zorder=3)
            frame.set(edgecolor="white", linewidth=min(1.0, 0.9 * box.width))
            axes.add_patch(frame)

    picture = photo_panel(spec, subject) if spec.made_for.roomy else None
    return DrawnPanels(Matrix(trace.layers, trace.heads, columns / rows, cell, picture))


SMALL_REASON = "its maps are too small for it"
WALL = Layout(
    "wall",
    "all heads of all layers",
    panels_of_all_layers,
    draw_matrix,
    caption=lambda spec, shown, domain: captions.caption(spec, shown, domain, ""),
    titled=lambda spec: captions.title(spec, captions.say("every_head")),
    prepared=lambda spec: small_maps(replace(spec, draw="heat")),
    uses=("colours",),
    unused={
        "layer": "the layout shows all layers",
        "head": "the layout shows all heads",
        "letters": "the layout has no panels of its own",
        **dict.fromkeys(("mass", "mask", "draw", "smooth"), SMALL_REASON),
    },
    of_heads=True,
)
