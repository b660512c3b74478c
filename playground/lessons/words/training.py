"""What the page Training says and asks."""

from __future__ import annotations

from collections.abc import Sequence

from playground.lessons.colours import QUERY
from playground.lessons.questions import Lines, Mark, Number, Photo, Question, Series, of_choice
from playground.lessons.texts import Exercise, Step, Text

RUNS = WITHOUT, WITH = "A", "B"  # in which of the two a loss read the attention weights
PAIR = "one pair: each has to name the other’s colour"
LOSSES = {  # of the bundled model's run, see workshop/distil.py
    "class": "what kinds of things a drawn scene shows",
    "features": "DINOv2’s feature of each patch",
    "picture": "DINOv2’s feature of the whole picture",
    "rest": "the average of the patches that DINOv2 finds similar to a patch, itself left out: their colours, "
    "texture, features and places",
}

TEXT = Text(
    "training",
    "A model begins with random parameters. Each step of its training changes them a little, so that its **losses** "
    "fall: numbers that say how far its answers are from those that it should give. One idea at a time:",
    {
        "timelapse": Step(
            "1 · From fog to structure",
            "training_when",
            "One run of the bundled model, from its first step to its last. At step 0 chance decides whom a patch "
            "listens to: a row spreads over about {spread:.0f} of the {tokens} tokens (2 to the power of its entropy). "
            "After your guess **play**, and watch how the attention of one patch changes.",
            ("moment", "layer", "head", "patch"),
            (
                Exercise(
                    "Stop the clock at the first moment at which a head has {bits:.1f} bits of entropy or less: "
                    "{fewer} fewer than the sharpest head had at step 0. Is that before or after most of the losses’ "
                    "fall?",
                    "{when}: at step {sharp:,} the sum of the losses has done {share:.0%} of all its falling.",
                    hint="Each line of the chart *Entropy of the heads* is a head. Follow the lowest.",
                    id="training_sharp",
                    tempting={"later": "A head is sharp enough here, but it was so at an earlier moment."},
                ),
                Exercise(
                    "Go to the first moment at which a head has a habit, and choose such a head.",
                    "At step {first:,}: {found}.",
                    hint="In the chart *Habits* each row is a head. Grey is no habit; click a field in another colour.",
                    id="training_first",
                    tempting={"head": "The moment is right. Choose a head that is not grey."},
                ),
            ),
            after="**This model was told which average to predict, and not where to look.** No loss reads its "
            "attention weights, and none knows the objects’ masks. But the average is over patches that its teacher "
            "chose, and whoever looks at those knows it. Its losses ask it to predict:\n\n{asked}\n\n"
            "What changes on the way, drawn as dotted lines in the charts:\n\n{changes}\n\n"
            "Not all of its first parameters are small random numbers: the positions begin as sines and cosines, and "
            "queries and keys are {longer:g} times as long as usual. Otherwise all rows would be nearly even at first, "
            "and it would take longer to learn from them.",
            said={
                "none": "The time-lapse of the bundled model is made of a run by `python -m "
                "playground.training.timelapse RUN`.",
                "another": "The moments of this run are kept for *{sample}* alone.",
                "always": "Always on *{sample}*. Between two moments the picture is blended.",
            },
        ),
        "pair": Step(
            "2 · Told or not?",
            "training_told",
            "The same architecture, trained twice from random parameters ({steps} steps). Every line is a head: how "
            "much of the attention of an object’s patches stays on their own object. The dashed line is an even row, "
            "the dotted one a filter without a network, of colour and nearness alone.",
            after="Run **{WITH}** was told from step {began:,} on: its {heads} coloured heads stood at {before:.0%} at "
            "step {last_before:,}, at {after:.0%} at step {first_after:,}, and end at {told:.0%}. In between no moment "
            "was kept, so the line is open there. They had begun to rise before, as other heads do: this run’s losses "
            "on the patches know the objects. The two runs also differ in their data, their other losses and their "
            "length. Run **{WITHOUT}** was told which average to predict, that of the patches which DINOv2 finds "
            "alike, and not where to look. Its head that is best on other scenes, head {head} of layer {layer}, "
            "reaches {best:.0%}, {times:.0f} times an even row, because looking at those patches helps. But near "
            "patches of one colour are mostly of one object: a filter without a network, which weighs patches by "
            "colour and nearness alone, reaches {filter:.0%} (the dotted line). A map does not show which of the two "
            "ways it came about. The badge *was told to* does, wherever such a head is shown; the taught model is in "
            "*Model* as **our small ViT, told where to look**.",
        ),
        "now": Step(
            "3 · Train two now",
            "training_twin",
            settings=("learner", "layer", "head", "patch"),
            exercises=(
                Exercise(
                    "Train the two. Show the model in which one head is told, and in it that head. Which model looks "
                    "at twins first?",
                    "{looking}",
                    hint="One choice stands above the picture, layers and heads below it, and a line says which head "
                    "is told.",
                    id="training_told_head",
                    tempting={"alone": "The head is right, but this is the model that nobody tells."},
                ),
            ),
            said={
                "begin": "{trouble}On this board every sign lies on two fields. **Each patch has to name the colour "
                "of its twin**, the other patch with the same sign.",
                "models": "Two ViTs learn it from nothing, in about half a minute on two slow cores: {depth} layers, "
                "{heads} heads and {parameters:,} parameters each, the same random ones at the beginning, the same "
                "boards. The only difference: in one of them a second loss tells head {head} of layer {layer} where "
                "the twin is.",
                "failed": "It could not be trained: {trouble}. ",
                "let_go": "So many have trained since that there was no room for yours any more: train again. ",
                "broke_off": "It broke off at step {step}: {trouble}",
                "stopped": "Stopped after {step} steps. What they have learned stays here as long as this page is "
                "open.",
                "done": "Done after {step} steps. **Point at a patch: its twin lights up.** Trained again, they begin "
                "with other random parameters, and look at another board.",
                "one_before": "**One is before you.** They learn one after the other; yours begin by themselves.",
                "some_before": "**{before} are before you.** They learn one after the other; yours begin by "
                "themselves.",
                "beginning": "Beginning…",
                "learning": "Learning: step **{step}** of {all}. Each patch has to name the colour of its twin.",
                "told": "**Told:** {found}",
                "alone": "**Nobody told it**, but the answer stands nowhere else: {found}",
                "found": "head {head} of layer {layer} gives the twin {mass:.0%} of its attention ({times:.0f} × "
                "even){when}.",
                "since": "; above {large:.0%} from step {looking} on, more than half of the answers right from step "
                "{right} on",
                "not_yet": "Train them: then this answer counts the steps.",
                "looking": "More than {large:.0%} of a patch’s attention on its twin, in the best head: {looking}.",
            },
        ),
    },
)


