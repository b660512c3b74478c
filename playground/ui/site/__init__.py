"""The command `site`: writes the playground as a folder of plain files, which any host of files can serve.

Networks run in the visitor's browser (microscope/engine), so that no photograph leaves it. What the pages say comes
from the same places as in the app. All addresses are relative; `base` stands where one must be whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path

import streamlit as st

from playground.errors import PlaygroundError
from playground.figures.bundle import LENS_STYLES, MICROSCOPE, bundle, stylesheet
from playground.lessons.registry import LESSONS as TAUGHT
from playground.serving import figure_files, models, prepared, previews, scripts, site_files, wall
from playground.serving.site_files import Folder
from playground.ui import toolbar
from playground.ui.components import SHARED, SHELL_STYLES
from playground.ui.pages import LESSONS, PAGES
from playground.ui.site import lessons
from playground.version import __version__

STYLES = (*LENS_STYLES, *SHELL_STYLES, "shell/dropping.css", "shell/site.css")
OURS = re.compile(r".+-[0-9a-f]{12}\.\w+")  # names of files, with the digest that Folder.put gives them
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src 'self' "
    "blob: data:; media-src blob:; style-src 'self'; style-src-attr 'unsafe-inline'; font-src 'self'; "  # of charts
    "manifest-src 'self'; base-uri 'none'; form-action 'none'"
)
APP_SAYS = {"command": "make run", "where": "in a copy of its repository"}
DESCRIPTION = (
    "Put the cursor on a patch of a picture and see whom it listens to, in every head and layer of a real Vision "
    "Transformer. Your own photograph is looked at in your browser, and sent to nobody."
)
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">
<meta name="description" content="{description}">
<title>Attention Playground</title>
{preview}
<link rel="icon" href="{icon}"><link rel="manifest" href="manifest.webmanifest">
<link rel="stylesheet" href="{styles}">
{ahead}
<script type="module" src="{script}" data-toolbar="{told}" data-site="{site}"></script>
</head><body>
<div id="toolbar"><div class="toolbar" data-toolbar></div></div>
<main id="stage"><div class="stage" data-stage><p class="comes">{description} If no picture comes: this page needs
JavaScript, in a browser from 2023 or later.</p></div></main>
<main id="lesson" hidden></main>
</body></html>
"""
FONT_FACE = """@font-face {{
  font-family: "Source Sans"; src: url({file}) format("woff2"); font-weight: 200 900; font-display: swap;
}}
"""
LOST = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Attention Playground</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<script type="module" src="{base}{script}" data-base="{base}" data-pages="{pages}"></script>
</head><body><p>There is no such page: <a href="{base}">go to the playground</a>.</p></body></html>
"""
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#131318"/>'
    '<path d="M4 12h8v8H4zM20 12h8v8h-8z" fill="#f7d13d"/><path d="M12 4h8v8h-8zM12 20h8v8h-8z" fill="#5db3e6"/></svg>'
)


def write(
    out: Path,
    base: str = "/",
    names: Sequence[str] = site_files.MODELS,
    photographs: Path | None = None,
    named: Collection[str] | None = None,
    taught: Collection[str] | None = None,
) -> Path:
    """Writes the site into an empty folder, or over one that this has written. `named`: see site_files.py; `taught`:
    some of the lessons, None: all."""
    site_files.check(names)
    _check_place(out, base)
    prepared.prepare()
    folder = Folder(out)
    best = models.REAL if models.has_real() else models.default()
    catalogue = site_files.write_samples(folder, photographs, best, named)
    listed = folder.put("samples.json", json.dumps(catalogue, ensure_ascii=False).encode())
    weights = site_files.write_weights(folder, names)
    used = {key.split()[0] for sample in catalogue["samples"] for key in sample["prepared"]}
    script = folder.put("app.js", bundle("shell/site.js").encode())
    font = _font(folder)
    styles = folder.put("app.css", (FONT_FACE.format(file=font) * bool(font) + stylesheet(*STYLES)).encode())
    icon = folder.put("icon.svg", ICON.encode())
    parts = {
        "worker": folder.put("worker.js", bundle("engine/worker.js").encode()),
        "kernels": folder.put("kernels.wasm", (MICROSCOPE / "engine" / "kernels.wasm").read_bytes()),
    }
    site = parts | {"cards": site_files.cards(sorted(used | set(names))), "weights": weights, "offline": True}
    site["lessons"] = lessons.write(folder, taught)
    site["moments"] = _wall(folder)
    first = catalogue["samples"][0]
    ready = first["prepared"][f"{first['opens']['model']} {first['opens']['detail']}"]["opening"]["file"]
    page = PAGE.format(
        policy=escape(POLICY), preview=_preview(folder, base), description=escape(DESCRIPTION), icon=icon,
        styles=styles, script=script,
        ahead=_ahead(font, listed, ready, first["picture"]), site=_attribute(site),
        told=_attribute(_same_for_all(listed) | {"shared": _shared(folder)}),
    )  # fmt: skip
    folder.plain("index.html", page.encode())
    lost = folder.put("lost.js", bundle("shell/lost.js").encode())
    folder.plain("404.html", LOST.format(base=escape(base), script=lost, pages=" ".join((*PAGES, "story"))).encode())
    folder.plain("manifest.webmanifest", json.dumps(_manifest(icon)).encode())
    folder.plain(".nojekyll", b"")  # GitHub's pages would leave files out
    folder.plain("LICENCES.md", _licences(names).encode())
    core = ["./", script, styles, icon, *filter(None, [font]), listed, ready, first["picture"], *parts.values()]
    folder.plain("sw.js", _service_worker(core, folder.names).encode())
    _drop_old(folder)
    return out


def _check_place(out: Path, base: str) -> None:
    if not re.fullmatch(r"(https?://[\w.:-]+)?/([\w.~-]+/)*", base):
        raise PlaygroundError(f"--base is /playground/ or https://example.org/playground/; given was {base!r}.")
    if out.exists() and not out.is_dir():
        raise PlaygroundError(f"{out} is a file; name a folder to write to.")
    if out.is_dir() and any(out.iterdir()) and not (out / "sw.js").is_file():
        raise PlaygroundError(
            f"{out} holds something else; name an empty folder, or one that this command has written."
        )


def _same_for_all(listed: str) -> dict:
    """What the app's toolbar reads, with the pages and samples that the folder has."""
    told = toolbar.same_for_all()
    more = {lesson.name: {"about": _about(lesson.name)} for lesson in LESSONS}
    pages = [page | more.get(page["name"], {}) for page in told["pages"] if page["name"] != "teach"]
    return told | {"samples": listed, "labelled": None, "pages": pages, "app": APP_SAYS}


