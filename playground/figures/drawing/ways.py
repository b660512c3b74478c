"""The ways to look, that is, what a map can show of each patch. The browser has the same records with its own words in
microscope/core/waytable.js; tests/figures/test_every_way.py compares the two. CONTRIBUTING.md says how to add one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    name: str  # the name in an address, on the command line and in a file of numbers
    needs: str  # what the numbers are made of: "scores" of queries and keys, "values" too, "features" after a layer,
    #             "flows" through all layers, or the "network" with its weights
    exposed: str  # which value is drawn brightest: "brightest": a high quantile, as in a photograph; "largest": the
    #               largest value; "spread": the same, and the smallest is darkest; "colours": each patch has a colour
    title: str  # above a map
    bar: str  # beside the colour bar
    caption: str  # in the sentence below a figure; captions.py fills in the curly brackets
    column: tuple[str, str] = ("", "")  # bar and caption where a column is shown, if they differ
    of_label: tuple[str, str] = ("", "")  # bar and caption where a label is explained
    made: str = ""  # in a file of numbers: how they were computed
    unit: str = ""  # "share" is written in %
    unit_of_label: str = ""  # the unit where a label is explained, if it differs
    asks_a_patch: bool = True  # False: the map is the same for all queries
    through_layers: bool = False  # whether the map is about the whole network, not about one layer
    whole: bool = False  # whether the numbers of patches and prefix tokens add up to a whole
    explains: str = ""  # what a map explains. "patch": a patch's feature, or the label if one is chosen; "label": the
    #                     chosen or the likeliest label; "text": a text that somebody types
    attributes: bool = False  # whether a map claims to show what matters: figures then say how far to trust it
    resembles: bool = False  # whether the numbers are similarities to the query, also across pictures
    methods: bool = False  # whether there are several methods to compute it
    signed: bool = False  # whether a number may lie below zero and have a colour of its own

    @property
    def of_heads(self) -> bool:
        return self.needs in ("scores", "values")

    @property
    def coloured(self) -> bool:
        """Whether each patch has a colour instead of a number on a scale."""
        return self.exposed == "colours"

    @property
    def spread(self) -> bool:
        """Whether colours go from the smallest number to the largest, because the numbers are not shares of a whole."""
        return self.exposed == "spread"

    @property
    def rows(self) -> bool:
        """Whether the way's rows are weights that sum to 1, and so have an entropy."""
        return self.of_heads and self.whole


WAYS = {
    way.name: way
    for way in (  # in the order of the menu
        Way(
            "weight", "scores", "brightest", "attention", "share of the query’s attention", "what {who} attends to",
            ("share that each patch takes from it", "who attends to {who}"), unit="share", whole=True,
        ),
        Way(
            "value", "scores", "brightest", "weight × ‖W_O v‖", "weight × length of the value",
            "what arrives at {who}", ("", "what {who} gives to each patch"), unit="length",
        ),
        Way(
            "contribution", "values", "largest", "weight × value, along what the head writes",
            "part of what the head writes (hatched: against it)",
            "what each patch adds to what the head writes into {who}, by its length along it",
            unit="length", signed=True,
        ),
        Way(
            "similarity", "features", "spread", "feature similarity", "likeness of features (cosine)",
            "patches with features like those of {who}", unit="cosine", resembles=True,
        ),
        Way(
            "components", "features", "colours", "colours of features", "",
            "the first three principal components of the patches’ features as red, green and blue",
            asks_a_patch=False,
        ),
        Way("score", "scores", "spread", "raw scores", "score before the softmax", "raw scores of {who}"),
        Way(
            "norm", "features", "spread", "length of features", "length of the features",
            "how long each patch’s features are", unit="length", asks_a_patch=False,
        ),
        Way(
            "rollout", "flows", "largest", "rollout", "rollout: attention through all layers",
            "what weights alone bring to {who} through all layers",
            unit="share", through_layers=True, whole=True, attributes=True,
        ),
        Way(
            "relevance", "network", "largest", "relevance", "relevance: share of what moves it",
            "what moves {explained}, through all layers ({method})",
            of_label=(
                "against it (hatched), for it: shares of what moves it",
                "what speaks for and against {explained}, through all layers ({method})",
            ),
            made="{method}", unit="share", through_layers=True, whole=True, explains="patch", attributes=True,
            methods=True,
        ),
        Way(
            "occlusion", "network", "largest", "occlusion", "what blanking moves, for a patch",
            "how far {explained} moves when patches become {blank}",
            of_label=(
                "against it (hatched), for it: what blanking moves, for a patch, in logits",
                "what {explained} loses in logits when patches become {blank} ({margin})",
            ),
            made="blanked by {blank}", unit="share", unit_of_label="logits", through_layers=True, explains="patch",
        ),
        Way(
            "text", "network", "spread", "likeness with a text", "likeness with the text (cosine)",
            "which patches are like “{text}”, if the model read each after this layer",
            unit="cosine", asks_a_patch=False, explains="text",
        ),
        Way(
            "label", "network", "largest", "logit lens", "probability of the label, read after this layer",
            "how likely {explained} is, if the classifier read each patch after this layer",
            unit="share", asks_a_patch=False, explains="label",
        ),
    )
}  # fmt: skip
FIRST_WAY = next(iter(WAYS))  # the default way to look
VALUES = Way("values", "given", "brightest", "values", "values given", "values given", asks_a_patch=False)
