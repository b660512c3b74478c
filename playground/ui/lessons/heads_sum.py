"""Is what a layer's heads do together the sum of what each does alone? Measured when asked for."""

from __future__ import annotations

import streamlit as st

from playground.errors import PlaygroundError
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

    def truth() -> guess.Truth:
        with queue.turns() as give_way:
            found = addition(seen, layer, give_way)
        return guess.Truth("more" if found.whole > found.together else "less", _added_words(layer, found))

    guess.choice(
        "heads_sum",
        f"Switch the heads of layer {layer} off one by one, and add up what is lost. Then switch off all of them at "
        "once. Which loss is larger?",
        {"less": "the sum of the single losses", "more": "the loss of all at once"},
        truth, context=(here.picture.id, here.wish, layer), afresh=True,
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
