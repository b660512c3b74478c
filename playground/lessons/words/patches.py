"""What the page Patches says and asks."""

from __future__ import annotations

from playground.lessons.questions import Number, Photo, Pictures, Question, of_choice
from playground.lessons.texts import Exercise, Step, Text

TEXT = Text(
    "patches",
    "Attention works on a set of vectors, not on pixels. So the picture is cut into **patches**. Each patch is laid "
    "out as one long row of numbers, and one learned matrix turns each row into a **token**. One idea at a time:",
    {
        "cut": Step(
            "1 · The picture falls apart",
            "patches_tokens",
            settings=("patch", "at", "number"),
            exercises=(
                Exercise(
                    "Halve the patch size, from 16 to 8. What happens to the number of tokens, and to attention?",
                    "Four times as many tokens, and sixteen times as many weights: every token has a weight for "
                    "every other.",
                    hint="The patch size stands above the picture.",
                    id="patches_halve",
                ),
            ),
        ),
        "filters": Step(
            "2 · What the matrix looks for",
            "patches_filter",
            "Each number of a token comes from one **filter**: as many numbers as a patch has, so it can be shown as "
            "a picture. The answer is large where a patch looks like its filter. Point at one.",
            ("pictures", "filter"),
        ),
        "extra": Step("3 · Tokens that are no patches", "patches_extra"),
        "positions": Step(
            "4 · Where a patch lies",
            "patches_below",
            "A token does not know where its patch was. In most ViTs a second vector is added, one for each place: "
            "its **position**; others turn queries and keys instead. Point at a place: how alike are the vectors of "
            "all the others?",
            ("table", "place"),
            (
                Exercise(
                    "Show the sinusoidal positions, and point at a place. Which is more alike: the place beside it "
                    "or the one below?",
                    "The one beside it. This formula counts patches along the rows, as words of a text: the place "
                    "beside is one step away, the place below a whole row of steps. It knows nothing of two "
                    "directions.",
                    hint="The choice above the map.",
                    id="patches_sines",
                ),
            ),
        ),
        "shuffle": Step(
            "5 · Without positions",
            "patches_shuffle",
            settings=("positions", "order", "after", "asker"),
            exercises=(
                Exercise(
                    "Switch the positions on. Does attention notice the other order now?",
                    "Yes. A token now holds what its patch shows *and* where it lies. A patch that is moved gets the "
                    "vector of its new place, and with it another query and another key.",
                    hint="The choice above the pictures.",
                    id="patches_told",
                ),
                Exercise(
                    "A convolution has no table of positions. Why does it not need one?",
                    "A convolution’s parameters belong to places: this one for the pixel above, that one for the "
                    "pixel at the left. Attention’s weights are computed from the tokens alone, wherever they stand.",
                ),
            ),
        ),
    },
)


def even() -> Question:
    return of_choice(
        "patches_filter", "A patch is all of one grey. What does a filter answer?",
        {
            "sum": "the grey, times the sum of the filter’s numbers, plus a bias",
            "zero": "0: there is nothing to see in it",
            "grey": "the grey itself",
        },
        "sum",
        "The answer is a sum of products, pixel by pixel. Where all pixels are alike, that is the pixel times the "
        "sum of the filter. Only a filter whose numbers sum to 0, an edge for example, is blind to an even patch.",
        {
            "zero": "That holds for filters that look for edges, whose numbers sum to 0. Others measure brightness or "
            "colour.",
            "grey": "A filter that takes the mean, all numbers alike and summing to 1, would do so.",
        },
    )  # fmt: skip


def below() -> Question:
    return of_choice(
        "patches_below",
        "The sinusoidal formula counts patches along the rows, as words of a text. Which place is more like a place: "
        "the one **beside** it or the one **below** it?",
        {"beside": "the one beside", "below": "the one below", "both": "both alike"},
        "beside",
        "The place beside is one step away, the place below a whole row of steps. The formula knows nothing of two "
        "directions; learned vectors can learn them. See it above under *Sinusoidal*.",
        {
            "below": "Learned vectors may be so, in a model that looks along columns. The formula counts along rows.",
            "both": "On the picture both are one patch away. But the formula has one count, not a row and a column.",
        },
    )  # fmt: skip


def shuffled(both: Pictures) -> Question:
    return of_choice(
        "patches_shuffle",
        "No positions are added, and the patches come in another order. To which patches does each patch listen now?",
        {"same": "to the same as before", "places": "to those at the same places as before", "other": "to others"},
        "same",
        "If the input is permuted, the output is permuted in the same way: **permutation equivariance**.",
        {
            "places": "That is what a convolution does: its parameters belong to places. Attention has the tokens "
            "alone.",
            "other": "It looks as if nothing were left in its place. But a score is q·k of two tokens, and neither "
            "says where it stands.",
        },
        prose="The same network gets the same patches in another order. Does it notice? First without positions, "
        "then with them.",
        picture=both,
    )  # fmt: skip


def extra(name: str, front: tuple[str, ...], shown: Photo) -> Question:
    """`front`: the tokens before the patches, as they are drawn."""
    (rows, columns) = shown.grid
    return of_choice(
        "patches_extra", "The class token enters the first layer. Where do its numbers come from?",
        {
            "learned": "they were learned in training, and are the same for every picture",
            "mean": "they are the mean of all patches",
            "random": "they are drawn at random, anew for every picture",
        },
        "learned",
        "It begins as the same learned vector for every picture; registers do too. What it knows of *this* picture "
        "it hears in the layers, from the patches, as every token hears from every other.",
        {
            "mean": "Some models read out the mean of the patches *after* the last layer instead of a class token. "
            "Before the first, nobody has seen the picture.",
            "random": "Then the answer would change each time. It is fixed, as all parameters are after training.",
        },
        prose=f"Not every token is a patch. Before the {rows * columns:,} patches of your picture {name} puts "
        f"{len(front)} more: " + ", ".join(front) + ".",
        picture=shown,
    )  # fmt: skip


def tokens(size: tuple[int, int], P: int, by_the_model: str, url: str) -> Question:
    """`size` is the picture's height and width, `url` the picture without the pixels that make no whole patch."""
    high, wide = size
    rows, columns = high // P, wide // P
    return Question(
        "patches_tokens",
        f"The picture, {wide} × {high} pixels, is cut into patches of {P} × {P}; the first is outlined. That makes ▢ "
        "patches.",
        Number(10, 4000, log=True), rows * columns,
        f"{wide} ÷ {P} = {wide / P:g} and {high} ÷ {P} = {high / P:g}: {columns} × {rows} whole patches, "
        f"{rows * columns:,}. {by_the_model}",
        tempting=(((min(columns, rows) - 2, max(columns, rows) + 2), "So many lie along one side: multiply both."),),
        picture=Photo(url, (rows, columns), columns / rows, counts=True),
    )  # fmt: skip
