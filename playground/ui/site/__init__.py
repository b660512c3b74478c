"""Implements the command `site`: writes the playground as a folder of files, which any web host can serve.

Networks run in the visitor's browser (microscope/engine), so that no photograph leaves the browser. The pages' words
come from the same sources as in the app. Addresses are relative; where an absolute address is needed, it begins with
`base`.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Sequence
from functools import partial
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from playground.errors import PlaygroundError
from playground.figures.bundle import MICROSCOPE, bundle, embedded_module, stylesheet
from playground.lessons.registry import EXERCISES
from playground.lessons.registry import LESSONS as ALL_LESSONS
from playground.samples import samples
from playground.serving import figure_files, models, prepared, routes_figures, scripts, site_files, wall
from playground.serving.here import Here
from playground.serving.lesson_scripts import HOST, SCRIPTS, lesson_kit
from playground.serving.site_files import Folder
from playground.ui.pages import PAGES
from playground.ui.site.hosts import write_for
from playground.ui.site.page import (
    DESCRIPTION,
    ICON,
    POLICY,
    SHARED_PAGE_FILES,
    STYLES,
    icon_png,
    manifest,
    page_html,
    preload_tags,
    put_font,
    toolbar_data,
)
from playground.version import __version__, cite, repository

DIGEST_NAME = re.compile(r".+-[0-9a-f]{12}\.\w+")  # a file name with a digest, as Folder.put writes it
APP_COMMAND = {"command": "make run", "where": "in a copy of its repository"}
STAYS_HERE = "Your own photograph is looked at in your browser, and sent to nobody."
FOOT = "Attention Playground: where each patch of a picture looks, in a real Vision Transformer."
EMBED_EXAMPLE = """<script type="module" src="{base}embed/attention-lens.js"></script>
<attention-lens model="{base}{model}" picture="YOUR-PICTURE.jpg"></attention-lens>"""
EMBED_README = """# <attention-lens>

{foot}

```html
{example}
```