def when(step: int, last: int, at: Sequence[float], losses: Sequence[float], prose: str) -> Question:
    """`losses`: at the steps `at`, their sum, of which the first is 1. The first head has a habit at `step`."""
    return Question(
        "training_when",
        "A head has a **habit** if it does something that can be named on average: it stays near, say, or listens to "
        "patches of the same colour. The first head has one after ▢ steps.",
        Number(10, last, log=True), step,
        f"The whole run has {last:,} steps. No loss asked for this habit. Only some moments of the run were kept, "
        "so it may have come a little earlier.",
        prose=prose,
        tempting=(
            ((0.5 * last, last), "The losses still fall there, but slowly: what is easy is learned early."),
            ((10, max(11, step / 6)), "The losses fall at once, but at first because the model learns what is "
             "frequent; for that no patch has to look at another one."),
        ),
        picture=Lines(
            tuple(at), (Series("sum of the losses", tuple(losses), QUERY),),
            0, 1.05, "step", title="How far the losses have fallen", log_x=True,
            marks=(Mark(step, f"the first habit: step {step:,}"),),
        ),
    )  # fmt: skip


def told() -> Question:
    return of_choice(
        "training_told",
        "In one run a loss read the attention weights of some heads, and compared them with the objects’ masks. Which?",
        {name: f"run {name}" for name in RUNS}, WITH, "",
        {WITHOUT: "Its heads rise as well, though nobody told them where to look: the two charts are much alike."},
    )  # fmt: skip


def twin(board: Photo, prose: str) -> Question:
    return of_choice(
        "training_twin",
        "Nobody tells the first model where to look. Will one of its heads look at a patch’s twin all the same?",
        {
            "yes": "yes: the colour of the twin stands nowhere else",
            "no": "no: it was never told what a twin is",
            "near": "it will look at neighbours, and guess from them",
        },
        "yes",
        "The only loss is on the answer, the twin’s colour. A head that looks at the twin makes it easy, and every "
        "small step in that direction lowers the loss. Train them, and see when.",
        {
            "no": "Nobody tells it *where* to look, but the loss says how well it answers. That is enough to find out.",
            "near": "Neighbours know nothing of the twin’s colour: signs lie at random. It would be right by chance "
            "alone.",
        },
        picture=board, prose=prose,
    )  # fmt: skip
