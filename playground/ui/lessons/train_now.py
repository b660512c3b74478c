"""Two small models trained on the spot, side by side: nobody tells the one where to look, one head of the other is."""

from __future__ import annotations

import time
from threading import Lock
from uuid import uuid4
from weakref import WeakSet

import plotly.graph_objects as go
import streamlit as st

from playground.lessons.colours import KEY
from playground.lessons.questions import Photo
from playground.lessons.settings import Setting
from playground.lessons.words import training as said
from playground.serving import pictures
from playground.serving.cache import MB
from playground.serving.pictures import Picture
from playground.serving.queue import OVER, SERVED, Queue, Ticket, pieces
from playground.training import quick
from playground.training.quick import ALONE, TOLD, Learner
from playground.ui import guess, lesson
from playground.ui.lessons import beside, reel
from playground.ui.lessons.drawings import photo
from playground.ui.lessons.reel import Film

NAMES = {ALONE: "Nobody tells it where to look", TOLD: "One head is told"}
LINES = {ALONE: ("nobody tells it", "#7A7C85"), TOLD: ("one head is told", KEY)}
LEARNER = Setting.of(ALONE, NAMES)
FINE = 96  # pixels of a field on the screen
STEP = said.TEXT.steps["now"]
LARGE = 0.25  # a share of the attention that nobody takes for chance
MOST_FINISHED = 100 * MB  # of all people's finished runs together; deploy/README.md counts on it

state = st.session_state


@st.cache_resource(show_spinner=False)
def _queue() -> Queue:
    return Queue()


class Trial:
    """One person's two models: a place in the queue, then they learn, then what they have come to."""

    def __init__(self, seed: int):
        self.seed, self.id, self.board = seed, uuid4().hex, board(seed)
        self.learned: dict[str, Learner] = {}
        self.films: dict[str, Film] = {}
        self.pointed: tuple | None = None  # which model and which of its heads was put on the screen by us
        self.ended = 0.0  # when
        self.let_go = False  # others have finished since, and there was no room for all
        self.ticket: Ticket = _queue().run(self._work)

    def _work(self, ticket: Ticket) -> None:
        try:
            with pieces(ticket) as give_way:
                quick.train_now(self._tell, give_way, quick.recipes(self.seed))
        finally:
            _keep(self)

    @property
    def bytes(self) -> int:
        """Of what it has come to."""
        return sum(one.bytes for one in list(self.learned.values()))

    def forget(self) -> None:
        self.learned, self.films, self.let_go = {}, {}, True

    def _tell(self, learned: dict[str, Learner]) -> None:
        for name in learned.keys() - self.films.keys():
            self.films[name] = Film(
                f"{self.id}-{name}", self.board, quick.planned(), whole=True, aim="On its twin", habits=quick.HABITS,
                kinds=quick.kinds, told=learned[name].told,
            )  # fmt: skip
        self.learned = learned

    @property
    def before(self) -> int:
        """How many come first. Who does not ask for a while is taken to have left."""
        return _queue().before(self.ticket)

    @property
    def served(self) -> bool:
        return self.ticket.state == SERVED

    @property
    def over(self) -> bool:
        return self.ticket.state == OVER

    @property
    def step(self) -> int:
        learned = self.learned
        return learned[ALONE].lapse.moments[-1].step if learned else 0


_finished: WeakSet[Trial] = WeakSet()  # a run goes when its page does
_finishing = Lock()


def _keep(trial: Trial) -> None:
    """Among the finished ones, of which those are let go that ended longest ago when all together take too much."""
    with _finishing:
        trial.ended = time.monotonic()
        _finished.add(trial)
        held = sum(one.bytes for one in _finished)
        for one in sorted(_finished, key=lambda one: one.ended):
            if held <= MOST_FINISHED or one is trial:
                break
            held -= one.bytes
            one.forget()


@st.cache_resource(max_entries=8, show_spinner=False)
def board(seed: int) -> Picture:
    """The board that the models of this seed are watched on."""
    fine, coarse = (quick.image(seed, patch) for patch in (FINE, quick.PATCH))
    return Picture("a board of pairs", False, pictures.as_jpeg(fine), coarse)


def learning() -> bool:
    return "trial" in state and not state.trial.over


def before() -> int:
    """Asked every second, also while something else is shown, for it keeps the place in the queue."""
    return state.trial.before if "trial" in state else 0


def show(before: int) -> None:
    trial: Trial | None = state.get("trial")
    learned, films = (trial.learned, trial.films) if trial else ({}, {})  # they may be let go meanwhile
    _controls(trial, before)
    if not learned:
        _guess_alone(trial.seed if trial else 0)
        _exercise({})
        return
    state.setdefault("learner", LEARNER.default)
    st.segmented_control(
        "Which of the two", NAMES, key="learner", format_func=NAMES.get, required=True, label_visibility="collapsed"
    )  # fmt: skip
    learner = learned[state.learner]
    head = _point(trial, state.learner, learner)
    reel.show(films[state.learner], learner.lapse, not trial.over, beside=trial.id, place=f"{head}")
    _both(trial, learned)
    _exercise(learned)


