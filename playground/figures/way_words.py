"""What a way to look is called, by figures and by the browser. Another language is another table with these keys.

A key is a way's name, what is said of it, and sometimes in which case: "weight.caption.column". Curly brackets stand
for what differs from figure to figure: see FILLED in captions.py, and core/sentence.js and lens/lockline.js of the
browser."""

from __future__ import annotations

ENGLISH = {
    # title: of a map, and in the title of a file
    "weight.title": "attention",
    "value.title": "weight × ‖W_O v‖",
    "score.title": "raw scores",
    "similarity.title": "feature similarity",
    "rollout.title": "rollout",
    "relevance.title": "relevance",
    "occlusion.title": "occlusion",
    "label.title": "logit lens",
    "text.title": "likeness with a text",
    "components.title": "colours of features",
    "parts.title": "parts by features",
    "norm.title": "length of features",
    # bar: beside the colours
    "weight.bar": "share of the query’s attention",
    "weight.bar.column": "share that each patch takes from it",
    "value.bar": "weight × length of the value",
    "score.bar": "score before the softmax",
    "similarity.bar": "likeness of features (cosine)",
    "text.bar": "likeness with the text (cosine)",
    "norm.bar": "length of the features",
    "rollout.bar": "rollout: attention through all layers",
    "relevance.bar": "relevance: share of what moves it",
    "relevance.bar.signed": "against it (hatched), for it: shares of what moves it",
    "occlusion.bar": "what blanking moves, for a patch",
    "occlusion.bar.signed": "against it (hatched), for it: what blanking moves, for a patch, in logits",
    "label.bar": "probability of the label, read after this layer",
    "components.bar": "",
    "parts.bar": "",
    # caption: in the sentence beneath a figure
    "weight.caption": "whom {who} listens to",
    "weight.caption.paper": "whom {who} attends to",
    "weight.caption.column": "who listens to {who}",
    "weight.caption.column.paper": "who attends to {who}",
    "value.caption": "what arrives at {who}",
    "value.caption.column": "what {who} gives to each patch",
    "score.caption": "raw scores of {who}",
    "similarity.caption": "patches with features like those of {who}",
    "rollout.caption": "what weights alone bring to {who} through all layers",
    "relevance.caption": "what moves {explained}, through all layers ({method})",
    "relevance.caption.signed": "what speaks for and against {explained}, through all layers ({method})",
    "occlusion.caption": "how far {explained} moves when patches become {blank}",
    "occlusion.caption.label": "what {label} loses in logits when patches become {blank} ({margin})",
    "label.caption": "how likely {label} is, if the classifier read each patch after this layer",
    "text.caption": "which patches are like “{text}”, if the model read each after this layer",
    "components.caption": "the first three principal components of the patches’ features as red, green and blue",
    "parts.caption": "the patches cut into {parts} parts by their features, a colour for each",
    "norm.caption": "how long each patch’s features are",
    # made, unit: in a file of numbers
    "relevance.made": "{bare_method}",
    "occlusion.made": "blanked by {blanked}",
    "occlusion.unit": "parts of the feature's length",
    "occlusion.unit.label": "logits, {margin}",
}
TABLES = {"en": ENGLISH}


def words(name: str, kind: str, *cases: str, language: str = "en") -> str:
    """Of the cases the first that has words of its own; else what is always said of it, or ""."""
    table = TABLES[language]
    for key in (*(f"{name}.{kind}.{case}" for case in cases), f"{name}.{kind}"):
        if key in table:
            return table[key]
    return ""
