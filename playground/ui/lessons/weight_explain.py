"""Does the map explain? Five maps of one patch, scored by what blanking the picture really changes."""

from __future__ import annotations

from urllib.parse import urlencode

import numpy as np
import streamlit as st

from playground.errors import PlaygroundError
from playground.lessons.words import weight as said
from playground.samples import start_patch
from playground.serving import effort, queue
from playground.serving.here import Here
from playground.serving.pictures import as_jpeg, data_url
from playground.ui import guess, lesson
from playground.ui.components import picture
from playground.ui.lessons import beside
from playground.ui.lessons.drawings import lit, outlined, small

STEP = said.TEXT.steps["explain"]
AT_ONCE = 400  # tokens: of more, somebody has to ask for the measurement


def explain(here: Here) -> None:
    from playground.analysis import cutting
    from playground.analysis import explain as blanking
    from playground.analysis.occlusion import blocks, side_of
    from playground.pictures.images import displayed

    seen = here.traced()
    query = start_patch(here.picture.name, seen.grid)
    room, place = effort.passes_in_time(seen.vit, seen.grid), st.empty()
    finest, coarsest = side_of(seen.grid), side_of(seen.grid, 0)
    edge = cutting.PASSES if len(blocks(seen.grid, coarsest)) + cutting.PASSES <= room else 0
    side = side_of(seen.grid, room - edge)
    blanked = len(blocks(seen.grid, side))
    passes = blanked + edge
    about = (here.picture.id, here.wish)
    asked = seen.tokens <= AT_ONCE or st.session_state.get("blanked") == about

    def work() -> tuple[blanking.Explained, cutting.Edge | None]:
        with queue.turns() as give_way:
            pixels = np.asarray(displayed(here.picture.image, seen.size))
            found = blanking.explain(seen, pixels, query, side, give_way)
            return found, cutting.cut_edge(seen, query, give_way) if edge else None

    with place.container():
        doing = _waiting(here, seen, query)
        try:
            effort.check(seen.vit, seen.grid, passes)
        except PlaygroundError as error:
            doing.info(str(error), icon=":material/info:")
            return
        if not asked:
            label = f"Blank the picture, block by block: {passes} passes"
            doing.button(label, key="blank", icon=":material/grid_off:", on_click=_on_blank, args=(about,))
            return
        with doing, st.spinner(f"Blanking one block after the other: {passes} passes"):
            found, cut = here.kept(("explain", query, side, edge), work)
    place.empty()
    _question(here, seen, query, found)
    with guess.after("weight_explain"):
        if side > finest:
            needed = len(blocks(seen.grid, finest))
            lesson.say(STEP.said["coarse"], side=finest, passes=needed, seconds=effort.MOST_SECONDS)
        _say(found)
        if cut:
            _say_edge(here, seen, query, cut)
        elif not edge:
            lesson.say(STEP.said["no_edge"])


def _waiting(here: Here, seen, query: tuple[int, int]):
    """Draws the picture with the asking patch, and that patch enlarged; returns a place for the button or progress."""
    whole, near, words = st.columns([here.picture.image.width / here.picture.image.height, 1, 0.9])
    with whole:
        picture(outlined(small(here), seen.grid, query))
    with near:
        picture(as_jpeg(beside.enlarged(here.picture.jpeg, seen.grid, query)))
    with words:
        lesson.say(STEP.prose)
        return st.empty()


def _on_blank(about: tuple) -> None:
    st.session_state.blanked = about


def _question(here: Here, seen, query: tuple[int, int], found) -> None:
    best = max(found.scores, key=found.scores.get)
    image = small(here)
    drawn = [data_url(lit(image, shares, query)) for shares in (*found.maps.values(), found.moved)]
    plain = data_url(outlined(image, seen.grid, query))
    question = said.explain(best, found.scores, drawn, plain, image.width / image.height)
    guess.ask(question, (here.picture.id, here.wish))


def _say(found) -> None:
    from playground.analysis.explain import NAMED_SCENES, ON_THE_NAMED

    row, column = found.top
    lesson.say(
        STEP.after, blocks=found.blocks, side=found.side, row=row, column=column, share=found.top_share,
        moves=found.top_moves, rank=found.top_rank, others=found.blocks - 1, scenes=NAMED_SCENES, **ON_THE_NAMED,
    )  # fmt: skip


def _say_edge(here: Here, seen, query: tuple[int, int], edge) -> None:
    """The picture with both ends of the cut edge outlined; beside it, what the cut changes."""
    shown, words = st.columns([1, 3], vertical_alignment="center")
    with shown:
        picture(outlined(small(here), seen.grid, query, edge.twin, edge.around), caption=STEP.said["ends"])
    with words:
        view = {"query": f"{query[0]},{query[1]}", "locked": "true", "cut": edge.cut}
        lesson.say(
            STEP.said["edge"], row=query[0], column=query[1], far_row=edge.twin[0], far_column=edge.twin[1], by=edge.by,
            times=edge.times, others=sum(edge.others) / len(edge.others), blocks=len(edge.others), before=edge.before,
            after=edge.after, link=f"./?{urlencode(here.words() | view)}",
        )  # fmt: skip