def _guess_alone(seed: int) -> None:
    shown = board(seed)
    width, height = shown.image.size
    pair = quick.pair(seed)
    second = beside.only(quick.image(seed, FINE), quick.FIELDS, pair, said.PAIR)
    c, (layer, head) = quick.SMALL, quick.TOLD_HEAD
    prose = STEP.said["models"].format(
        depth=c.depth, heads=c.heads, parameters=quick.weights(), head=head, layer=layer
    )  # fmt: skip
    guess.ask(said.twin(Photo(photo(shown.jpeg), quick.FIELDS, width / height, beside=second), prose))


def _point(trial: Trial, name: str, learner: Learner) -> tuple[int, int]:
    """Shows the head that looks at the twin most, until somebody chooses another one."""
    if trial.pointed is None or trial.pointed[0] != name or trial.pointed[1] == (state.layer, state.head):
        mass, layer, head = learner.best
        state.layer, state.head = (layer, head) if mass > LARGE else quick.TOLD_HEAD
        trial.pointed = (name, (state.layer, state.head))
    return trial.pointed[1]


def _controls(trial: Trial | None, before: int) -> None:
    words, button = st.columns([5, 1.3], vertical_alignment="center")
    with button:
        if trial and not trial.over:
            st.button("Stop" if trial.served else "Leave the queue", on_click=trial.ticket.stop, width="stretch")
        else:
            st.button("Train again" if trial else "Train now", type="primary", on_click=_begin, width="stretch")
    words.markdown(_said(trial, before))


def _said(trial: Trial | None, before: int) -> str:
    words, trouble = STEP.said, trial.ticket.trouble if trial else None
    if trial is None or (trial.over and not trial.learned):
        why = words["let_go"] if trial and trial.let_go else words["failed"].format(trouble=trouble) if trouble else ""
        return words["begin"].format(trouble=why)
    if trouble:
        kind = "broke_off"
    elif trial.over:
        kind = "stopped" if trial.step < quick.Pairs().steps else "done"
    elif trial.served:
        kind = "learning"
    else:
        kind = "beginning" if not before else "one_before" if before == 1 else "some_before"
    return words[kind].format(step=trial.step, trouble=trouble, before=before, all=quick.Pairs().steps)


def _begin() -> None:
    state.trial = Trial(state.trial.seed + 1 if "trial" in state else 0)


# Both beside each other -----------------------------------------------------------------------------------------------


def _both(trial: Trial, learned: dict[str, Learner]) -> None:
    answers = {name: one.right for name, one in learned.items()}
    looks = {name: [float(moment.mass.max()) for moment in one.lapse.moments] for name, one in learned.items()}
    steps = [moment.step for moment in learned[ALONE].lapse.moments]
    left, right = st.columns(2)
    with left:
        lesson.chart(_chart("Right answers", steps, answers, quick.GUESS, "a guess"), "now_right", 240)
    with right:
        title = "Attention on the twin, best head"
        lesson.chart(_chart(title, steps, looks, quick.EVEN, "even"), "now_twin", 240)
    if trial.over and trial.step == quick.Pairs().steps:
        st.markdown(" ".join(_sentence(name, one) for name, one in learned.items()))


def _chart(title: str, steps: list[int], values: dict, chance: float, chance_is: str) -> go.Figure:
    """The two models in one chart, with what chance would give."""
    figure = go.Figure()
    for name, line in values.items():
        label, colour = LINES[name]
        figure.add_scatter(x=steps, y=line, mode="lines", name=label, line={"color": colour, "width": 2.5})
    figure.add_hline(
        y=chance, line={"dash": "dash", "color": "gray", "width": 1},
        annotation={"text": f"{chance_is}: {chance:.0%}", "yanchor": "bottom"},
    )  # fmt: skip
    figure.update_xaxes(title="step", range=[0, quick.Pairs().steps])
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    return figure.update_layout(title={"text": title, "x": 0}, legend={"x": 1, "xanchor": "right", "y": 0.5})


def _since(one: Learner) -> tuple[int | None, int | None]:
    """From which step on its best head looks at twins, and from which on most answers are right; None: not yet."""
    moments = one.lapse.moments
    looking, right = (
        next((moment.step for moment, much in zip(moments, values, strict=True) if much > level), None)
        for values, level in (([float(m.mass.max()) for m in moments], LARGE), (one.right, 0.5))
    )
    return looking, right


def _exercise(learned: dict[str, Learner]) -> None:
    """`learned` is empty as long as there is nothing to show."""
    done = bool(learned) and (state.layer, state.head) == quick.TOLD_HEAD
    done = done and (state.learner == TOLD or "alone")
    looking = _compared(learned) if learned else STEP.said["not_yet"]
    lesson.exercises(STEP, {"training_told_head": done}, looking=looking)


def _compared(learned: dict[str, Learner]) -> str:
    now = learned[ALONE].lapse.moments[-1].step
    looking = {name: _since(one)[0] for name, one in learned.items()}
    found = [
        f"{LINES[name][0]}: " + (f"from step {step} on" if step is not None else f"not by step {now}")
        for name, step in looking.items()
    ]
    return STEP.said["looking"].format(large=LARGE, looking="; ".join(found))


def _sentence(name: str, one: Learner) -> str:
    """What it has come to, in numbers."""
    mass, layer, head = one.best
    (looking, right), words = _since(one), STEP.said
    since = words["since"].format(large=LARGE, looking=looking, right=right) if None not in (looking, right) else ""
    found = words["found"].format(head=head, layer=layer, mass=mass, times=mass / quick.EVEN, when=since)
    return words["told" if name == TOLD else "alone"].format(found=found)
