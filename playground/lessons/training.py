"""The lesson on training: the attention of one patch at a dozen moments of a run, a run whose loss told heads where to
look, and two models that the workbench trains while the reader watches."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go

from playground.assets import MEASURED, TAUGHT_CURVES, TIMELAPSE
from playground.lessons import parts as p
from playground.lessons import pictures
from playground.lessons.lesson import Lesson, Setting, Settings, Step, Subject, TextSetting
from playground.lessons.questions import Lines, Mark, Number, Photo, Question, Series, choice_question
from playground.lessons.timelapse import Beginning, Head, Moment, Timelapse, first_habits, packed_layer, read
from playground.numbers import percent
from playground.pictures import jpegs
from playground.pictures.jpegs import smaller_jpeg
from playground.samples import named

# The step “Told or not?”: two runs of one architecture. In one of them a loss read the attention weights; the reader
# guesses which run that was.

RUN_NAMES = UNTOLD_RUN, TAUGHT_RUN = "A", "B"  # the run without such a loss, the run with it
UNTOLD_COLOUR, TOLD_COLOUR = "rgba(128,128,128,0.4)", p.KEY
FILTER_SHARE = 0.814  # largest share on the own object that a filter of colour and nearness reaches; a test measures it
BEST_HEAD = (3, 0)  # run A: layer and head with the largest share on the own object in other scenes; a test checks it
FIRST_STEP = 10  # the step at which the logarithmic axis begins


def told_or_not(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    untold_run, taught_run = read(TIMELAPSE), read(TAUGHT_CURVES)
    steps = " and ".join(f"{run.moments[-1].step:,}" for run in (untold_run, taught_run))
    yield p.Words(
        f"One architecture, trained twice from random parameters ({steps} steps). A line is a head: how much attention "
        "of an object’s patches stays on their own object. Dashed: an even row. Dotted: a filter of colour and "
        "nearness, without a network."
    )
    guidance = next(beginning for beginning in taught_run.beginnings if beginning.loss == "gathered")
    named_runs = zip(RUN_NAMES, (untold_run, taught_run), strict=True)
    yield p.Row(*(p.Chart(mass_figure(run, f"run {name}"), f"own object {name}", 330) for name, run in named_runs))
    yield p.Ask(choice_question(
        "training_told",
        "In one run a loss read the attention weights of some heads, and compared them with the objects’ masks. Which?",
        {
            UNTOLD_RUN: (f"run {UNTOLD_RUN}",
              "Its heads rise as well, though nobody told them where to look: the two charts are much alike."),
            TAUGHT_RUN: (f"run {TAUGHT_RUN}", ""),
        },
        "",
    ))  # fmt: skip
    title = f"run {TAUGHT_RUN}, the heads that were told"
    yield p.After(
        "training_told",
        p.Chart(mass_figure(taught_run, title, guidance), "own object told", 330),
        p.Words(outcome_words(untold_run, taught_run, guidance)),
        p.Fold(
            "More: how the two runs differ",
            p.Words(
                f"The coloured heads of run {TAUGHT_RUN} had begun to rise before, as other heads do: this run’s "
                "losses on the patches know the objects. No moment was kept in between, so the line is open there. The "
                "runs also differ in their data, their other losses and their length. The badge *was told to* says "
                "which way a head came about, wherever it is shown; the taught model is in *Model* as **our small "
                "ViT, told where to look**."
            ),
        ),
        p.Fold(
            "More: measured on pictures that nothing trained on",
            p.Table(**json.loads(MEASURED.read_text(encoding="utf-8"))),
        ),
    )


def mass_figure(run: Timelapse, title: str, guidance: Beginning | None = None) -> go.Figure:
    """Share on the own object by step, one line a head and one point a saved moment. Heads that the loss `guidance`
    asked to stay on objects are coloured. The lines have a gap where that loss began, between two moments."""
    shares = np.stack([moment.mass for moment in run.moments])  # (M, layers, heads)
    guided_heads = set(guidance.told_heads) if guidance else set()
    steps: list[float | None] = [max(FIRST_STEP, moment.step) for moment in run.moments]
    if guidance:
        gap_index = sum(moment.step < guidance.step for moment in run.moments)
        steps.insert(gap_index, None)
        shares = np.insert(shares, gap_index, np.nan, axis=0)
    figure = go.Figure()
    for layer, head in sorted(np.ndindex(*shares.shape[1:]), key=lambda place: place in guided_heads):
        is_told = (layer, head) in guided_heads
        figure.add_scatter(
            x=steps, y=100 * shares[:, layer, head], mode="lines+markers" if is_told else "lines", showlegend=False,
            connectgaps=False,
            line={"color": TOLD_COLOUR if is_told else UNTOLD_COLOUR, "width": 3 if is_told else 1.2},
            hovertemplate=f"layer {layer}, head {head}: %{{y:.0f}} % at step %{{x:,}}<extra></extra>",
        )  # fmt: skip
    figure.add_hline(y=100 * run.chance, line={"dash": "dash", "color": "gray", "width": 1})
    figure.add_hline(y=100 * FILTER_SHARE, line={"dash": "dot", "color": "gray", "width": 1})
    if guidance:
        figure.add_vline(x=guidance.step, line={"dash": "dot", "color": TOLD_COLOUR})
        text = f"the loss begins: step {guidance.step:,} "
        exponent = float(np.log10(guidance.step))  # on a log axis, plotly wants it as an annotation's x
        figure.add_annotation(x=exponent, y=97, xanchor="right", showarrow=False, text=text)
    figure.update_xaxes(type="log", title="step", dtick=1)
    figure.update_yaxes(range=[0, 100], ticksuffix=" %")
    return figure.update_layout(title={"text": title, "x": 0})


def outcome_words(untold_run: Timelapse, taught_run: Timelapse, guidance: Beginning) -> str:
    best_share, (layer, head) = float(untold_run.moments[-1].mass[BEST_HEAD]), BEST_HEAD
    last_before = [moment for moment in taught_run.moments if moment.step < guidance.step][-1]
    first_after = next(moment for moment in taught_run.moments if moment.step >= guidance.step)
    share_before, share_after, share_at_end = (
        float(np.mean([moment.mass[head] for head in guidance.told_heads]))
        for moment in (last_before, first_after, taught_run.moments[-1])
    )
    return (
        f"Run **{TAUGHT_RUN}** was told from step {guidance.step:,} on: its {len(guidance.told_heads)} coloured heads "
        f"stood at {percent(share_before)} at step {last_before.step:,}, at {percent(share_after)} at step "
        f"{first_after.step:,}, and end at {percent(share_at_end)}. Run **{UNTOLD_RUN}** was told which average to "
        "predict, that of the patches which DINOv2 finds alike, and not where to look. Its head that is best on other "
        f"scenes, head {head} of layer {layer}, reaches {percent(best_share)}, {best_share / untold_run.chance:.0f} "
        "times an even row. But near patches of one colour are mostly of one object: the filter reaches "
        f"{percent(FILTER_SHARE)}. A map does not show which of the two ways it came about."
    )


LAYER_COUNT = 6  # of the model in the time-lapse
PICTURE_SIDE = 640  # pixels along the picture's longer side
MOST_HEADS = 20  # layers, and heads of a layer, that an address can name
SHARPER_BITS = 2  # bits: a head is sharp once its entropy is this far below the lowest one at the start
LONGER = 4  # factor of the initial lengths of queries and keys; see workshop/recipe.py
LOSS_TEXTS = {  # what each loss of the bundled model's run asks for; see workshop/distil.py
    "class": "what kinds of things a drawn scene shows",
    "features": "DINOv2’s feature of each patch",
    "picture": "DINOv2’s feature of the whole picture",
    "rest": "the average of the patches that DINOv2 finds similar to a patch, itself left out: their colours, "
    "texture, features and places",
}


def timelapse(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    run = read(TIMELAPSE)
    step, habits = first_habits(run)
    from playground.pack import unpack

    curve = run.curve[run.curve[:, 0] > 0]
    drawn_steps = curve[np.unique(np.geomspace(1, len(curve), 60).astype(int) - 1)]
    loss_sums = drawn_steps[:, 1:].sum(1)
    first_moment, last_step = run.moments[0], run.moments[-1].step
    yield p.Ask(Question(
        "training_when",
        "A head has a **habit** if what it does on average has a name: it stays near, say, or listens to the same "
        "colour. The first head has one after ▢ steps.",
        Number(10, last_step, log=True), step,
        f"The whole run has {last_step:,} steps. No loss asked for this habit. Only some moments of the run were kept, "
        "so it may have come a little earlier.",
        prose="One run of the bundled model. At step 0 chance decides whom a patch listens to: a row spreads over "
        f"about {2 ** first_moment.habits.entropy.mean():.0f} of the {unpack(first_moment.trace)[0]['tokens']} tokens. "
        "After your guess **play**: the attention of one patch changes.",
        tempting=(
            ((0.5 * last_step, last_step), "The losses still fall there, but slowly: what is easy is learned early."),
            ((10, max(11, step / 6)), "The losses fall at once, but at first because the model learns what is "
             "frequent; for that no patch has to look at another one."),
        ),
        picture=Lines(
            tuple(drawn_steps[:, 0].tolist()),
            (Series("sum of the losses", tuple((loss_sums / loss_sums[0]).tolist()), p.QUERY),),
            0, 1.05, "step", title="How far the losses have fallen", log_x=True,
            marks=(Mark(step, f"the first habit: step {step:,}"),),
        ),
    ))  # fmt: skip
    loss_lines = "\n".join(f"- *{name}*: {LOSS_TEXTS[name]}" for name in run.losses)
    change_lines = "\n".join(f"- step {beginning.step:,}: {beginning.says}" for beginning in run.beginnings)
    layer = min(settings.layer, LAYER_COUNT - 1)
    jpeg = smaller_jpeg((subject.with_other(sample=run.sample) or subject).jpeg, PICTURE_SIDE)
    blob = subject.cached(("timelapse", layer), lambda: packed_layer(run, layer, jpeg))
    yield p.After(
        "training_when",
        p.Drawing("reel", blob, ("moment", "layer", "head", "patch")),
        p.Words(f"Always on *{named(run.sample).title}*. Between two moments the picture is blended.", small=True),
        p.Words(
            "**This model was told which average to predict, and not where to look.** No loss reads its attention "
            "weights; none knows the objects’ masks. But its teacher chose the patches of the average, and whoever "
            "looks at those knows it."
        ),
        p.Fold("More: what its losses ask it to predict", p.Words(loss_lines)),
        p.Fold("More: what changes on the way, the dotted lines of the charts", p.Words(change_lines)),
        p.Fold(
            "More: how its parameters begin",
            p.Words(
                "Not all are small random numbers. Positions begin as sines and cosines; queries and keys are "
                f"{LONGER:g} times as long as usual. Otherwise all rows would be nearly even at first, and "
                "it would take longer to learn from them."
            ),
        ),
        sharp_exercise(run),
        first_exercise(run, step, habits),
    )


def sharp_exercise(run: Timelapse) -> p.Exercise:
    bits, sharp_moment = sharp_bits(run), first_sharp_moment(run)
    share = share_of_the_fall(run, sharp_moment)
    right_time = "after" if share > 0.5 else "before"
    why = f"The losses have done {percent(share)} of their fall there."
    # the page opens at moments[-1]
    later_steps = [moment.step for moment in run.moments[:-1] if moment.step > sharp_moment.step]
    return p.Exercise(
        f"Stop the clock at the first moment at which a head has {bits:.1f} bits of entropy or less: {SHARPER_BITS} "
        "fewer than the sharpest head had at step 0. Is that before or after most of the losses’ fall?",
        f"{right_time.title()}: at step {sharp_moment.step:,} the sum of the losses has done "
        f"{percent(share)} of all its falling.",
        hint="Each line of the chart *Entropy of the heads* is a head. Follow the lowest.",
        id="training_sharp",
        done=p.When({"moment": [sharp_moment.step]}),
        answers=[(time, "" if time == right_time else why) for time in ("before", "after")],
        tempting=[
            (p.When({"moment": later_steps}), "A head is sharp enough here, but it was so at an earlier moment.")
        ],
    )


def sharp_bits(run: Timelapse) -> float:
    return float(run.moments[0].habits.entropy.min()) - SHARPER_BITS


def first_sharp_moment(run: Timelapse) -> Moment:
    return next(moment for moment in run.moments if moment.habits.entropy.min() <= sharp_bits(run))


def share_of_the_fall(run: Timelapse, moment: Moment) -> float:
    losses = run.curve[:, 1:].sum(1)
    index = min(int(np.searchsorted(run.curve[:, 0], moment.step)), len(losses) - 1)
    return float((losses[0] - losses[index]) / (losses[0] - losses[-1]))


def first_exercise(run: Timelapse, step: int, habits: dict[str, list[Head]]) -> p.Exercise:
    heads = sorted({head for habit_heads in habits.values() for head in habit_heads})
    named_heads = "; ".join(f"*{kind}*: {heads_in_words(habit_heads)}" for kind, habit_heads in habits.items())
    return p.Exercise(
        "Go to the first moment at which a head has a habit, and choose such a head.",
        f"At step {step:,}: {named_heads}.",
        hint="In the chart *Habits* each row is a head. Grey is no habit; click a field in another colour.",
        id="training_first",
        done=tuple(p.When({"moment": [step], "layer": [layer], "head": [head]}) for layer, head in heads),
        tempting=[(p.When({"moment": [step]}), "The moment is right. Choose a head that is not grey.")],
    )


def heads_in_words(heads: list[Head]) -> str:
    """For example "head 0 of layer 2, heads 1 and 4 of layer 3"."""
    heads_by_layer: dict[int, list[str]] = {}
    for layer, head in heads:
        heads_by_layer.setdefault(layer, []).append(str(head))
    groups = []
    for layer, (*other_heads, last_head) in heads_by_layer.items():
        plural, others_words = ("s", ", ".join(other_heads) + " and ") if other_heads else ("", "")
        groups.append(f"head{plural} {others_words}{last_head} of layer {layer}")
    return ", ".join(groups)


FIELD_SIDE = 96  # pixels along a field of the board
PAIR_CAPTION = "one pair: each has to name the other’s colour"
NEEDS_TEXT = (
    "**Only the app trains:** it runs on your own machine, in about half a minute on two slow cores. Below stands how "
    "to get it."
)


def train_two_now(subject: Subject, settings: Settings) -> Iterator[p.Part]:
    yield p.Words(
        "On this board every sign lies on two fields. **Each patch has to name the colour of its twin**, the other "
        "patch with the same sign."
    )
    yield p.Workbench("train", "Train the two now", NEEDS_TEXT)
    from playground import training  # a slow import
    from playground.vit import VisionTransformer

    board_image = training.board_image(0, FIELD_SIDE)
    fields, aspect = (training.SIDE, training.SIDE), board_image.width / board_image.height
    pair_picture = pictures.only_patches(board_image, fields, training.twin_fields(0), PAIR_CAPTION)
    photo = Photo(jpegs.small_url(jpegs.as_jpeg(board_image)), fields, aspect, beside=pair_picture)
    config, (layer, head) = training.CONFIG, training.TOLD_HEAD
    count = sum(parameter.numel() for parameter in VisionTransformer(config).parameters())
    yield p.Ask(choice_question(
        "training_twin", "Nobody tells the first model where to look. Will one of its heads look at a patch’s twin "
        "all the same?",
        {
            "yes": ("yes: the colour of the twin stands nowhere else", ""),
            "no": ("no: it was never told what a twin is",
              "Nobody tells it *where* to look, but the loss says how well it answers. That is enough to find out."),
            "near": ("it will look at neighbours, and guess from them",
              "Neighbours know nothing of the twin’s colour: signs lie at random. It would be right by chance alone."),
        },
        "The only loss is on the answer, the twin’s colour. Every small step towards the twin lowers it. Train them.",
        picture=photo,
        prose=f"Two ViTs learn it from nothing, in about half a minute on two slow cores: {config.depth} layers, "
        f"{config.heads} heads and {count:,} parameters each, the same random ones at the beginning, "
        f"the same boards. The only difference: in one of them a second loss tells head {head} of layer {layer} where "
        "the twin is.",
    ))  # fmt: skip


FIRST_HABIT_LAYER = 1  # the layer in which heads first have a habit, as a test checks
SETTINGS: dict[str, Setting] = {
    "moment": TextSetting("", pattern=r"\d{1,6}"),  # a step; "": the last moment
    "layer": Setting(BEST_HEAD[0], range(MOST_HEADS), (FIRST_HABIT_LAYER, BEST_HEAD[0])),
    "head": Setting(BEST_HEAD[1], range(MOST_HEADS)),
    "patch": TextSetting("", pattern=r"\d{1,2},\d{1,2}"),
}

LESSON = Lesson(
    "training",
    "A model begins with random parameters. Each step of its training changes them a little, so that its **losses** "
    "fall: numbers that say how far its answers are from those that it should give.",
    SETTINGS,
    {
        "timelapse": Step(
            "1 · From fog to structure", timelapse, "training_when", ("training_sharp", "training_first"),
            ("moment", "layer", "head", "patch"),
            picture=False,
        ),
        "pair": Step("2 · Told or not?", told_or_not, "training_told", picture=False),
        "now": Step("3 · Train two now", train_two_now, "training_twin", picture=False),
    },
    outcomes={
        "training_when": "say when in a training heads take up habits",
        "training_told": "tell whether a head was told where to look",
    },
)  # fmt: skip