In a project that bundles its scripts, `import "attention-lens"` defines the element; `load(model)`, `run(image)` and
`row(layer, head, query)` give the numbers alone. Weights are files of the folder that this file came with.
"""
ABOUT_HTML = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>About the Attention Playground</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="{icon}"><link rel="stylesheet" href="{styles}"></head>
<body><main class="about"><h1>Attention Playground</h1>
<p>{description}</p>
<h2 id="cite">Cite</h2>
<pre>{cite}</pre>
<h2 id="install">Install</h2>
<p>The app has more: any Vision Transformer, figures for print, lessons with your own picture, Python. In a copy of its
repository, with Python 3.11 or newer:</p>
<pre>pip install ".[app]"
attention-playground</pre>
<h2 id="embed">Embed</h2>
<p>The microscope stands in any other page, on a picture of yours, in one file that needs no other:</p>
<pre>{embedded}</pre>
<p>Its numbers alone are a few lines of JavaScript: <code>load(model)</code>, <code>run(image)</code>,
<code>row(layer, head, query)</code>; the file of types beside it says more.</p>
<h2 id="privacy">Privacy</h2>
<p>Photographs, guesses and answers stay in this browser until you remove them; no cookie is set, nobody is counted.
Opened in a learning platform, the page tells it the exercises that you have done and how many of ten questions were
right.</p>
</main><footer id="foot">{foot}</footer></body></html>
"""
LOST_HTML = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Attention Playground</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<script type="module" src="{base}{script}" data-base="{base}" data-pages="{pages}"></script>
</head><body><p>There is no such page: <a href="{base}">go to the playground</a>.</p>
<footer>{foot}</footer></body></html>
"""


def write(
    out: Path,
    base: str = "/",
    names: Sequence[str] = site_files.MODELS,
    named_samples: Collection[str] | None = None,
    lessons: Collection[str] | None = None,
    host: str = "",
) -> Path:
    """Writes the site into an empty folder, or over a site written before. `named_samples`: the samples whose heads
    have names, None: all; `lessons`: the lessons to write, None: all; `host`: one of hosts.HOSTS, whose own files are
    written too."""
    site_files.check(names)
    _check_target(out, base)
    prepared.prepare()
    folder = Folder(out)
    catalogue = site_files.write_samples(folder, named_samples)
    samples_file = folder.put_packed("samples", json.dumps(catalogue, ensure_ascii=False).encode())
    weights = site_files.write_weights(folder, names)
    used_models = {key.split()[0] for sample in catalogue["samples"] for key in sample["prepared"]}
    code = bundle("shell/site.js").encode()
    begin = {
        "styles": folder.put_packed("styles", stylesheet(*STYLES).encode()),
        "script": folder.put_packed("app", code),
        "plain": folder.put("app.js", code),
    }
    begin["font"] = put_font(folder)
    script = folder.put("begin.js", bundle("shell/begin.js").encode())
    styles = folder.put("page.css", stylesheet("shell/site.css").encode())
    icon, touch_icon = folder.put("icon.svg", ICON.encode()), folder.put("icon.png", icon_png())
    engine_files = {
        "worker": folder.put("worker.js", bundle("engine/worker.js").encode()),
        "kernels": folder.put("kernels.wasm", (MICROSCOPE / "engine" / "kernels.wasm").read_bytes()),
    }
    site: dict[str, Any] = engine_files | {"weights": weights, "exercises": EXERCISES}
    site["cards"] = site_files.cards(sorted(used_models | set(names)))
    site["lessons"] = write_lessons(folder, lessons)
    site["moments"] = _write_wall(folder)
    from playground.lessons import teaching  # imports torch, which a server's start must not wait for

    site["teach"] = folder.put("teach.json", json.dumps(teaching.as_data(), ensure_ascii=False).encode())
    entry, *shared_styles = SHARED_PAGE_FILES
    shared_script = folder.put("shared.js", scripts.script(entry, tuple(shared_styles)).encode())
    views = [(sample["picture"], site_files.opening_file(sample)) for sample in catalogue["samples"]]
    site["offline"] = site_files.write_offline_list(folder, [name for view in views for name in view])
    picture, opening_file = views[0]
    preview, preview_tags = _write_preview(folder, base)
    page = page_html(
        script=script, styles=styles, icon=icon, touch_icon=touch_icon, manifest="manifest.webmanifest",
        policy=_policy(code), description=f"{DESCRIPTION} {STAYS_HERE}", referrer="no-referrer",
        foot=f'{_foot()} <button type="button" hidden></button>',
        head=preview_tags + preload_tags(begin["script"], begin["styles"], samples_file, opening_file, picture),
        data={
            "begin": begin,
            "toolbar": toolbar_data(
                samples=samples_file, labelled=None, app=APP_COMMAND, shared=shared_script, workbench=""
            ),
            "site": site,
        },
    )  # fmt: skip
    folder.put_plain("index.html", page.encode())
    about = ABOUT_HTML.format(
        icon=icon, styles=styles, description=escape(f"{DESCRIPTION} {STAYS_HERE}"), cite=escape(cite()), foot=_foot(),
        embedded=escape(EMBED_EXAMPLE.format(base=base, model=next((w["file"] for w in weights.values()), "…"))),
    )  # fmt: skip
    folder.put_plain("about.html", about.encode())
    _write_embed_package(folder)
    lost_script = folder.put("lost.js", bundle("shell/lost.js").encode())
    lost = LOST_HTML.format(
        base=escape(base), script=lost_script, pages=" ".join((*PAGES, "story")), foot=_foot(escape(base))
    )
    folder.put_plain("404.html", lost.encode())
    folder.put_plain("manifest.webmanifest", manifest(icon, touch_icon, "./"))
    folder.put_plain(".nojekyll", b"")  # GitHub Pages would leave out files that begin with an underscore
    folder.put_plain("LICENCES.md", _licences(names).encode())
    first_files = [script, styles, icon, begin["script"], begin["styles"], samples_file, opening_file, picture]
    core_files = [*first_files, *filter(None, [begin["font"]]), *engine_files.values()]
    former_names = _names_of_edition(out / "sw.js")
    folder.put_plain("sw.js", _service_worker(core_files, folder.names, page).encode())
    _drop_old(folder, former_names)
    write_for(host, out, preview)
    return out


def _check_target(out: Path, base: str) -> None:
    if not re.fullmatch(r"(https?://[\w.:-]+)?/([\w.~-]+/)*", base):
        raise PlaygroundError(f"--base is /playground/ or https://example.org/playground/; given was {base!r}.")
    if out.exists() and not out.is_dir():
        raise PlaygroundError(f"{out} is a file; name a folder to write to.")
    if out.is_dir() and any(out.iterdir()) and not (out / "sw.js").is_file():
        raise PlaygroundError(
            f"{out} holds something else; name an empty folder, or one that this command has written."
        )


def _write_preview(folder: Folder, base: str) -> tuple[str, str]:
    """Writes the link preview of the picture that the page opens with. Returns its address and the page's tags."""
    _, here, spec = routes_figures.preview_figure({}, {})
    address = base + folder.put("preview.png", figure_files.file(here, spec, "png"))
    return address, routes_figures.preview_meta(here, spec, address)


def _write_wall(folder: Folder) -> str:
    moments = wall.moment_records(
        lambda address: folder.put(f"moments/{wall.MOMENTS.index(address)}.jpg", wall.picture(address))
    )
    return folder.put("moments.json", json.dumps(moments, ensure_ascii=False).encode())


def _policy(script: bytes) -> str:
    """The policy of the page, which allows the script that is put into the page as text."""
    digest = f" 'sha256-{base64.b64encode(sha256(script).digest()).decode()}'"
    return f"{POLICY.format(script=digest)}; base-uri 'none'; form-action 'none'"


