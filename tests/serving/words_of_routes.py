"""The table of all addresses with the query words that each reads."""

from playground.serving import chosen, figure_words, routes_figures

# picture and model: chosen.py reads them
TRACE_WORDS = ("sample", "mine", "model", "detail", "scale", "cut", "with", "first")
# the microscope's view: figure_words.py reads it
VIEW_WORDS = (*figure_words.SUBJECT_WORDS, *figure_words.CHOICES_OF_VIEW)
FIGURE_WORDS = (*VIEW_WORDS, *figure_words.LOOK_FIELDS, "held", routes_figures.DOWNLOAD_WORD)
WORDS_OF_ROUTE: dict[str, tuple[str, ...]] = {  # address -> the query words that it reads
    "GET /api/app/{digest}/{entry:path}": (),
    "GET /api/page/{file}": (),
    "GET /api/samples/{edition}": (),
    "GET /api/samples/{name}/{digest}.jpg": (),
    "GET /api/moments": (),
    "GET /api/moments/{edition}/{number}.jpg": (),
    "GET /api/trace": TRACE_WORDS,
    "GET /api/trace/{digest}/layers": (*TRACE_WORDS, "layers", "heads", "finer", "rounded"),
    "GET /api/trace/{digest}/features": (*TRACE_WORDS, "layer"),
    "GET /api/trace/{digest}/flows": (*TRACE_WORDS, "query"),
    "GET /api/trace/{digest}/relevance": (*TRACE_WORDS, "query", "label"),
    "GET /api/trace/{digest}/labels": TRACE_WORDS,
    "GET /api/trace/{digest}/answers": (*TRACE_WORDS, "layer", "label", "query"),
    "GET /api/trace/{digest}/text": (*TRACE_WORDS, "layer", "text"),
    "GET /api/trace/{digest}/occluded": (*TRACE_WORDS, "query", "label", "by", "step"),
    "GET /api/trace/{digest}/moved": (*TRACE_WORDS, "query"),
    "GET /api/trace/{digest}/names": (*TRACE_WORDS, "layer"),
    "GET /api/trace/{digest}/heads": (*TRACE_WORDS, "at"),
    "GET /api/trace/{digest}/ran": (*TRACE_WORDS, "layer", "head", "query"),
    "GET /api/trace/{digest}/verdict": TRACE_WORDS,
    "POST /api/pictures": (),
    "DELETE /api/pictures": (),
    "GET /api/pictures/{id}.jpg": (),
    "DELETE /api/pictures/{id}": (),
    "POST /api/labelled": ("number",),
    "GET /api/models": ("search",),
    "POST /api/fetching": ("model",),
    "GET /api/fetching": ("model",),
    "DELETE /api/fetching": ("model",),
    "GET /api/engine": (),
    "GET /api/engine/{file}": (),
    "GET /figure.{kind}": FIGURE_WORDS,
    "POST /figure.{kind}": FIGURE_WORDS,
    "GET /api/exports": (*VIEW_WORDS, *routes_figures.EXPORT_WORDS),
    "GET /c": (),
    "GET /c/{code}": (),
    "POST /api/classes": (),
    "GET /api/classes/{code}": ("after",),
    "POST /api/classes/{code}/guesses": (),
    "GET /api/classes/{code}/pictures/{id}.jpg": (),
    "GET /api/classes/{code}/lecturer": ("after",),
    "POST /api/classes/{code}/lecturer": (),
    "GET /api/classes/{code}/lecturer/counts.csv": ("language",),
    "GET /api/lessons": (),
    "GET /api/lessons/{lesson}": (),
    "GET /api/lessons/{lesson}/{step}": (
        *chosen.PAGE_PATTERNS,
        *figure_words.CHOICES_OF_VIEW,
    ),  # and the lesson's settings
    "GET /api/teach": (),
    "GET /api/teach/sheets/{name}.html": (),
    "POST /api/teach/slides.html": (*chosen.PAGE_PATTERNS, *figure_words.CHOICES_OF_VIEW, "scenes"),
    "GET /healthz": (),
    "GET /readyz": (),
    "GET /metrics": (),
}
