"""The ways to look: what can be shown of each patch, each as one record that Python and the browser read.

Whoever adds one adds its record here, its words in way_words.py, the function that computes its numbers in
maps.py, and that of the browser in microscope/core/ways.js (of heads) or lens/features.js (of features); then
`python -m playground.figures.drawing.way_table` writes the table for the browser. Colours, legend, captions, notes,
menu, options and files are made of the record."""

from __future__ import annotations

from dataclasses import dataclass

from playground.figures.drawing.way_words import words


@dataclass(frozen=True)
class Way:
    name: str  # in an address, on the command line, in a file of numbers
    needs: str  # what its numbers are made of: "scores" of queries and keys, "features" after a layer, "flows" through
    #             all layers, or "network": only who has the weights can make them
    exposed: str  # what is brightest: "brightest": a high quantile, as of a photograph; "largest": the largest value;
    #               "spread": from the smallest value to the largest; "colours": nothing, each patch has a colour
    unit: str = ""  # "share" is written in %
    unit_of_label: str = ""  # where a label is explained, if it is another one
    asks_a_patch: bool = True  # False: all patches are shown alike, whoever asks
    through_layers: bool = False  # of the whole network, not of one layer
    whole: bool = False  # its numbers and those of the prefix tokens are parts of one whole
    raw: bool = False  # before the softmax: a column of it needs no other rows
    explains: str = ""  # "patch": its feature, or a label where one is chosen; "label": one that is chosen, or the
    #                     likeliest; "text": what somebody types
    attributes: bool = False  # it says what matters for an answer: how far that can be trusted stands beside it
    resembles: bool = False  # a patch of another picture may ask, and the asking one is like itself
    uses: tuple[str, ...] = ()  # options of a figure that only some ways have a use for
    sentence: str = "most"  # how the browser's sentence is made: see FORMS in microscope/core/sentence.js
    extra: bool = True  # in the menu only among more
    pack: str = ""  # a section that a pack must have for it

    @property
    def of_heads(self) -> bool:
        return self.needs == "scores"

    @property
    def coloured(self) -> bool:
        """A colour for each patch, and no number on a scale."""
        return self.exposed == "colours"

    @property
    def spread(self) -> bool:
        """No shares of a whole: exposed from the smallest to the largest."""
        return self.exposed == "spread"

    @property
    def rows(self) -> bool:
        """Its rows are weights that sum to 1, and have an entropy."""
        return self.of_heads and self.whole

    @property
    def offer(self) -> str:
        """What a source of the browser must offer for it."""
        return {"scores": "", "flows": "rollout", "network": self.name}.get(self.needs, self.needs)

    def words(self, kind: str, *cases: str) -> str:
        """What it is called, in the first of these cases that has words of its own: ("caption", "column")."""
        return words(self.name, kind, *cases)


WAYS = {
    way.name: way
    for way in (  # as in the menu
        Way("weight", "scores", "brightest", "share", whole=True, uses=("ceiling",), sentence="listens", extra=False),
        Way(
            "value", "scores", "brightest", "length",
            uses=("ceiling",), sentence="arrives", extra=False, pack="value_norms",
        ),
        Way("similarity", "features", "spread", "cosine", resembles=True, sentence="resembles", extra=False),
        Way("components", "features", "colours", asks_a_patch=False, sentence="coloured", extra=False),
        Way("parts", "features", "colours", asks_a_patch=False, sentence="parts"),
        Way("score", "scores", "spread", raw=True, sentence="best"),
        Way("norm", "features", "spread", "length", asks_a_patch=False, uses=("typical",)),
        Way(
            "rollout", "flows", "largest", "share",
            through_layers=True, whole=True, attributes=True, sentence="flows",
        ),
        Way(
            "relevance", "network", "largest", "share", through_layers=True, whole=True,
            explains="patch", attributes=True, uses=("label", "method", "signed"), sentence="moves",
        ),
        Way(
            "occlusion", "network", "largest", "share", "logits", through_layers=True,
            explains="patch", uses=("label", "blank"), sentence="blanked",
        ),
        Way(
            "text", "network", "spread", "cosine",
            asks_a_patch=False, explains="text", uses=("text",), extra=False,
        ),
        Way("label", "network", "largest", "share", asks_a_patch=False, explains="label", uses=("label",)),
    )
}  # fmt: skip
FIRST = next(iter(WAYS))  # where nothing else is chosen
