"""Does the map explain? Five maps of one patch, scored by what blanking the picture really changes."""

from __future__ import annotations

import numpy as np
import streamlit as st

from playground.errors import PlaygroundError
from playground.lessons.questions import Choice, Pictures, Question
from playground.samples import start_patch
from playground.serving import effort, queue, traces
from playground.serving.pictures import data_url
from playground.ui import guess
from playground.ui.components import picture
from playground.ui.here import Here
from playground.ui.lessons.drawings import lit, outlined

MAPS = {  # name -> (words, why it is tempting where it is not the best)
    "weight": (
        "weight, last layer",
        "It says what is mixed in in one layer. The layers below have mixed before, and the patch's own vector "
        "goes past.",
    ),
    "arrives": (
        "weight × ‖W_O v‖, last layer",
        "It knows how long the values are, which weights alone do not. But it is one layer of many.",
    ),
    "rollout": (
        "rollout, all layers",
        "It multiplies the attention weights of all layers, and leaves out values and MLPs. A patch that gets all the "
        "attention of one head then looks like a source of everything.",
    ),
    "gradient": (
        "gradient × weight, all layers",
        "It follows the answer through all layers. But a gradient speaks of very small changes, and blanking is a "
        "large "
        "one.",
    ),
    "colour": (
        "colour and nearness, no network",
        "Near patches of one colour often belong together, so it is hard to beat. But it knows nothing of this model.",
    ),
}
PROSE = (
    "Each map says, in its way, what matters for one patch. To know, blank a part of the picture and look at how far "
    "the patch’s feature moves."
)
AT_ONCE = 400  # tokens: of more, somebody has to ask for the measurement
SIDE = 360  # pixels of a map


def explain(here: Here) -> None:
    from playground.analysis import explain as lesson
    from playground.pictures.images import displayed

    seen = traces.trace(here.picture, here.wish, here.own)
    query = start_patch(here.picture.name, seen.grid)
    passes, place = lesson.passes(seen.grid), st.empty()
    about = (here.picture.id, here.wish)
    asked = seen.tokens <= AT_ONCE or st.session_state.get("blanked") == about

    def work() -> lesson.Explained:
        with queue.turns() as give_way:
            return lesson.explain(seen, np.asarray(displayed(here.picture.image, seen.size)), query, give_way)

    try:
        effort.check(seen.vit, seen.grid, passes)
    except PlaygroundError as error:
        st.info(str(error), icon=":material/info:")
        return
    with place.container():
        st.markdown(PROSE)
        doing = st.empty()
        picture(outlined(_small(here), seen.grid, query), width=440)
        if not asked:
            label = f"Blank the picture, block by block: {passes} passes"
            doing.button(label, key="blank", icon=":material/grid_off:", on_click=_on_blank, args=(about,))
            return
        with doing, st.spinner(f"Blanking one block after the other: {passes} passes"):
            found = here.kept(("explain", query), work)
    place.empty()
    _question(here, seen, query, found)
    with guess.after("weight_explain"):
        st.markdown(said(found))


def _on_blank(about: tuple) -> None:
    st.session_state.blanked = about


def _small(here: Here):
    image = here.picture.image.convert("RGB")
    image.thumbnail((SIDE, SIDE))
    return image


def _question(here: Here, seen, query: tuple[int, int], found) -> None:
    best = max(found.scores, key=found.scores.get)
    image = _small(here)
    drawn = [data_url(lit(image, shares, query)) for shares in (*found.maps.values(), found.moved)]
    plain = data_url(outlined(image, seen.grid, query))
    names = [words for words, _ in MAPS.values()]
    guess.ask(
        Question(
            "weight_explain",
            "Which of the five foretells best what it changes for the outlined patch when a part of the picture is "
            "blanked?",
            Choice.of({name: words for name, (words, _) in MAPS.items()}), best,
            "Rank correlation with what blanking changes, 1 is perfect: "
            + ", ".join(f"{MAPS[name][0]} **{score:.2f}**" for name, score in found.scores.items())
            + ". One patch of one picture: another one has another order.",
            Pictures(
                (*drawn[:-1], plain), tuple(drawn), (*names, "measured: what blanking changes"),
                image.width / image.height, 400,
            ),
            prose=PROSE,
            tempting=tuple((name, why) for name, (_, why) in MAPS.items() if name != best),
        ),
        (here.picture.id, here.wish),
    )  # fmt: skip


def said(found) -> str:
    from playground.analysis.explain import NAMED_SCENES, ON_THE_NAMED

    row, column = found.top
    return (
        f"{found.blocks} blocks of {found.side} × {found.side} patches were blanked with the picture’s mean colour. "
        f"Outside of its own block, rollout gives most to row {row}, column {column}, {found.top_share:.1%}; "
        f"blanking the "
        f"block around that patch moves the feature by {found.top_moves:.0%} of its length: place {found.top_rank} of "
        f"{found.blocks - 1}. The block of the patch itself is left out of the scores: every map knows that one.\n\n"
        f"Does rollout find what the model *names*? On {NAMED_SCENES} drawn scenes whose things are known, our small "
        f"model’s class token: rollout puts {ON_THE_NAMED['rollout']:.0%} of itself on the things that it names, which "
        f"cover {ON_THE_NAMED['area']:.1%} of the patches: hardly more than chance. Gradient × weight puts "
        f"{ON_THE_NAMED['gradient']:.0%} there."
    )