def _foot(base: str = "") -> str:
    """The footer of every page: a sentence about the playground, and links. `base`: the site's address, for a page that
    is not at the site's root."""
    source = {"Source": repository()} if repository() else {}
    links = source | {name.title(): f"{base}about.html#{name}" for name in ("cite", "install", "embed", "privacy")}
    anchors = (f'<a href="{escape(address)}">{name}</a>' for name, address in links.items())
    return f"<span>{FOOT}</span> {' '.join(anchors)}"


def _write_embed_package(folder: Folder) -> None:
    """Writes <attention-lens> as a package under fixed names, because pages of other sites refer to these names."""
    package = {
        "name": "attention-lens", "version": __version__, "license": "MIT", "type": "module",
        "description": FOOT, "keywords": ["attention", "vision-transformer", "web-component", "visualization"],
        "main": "attention-lens.js", "types": "attention-lens.d.ts",
        "exports": {".": {"types": "./attention-lens.d.ts", "default": "./attention-lens.js"}},
        "files": ["attention-lens.js", "attention-lens.d.ts"], "sideEffects": ["./attention-lens.js"],
        **({"repository": repository(), "homepage": repository()} if repository() else {}),
    }  # fmt: skip
    types = (MICROSCOPE / "shell" / "attention-lens.d.ts").read_bytes()
    folder.put_plain("embed/attention-lens.js", embedded_module().encode())
    folder.put_plain("embed/attention-lens.d.ts", types)
    example = EMBED_EXAMPLE.format(base="https://…/", model="weights/….bin")
    folder.put_plain("embed/README.md", EMBED_README.format(foot=FOOT, example=example).encode())
    folder.put_plain("embed/package.json", json.dumps(package, indent=2).encode())


def _licences(names: Sequence[str]) -> str:
    """The authors and licences of the weights, and the changes made to the weights, as Markdown."""
    from playground.models.engine_file import header

    lines = ["# What lies in this folder, and whose it is", "", f"The Attention Playground {__version__}: MIT.", ""]
    for name in names:
        fields = header(models.load(name))
        lines += [
            f"- **{fields['title']}** (`weights/{name}-….bin`): {fields['author']}; {fields['licence']}; from "
            f"{fields['source']}. Changed: {fields['changes']}."
        ]
    lines += ["- **Source Sans** (`source-sans-….woff2`): Adobe; SIL Open Font License 1.1; unchanged."]
    lines += [f"- **{sample.title}** (`samples/{sample.name}-….jpg`): {sample.credit}." for sample in samples()]
    return "\n".join(lines) + "\n"


def _service_worker(core_files: list[str], names: list[str], page: str) -> str:
    """The service worker's script, with the core files, which it caches first, and all file names of this version."""
    version = sha256(repr((sorted(names), page, __version__)).encode()).hexdigest()[:12]
    settings = json.dumps({"version": version, "core": core_files, "names": names})
    return f"self.writtenSite = {settings};\n{bundle('shell/serviceworker.js')}"


def _names_of_edition(service_worker: Path) -> set[str]:
    """The files of the edition that lies in the folder, as its service worker lists them."""
    match = re.match(
        r"self\.writtenSite = (.*);\n", service_worker.read_text("utf-8") if service_worker.exists() else ""
    )
    return set(json.loads(match[1])["names"]) if match else set()


def _drop_old(folder: Folder, former_names: set[str]) -> None:
    """Removes files of editions before the former one, which have a digest in their names. The former edition's stay,
    because a page that somebody has open, or that a host's cache still gives, goes on reading them."""
    for subfolder in ("", "samples/", "weights/", "lessons/", "moments/"):
        for file in sorted((folder.path / subfolder).glob("*-*.*")):
            if DIGEST_NAME.fullmatch(file.name) and f"{subfolder}{file.name}" not in {*folder.names, *former_names}:
                file.unlink()


# Lessons on a site need no server: Python computes each lesson ahead for one sample, and the browser shows the files
# with the results.

LESSON_CHOICE = {"sample": "meadow", "model": "bundled"}  # the picture and the model of all lessons


def write_lessons(folder: Folder, lessons: Collection[str] | None = None) -> dict:
    """{files: {page: the file of its lesson}, kit: the file with what all lessons share}"""
    here: Any = Here(LESSON_CHOICE)
    scripts_of_lessons = {
        name: folder.put(f"lessons/{name}.js", scripts.script(script.file, script.styles, script.mounts).encode())
        for name, script in SCRIPTS.items()
    }
    host_script = folder.put("lessons/host.js", bundle(HOST).encode())
    lesson_files = {}
    for name, lesson in ALL_LESSONS.items():
        if lessons is not None and name not in lessons:
            continue
        record = site_files.lesson_record(lesson, partial(site_files.write_step, folder, lesson, subject=here))
        lesson_files[name] = folder.put(f"lessons/{name}.json", json.dumps(record, ensure_ascii=False).encode())
    shared = lesson_kit(scripts_of_lessons, host_script)
    kit = json.dumps(shared | {"picture": LESSON_CHOICE}, ensure_ascii=False)
    return {"files": lesson_files, "kit": folder.put("lessons/kit.json", kit.encode())}
