"""Is what a layer's heads do together the sum of what each does alone? Measured when asked for."""

from __future__ import annotations

import streamlit as st

from playground.errors import PlaygroundError
from playground.lessons.words import heads as said
from playground.serving import effort, queue
from playground.serving.here import Here
from playground.ui import guess


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
    question = said.layer_sum(layer, found.single, found.together, found.whole, found.cosine)
    guess.ask(question, (here.picture.id, here.wish, layer), afresh=True)
