"""What the whole network then predicts."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from playground.analysis import scale as softmax
from playground.lessons.colours import CHANGED, WEIGHTS
from playground.lessons.questions import Photo
from playground.lessons.words import scale as said
from playground.models.names import plain_name
from playground.serving import queue
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.drawings import photo
from playground.ui.lessons.scale import INSTEAD
from playground.ui.lessons.scale_passes import BELOW, choose_instead, passes, width

state = st.session_state


def predictions(here: Here) -> None:
    """What the whole network predicts with the other scale in every layer."""
    where = st.empty()
    with where, st.spinner("Running the network with the scale and without …"):
        on, off, _ = passes(here)
    where.empty()
    d, verdicts = width(on), softmax.verdicts(on, off)
    if not verdicts:
        _guess_features(here, on, off, d)
        choose_instead(d)
        return
    _guess_verdict(here, verdicts, d)
    with guess.after("scale_answer"):
        choose_instead(d)
        _all_verdicts(on, off, verdicts, d)


def _guess_verdict(here: Here, verdicts: list, d: int) -> None:
    labels, on = ([getattr(v, name) for v in verdicts] for name in ("label", "on"))
    question = said.verdict(labels, [100 * share for share in on], 100 * verdicts[0].off, d, _prose(here, d))
    guess.ask(question, (here.picture.id, here.wish.model, state.instead))


def _prose(here: Here, d: int) -> str:
    return said.other_scale(plain_name(here.wish.model), d, INSTEAD[state.instead].replace("d_k", str(d)))


def _guess_features(here: Here, on, off, d: int) -> None:
    import torch

    def work():
        with queue.turn():
            before, after = (seen.features()[len(seen.prefix) :] for seen in (on, off))
        return torch.cosine_similarity(before, after, dim=-1)  # (patches,)

    alike = here.kept(("turned by a scale", state.instead), work)
    (rows, columns), heat = on.grid, tuple((1 - alike).clamp(min=0).tolist())
    shown = Photo(photo(here.picture.jpeg), (rows, columns), columns / rows, heat=heat)
    question = said.features(float(alike.mean()), _prose(here, d), shown)
    guess.ask(question, (here.picture.id, here.wish.model, state.instead))


def _all_verdicts(on, off, verdicts: list, d: int) -> None:
    figure = go.Figure()
    labels = [v.label for v in verdicts]
    for values, name, colour in (
        ([v.off for v in verdicts], f"with {INSTEAD[state.instead]}, in every layer".replace("d_k", str(d)), CHANGED),
        ([v.on for v in verdicts], f"with 1/√{d}", WEIGHTS),
    ):
        figure.add_bar(
            y=labels, x=values, orientation="h", name=name, marker_color=colour, text=[f"{p:.0%}" for p in values],
            textposition="outside", cliponaxis=False, hovertemplate="%{y}: %{text} " + name + "<extra></extra>",
        )  # fmt: skip
    figure.update_layout(barmode="group", bargap=0.25, legend=BELOW | {"traceorder": "reversed"})
    figure.update_xaxes(range=[0, 1.08], tickformat=".0%", title="probability")
    figure.update_yaxes(autorange="reversed", type="category", ticksuffix="  ")
    lesson.chart(figure, "verdicts", height=120 + 44 * len(labels), name="predictions with and without the scale")
    changed = ", ".join(f"*{v.label}* from {v.on:.0%} to {v.off:.0%}" for v in softmax.changed(on, off)[:3])
    lesson.say(said.TEXT.steps["answer"].after, changed=changed)