def _shared(folder: Folder) -> str:
    """The script of a page that somebody shares."""
    entry, *styles = SHARED
    return folder.put("shared.js", scripts.script(entry, tuple(styles)).encode())


def _preview(folder: Folder, base: str) -> str:
    """The preview of the picture that the page opens with."""
    here, spec = previews.figure({}, {})
    return previews.meta(here, spec, base + folder.put("preview.png", figure_files.file(here, spec, "png", None)))


def _wall(folder: Folder) -> str:
    found = wall.listed(lambda one: folder.put(f"moments/{wall.MOMENTS.index(one)}.jpg", wall.picture(one)))
    return folder.put("moments.json", json.dumps(found, ensure_ascii=False).encode())


def _about(lesson: str) -> str:
    """A lesson's introduction, without Markdown's signs."""
    return re.sub(r"\*\*|`", "", TAUGHT[lesson].idea).strip()


def _attribute(told: dict) -> str:
    return escape(json.dumps(told, ensure_ascii=False))


def _ahead(font: str, *files: str) -> str:
    kinds = dict.fromkeys(files, "fetch") | ({font: "font"} if font else {})
    return "\n".join(f'<link rel="preload" as="{kind}" crossorigin href="{name}">' for name, kind in kinds.items())


def _font(folder: Folder) -> str:
    """The app's typeface, which Streamlit brings; "" where it brings none: then the system's is taken."""
    found = sorted(Path(st.__file__).parent.glob("static/static/media/SourceSans*-Upright*.woff2"))
    return folder.put("source-sans.woff2", found[0].read_bytes()) if found else ""


def _manifest(icon: str) -> dict:
    return {
        "name": "Attention Playground", "short_name": "Attention", "start_url": "./", "scope": "./",
        "display": "standalone", "background_color": "#131318", "theme_color": "#131318",
        "icons": [{"src": icon, "sizes": "any", "type": "image/svg+xml"}],
    }  # fmt: skip


def _licences(names: Sequence[str]) -> str:
    """Whose the weights are, and what was changed."""
    from playground.models.engine_file import header

    lines = ["# What lies in this folder, and whose it is", "", f"The Attention Playground {__version__}: MIT.", ""]
    for name in names:
        told = header(models.load(name))
        lines += [
            f"- **{told['title']}** (`weights/{name}-….bin`): {told['author']}; {told['licence']}; from "
            f"{told['source']}. Changed: {told['changes']}."
        ]
    lines += ["- **Source Sans** (`source-sans-….woff2`): Adobe; SIL Open Font License 1.1; unchanged."]
    lines += ["", "The photographs' authors and licences stand under each picture."]
    return "\n".join(lines) + "\n"


def _service_worker(core: list[str], names: list[str]) -> str:
    """Names that it keeps from the beginning, and all that this version has."""
    listed = [name for name in names if not name.startswith("weights/")]
    version = sha256(repr((sorted(names), __version__)).encode()).hexdigest()[:12]
    told = json.dumps({"version": version, "core": core, "names": listed})
    return f"self.writtenSite = {told};\n{bundle('shell/serviceworker.js')}"


def _drop_old(folder: Folder) -> None:
    """What a former version has left; anything else is not ours to remove."""
    for inside in ("", "samples/", "weights/", "lessons/", "moments/"):
        for file in sorted((folder.path / inside).glob("*-*.*")):
            if OURS.fullmatch(file.name) and f"{inside}{file.name}" not in folder.names:
                file.unlink()
