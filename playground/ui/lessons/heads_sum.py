"""Is what a layer's heads do together the sum of what each does alone? Measured when asked for."""

from __future__ import annotations

import streamlit as st

from playground.errors import PlaygroundError
from playground.lessons.questions import Bars, Number, Question
from playground.serving import effort, queue
from playground.ui import guess
from playground.ui.here import Here


@st.fragment
def sum_of_heads(here: Here, seen) -> None:
    """Whether a layer's loss is the sum of its heads' losses, measured when asked for."""
    layer = st.number_input(
        "Layer", 0, seen.layers - 1, min(seen.upper_layer, seen.layers - 1), key="summed", width=160
    )

    from playground.analysis.ablation import addition, passes_of_addition

    try:
        effort.check(seen.vit, seen.grid, passes_of_addition(seen.layers, seen.heads, layer))
    except PlaygroundError as error:
        st.info(str(error), icon=":material/info:")
        return

    def work():
        with queue.turns() as give_way:
            return addition(seen, layer, give_way)

    with st.spinner("Switching heads off, one after the other"):
        found = here.kept(("addition", layer), work)
    values = tuple(100 * loss for loss in (*found.single, found.together, found.whole))
    labels = (*(f"head {head}" for head in range(seen.heads)), "their sum", "all at once")
    sums = 100 * found.together
    guess.ask(
        Question(
            "heads_sum",
            f"One by one they cost {sums:.0f} % together. Switch off **all heads of layer {layer} at once**: ▢.",
            Number(0, round(2 * sums, 1), " %", step=round(sums / 50, 2) or 0.01), values[-1],
            _added_words(layer, found),
            Bars(
                labels, values, 2 * sums, at=len(labels) - 1, unit=" %",
                title="How far the patches’ tokens move after the last layer",
            ),
            prose="The heads of a layer are a **committee**: each writes an opinion of its own, none hears another’s, "
            f"and W_O adds them up. Each bar: one head of layer {layer} is silent.",
            tempting=(((0.97 * sums, 1.03 * sums), "So it would be if all that follows were linear, and heads did "
                       "nothing in common."),),
        ),
        (here.picture.id, here.wish, layer), afresh=True,
    )  # fmt: skip


def _added_words(layer: int, found) -> str:
    single = " + ".join(f"{loss:.1%}" for loss in found.single)
    compared = "more" if found.whole > found.together else "less"
    return (
        f" One by one, the heads of layer {layer} cost {single} = {found.together:.1%}: so far do the patches' tokens "
        f"move after the last layer. All at once they cost {found.whole:.1%}, {compared} than the sum. There is no "
        f"rule: the vectors that two heads add to a patch have a mean cosine of {found.cosine:.2f} here (0: at right "
        "angles), and the norms and MLPs above are not linear. Other layers and pictures answer differently."
    )
