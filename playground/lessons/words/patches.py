"""What the page Patches says and asks."""

from __future__ import annotations

from collections.abc import Sequence

from playground.lessons.questions import Number, Photo, Pictures, Question, of_choice
from playground.lessons.texts import Exercise, Step, Text

ONE = "the outlined patch, {P} × {P} pixels"


def front(prefix: Sequence[str]) -> tuple[str, ...]:
    """Names of the tokens that are no patches."""
    names = {"cls": "CLS", "dist": "DIST"}
    return tuple(names.get(token, token.replace("reg", "R")) for token in prefix)


TEXT = Text(
    "patches",
    "Attention works on a set of vectors, not on pixels. So the picture is cut into **patches**. Each patch is laid "
    "out as one long row of numbers, and one learned matrix turns each row into a **token**. One idea at a time:",
    {
        "cut": Step(
            "1 · The picture falls apart",
            "patches_tokens",
            settings=("patch", "at", "number"),
            after="What is multiplied are **normalised** pixels: each divided by 255, less a mean, divided by a "
            "deviation. For red, green and blue this model’s means are {mean}, its deviations {std}.\n\n"
            "Both give {tokens:,} × {width:,} numbers. The largest difference between them, measured just now "
            "on this picture: **{difference:.1e}**, where a typical number is {typical:.2f}.",
            said={
                "stretched": " This model learned filters of {own} × {own} pixels; for {patch} × {patch} they are "
                "{stretched}, so that a token keeps what it says.",
                "by_model": "In the microscope, {model} reads it at {wide} × {high} with patches of {own} × {own}: "
                "{columns} × {rows} = {patches:,}{extra}.",
                "extra": ", and {count} tokens more in front of them ({names})",
                "extra_one": ", and one token more in front of them ({names})",
            },
            exercises=(
                Exercise(
                    "Halve the patch size, from 16 to 8. What happens to the number of tokens, and to attention?",
                    "Four times as many patches, and so about sixteen times as many weights: each token has a weight "
                    "for each token, itself included.",
                    hint="The patch size stands above the picture.",
                    id="patches_halve",
                    tempting={"larger": "Now a patch is larger, and there are fewer tokens."},
                ),
            ),
        ),
        "filters": Step(
            "2 · What the matrix looks for",
            "patches_filter",
            "Each number of a token comes from one **filter**: as many numbers as a patch has, so it can be shown as "
            "a picture. The answer is large where a patch looks like its filter. Point at one.",
            ("pictures", "filter"),
            after="A filter has three planes, and their answers are **summed**: of number {number}, at row {row}, "
            "column {column}: red {red}, green {green}, blue {blue}, bias {bias}; together **{whole}**, one number of "
            "the token. Nothing of the token is “the red part”.",
        ),
        "extra": Step(
            "3 · Tokens that are no patches",
            "patches_extra",
            after="Attention treats them alike: all {all:,} have queries, keys and values, so the table of weights has "
            "{cells:,} cells instead of {fewer:,}. (A ViT of 14 × 14 = 196 patches has 197 tokens with a class token, "
            "and 201 with 4 registers more.)",
            said={
                "none": "This model has patches only: no class token, no registers.",
                "cls": "class token: what the last layer makes of it stands for the whole picture",
                "dist": "distillation token, which another network taught",
                "reg": "registers: room to keep what belongs to no place",
                "learned": "learned, the same for every picture",
                "patches": "the picture, and their positions",
                "native": "At the size that it was trained on, {model} has:",
            },
        ),
        "positions": Step(
            "4 · Where a patch lies",
            "patches_below",
            "A token does not know where its patch was. In most ViTs a second vector is added, one for each place: "
            "its **position embedding**; others turn queries and keys instead. Point at a place: how alike are the "
            "vectors of all the others?",
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
                    tempting={
                        "rotary": "These are turned, by row *and* column. The sinusoidal ones are the second choice."
                    },
                ),
            ),
            said={
                "learned": "This model has a vector for every place of the pictures that it was trained on; for "
                "another grid they are interpolated. All were **learned**: training changed them, as it did all other "
                "parameters.",
                "began": " They did not begin as noise, but as sines and cosines of row and column; the cosine between "
                "a vector of today and its beginning is {cosine:.2f} on average.",
                "random": "This model has a vector for every place. Nothing was learned yet: they are random.",
                "rotary": "This model has **no table**: it turns queries and keys by angles that grow with row and "
                "column. The table shows the sines and cosines of these angles.",
                "sinusoidal": "**Sines and cosines** of falling frequency, by the formula; nothing is learned. Counted "
                "along the rows of the picture, the patch below is as far away as the row is long.",
                "turned": "**Nothing is added.** Half of a head’s numbers are turned by angles of the row, half by "
                "angles of the column (rotary positions in two dimensions, RoPE). The map: the mean cosine of the "
                "angles between two places; the score of a query with an equal key there grows with it. A turned query "
                "and a turned key have a score that depends only on the *way* from one place to the other: 2 rows down "
                "and 3 columns right, from wherever on this grid, one q·k differs by at most {turned:.0e}. With "
                "vectors that are *added*, random ones here, it differs by up to {added:.0f}.",
                "none": "This model is told nothing about places.",
            },
        ),
        "shuffle": Step(
            "5 · Without positions",
            "patches_shuffle",
            settings=("positions", "order", "after", "asker"),
            after="All {heads} heads, all rows, put back in order: the largest difference of a weight is "
            "**{difference:.1e}**; the largest weight is {largest:.2f}. {noticed}",
            said={"off": "Attention did **not notice**.", "on": "Attention **did** notice."},
            exercises=(
                Exercise(
                    "Switch the positions on. Does attention notice the other order now?",
                    "Yes. A token now holds what its patch shows *and* where it lies. A patch that is moved gets the "
                    "vector of its new place, and with it another query and another key.",
                    hint="The choice above the pictures.",
                    id="patches_told",
                    tempting={"order": "Another order alone changes nothing, as long as no position is added."},
                ),
                Exercise(
                    "A convolution has no table of positions. Why does it not need one?",
                    "A convolution’s parameters belong to directions: this one for the pixel above, that one for the "
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
            "sum": "each colour’s normalised grey times the sum of its plane, added up, plus a bias",
            "zero": "the bias alone: there is nothing to see in it",
            "grey": "the grey itself",
        },
        "sum",
        "The answer is a sum of products, number by number. Normalised, one grey is one number for red, one for green "
        "and one for blue: three different ones, where the model’s means and deviations differ. In a plane all pixels "
        "are alike, so it gives its number times the sum of the plane. Only a filter each of whose planes sums to 0, "
        "such as an edge, is blind to every even patch.",
        {
            "zero": "That holds for filters that look for edges, whose planes sum to 0. Others measure brightness or "
            "colour.",
            "grey": "A filter that takes the mean, all its numbers alike and summing to 1, would give the mean of the "
            "three normalised greys.",
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
            "places": "That is what a convolution does: its parameters belong to directions. Attention has the tokens "
            "alone.",
            "other": "It looks as if nothing were left in its place. But a score is q·k of two tokens, and neither "
            "says where it stands.",
        },
        prose="The same network gets the same patches in another order. Does it notice? First without positions, "
        "then with them.",
        picture=both,
    )  # fmt: skip


def extra(name: str, front: tuple[str, ...], shown: Photo) -> Question:
    """`front`: the names of the tokens before the patches."""
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


def tokens(size: tuple[int, int], P: int, by_the_model: str, shown: Photo) -> Question:
    """`size` is the picture's height and width; `shown` is without the pixels that make no whole patch."""
    high, wide = size
    rows, columns = high // P, wide // P
    return Question(
        "patches_tokens",
        f"The picture, {wide} × {high} pixels, is cut into patches of {P} × {P}; one is outlined. That makes ▢ "
        "patches.",
        Number(10, 4000, log=True), rows * columns,
        f"{wide} ÷ {P} = {wide / P:g} and {high} ÷ {P} = {high / P:g}: {columns} × {rows} whole patches, "
        f"{rows * columns:,}. {by_the_model}",
        tempting=(((min(columns, rows) - 2, max(columns, rows) + 2), "So many lie along one side: multiply both."),),
        picture=shown,
    )  # fmt: skip
