"""What a host wants beside the site's files, so that the folder is pushed as it is: `site OUT --for HOST`."""

from __future__ import annotations

from pathlib import Path

from playground.ui.site.page import DESCRIPTION

# Hugging Face refuses binary files that are not in its large-file store
SPACE_ATTRIBUTES = "".join(
    f"*.{kind} filter=lfs diff=lfs merge=lfs -text\n"
    for kind in ("bin", "jpg", "pack", "packed", "png", "wasm", "woff2")
)
SPACE_README = """---
title: Attention Playground
emoji: 👁️
colorFrom: indigo
colorTo: yellow
sdk: static
app_file: index.html
pinned: false
license: mit
{thumbnail}short_description: Where each patch of your photo looks, in a real ViT
tags: [attention, vision-transformer, visualization, education]
---

{description} Networks run in the visitor's browser; no photograph leaves it.
[LICENCES.md](LICENCES.md) names whose weights and pictures these are.
"""
# Names with a digest never change their content; of the other files Netlify itself says max-age=0, must-revalidate
NETLIFY_HEADERS = """/*
  X-Content-Type-Options: nosniff
/samples/*
  Cache-Control: public, max-age=31536000, immutable
/weights/*
  Cache-Control: public, max-age=31536000, immutable
/lessons/*
  Cache-Control: public, max-age=31536000, immutable
/moments/*
  Cache-Control: public, max-age=31536000, immutable
"""
NEXT = {  # host -> what publishes the folder; the hosts of the option --for
    "space": "hf upload YOU/attention {out} . --type space",
    "pages": "push {out} to a branch, and choose that branch under Settings, Pages",
    "netlify": "netlify deploy --prod --dir {out}",
}


def write_for(host: str, out: Path, preview: str) -> None:
    """Writes the host's own files beside the site's. `preview`: the address of the picture of links."""
    if host == "space":
        thumbnail = f"thumbnail: {preview}\n" if preview.startswith("https:") else ""
        readme = SPACE_README.format(thumbnail=thumbnail, description=DESCRIPTION)
        (out / "README.md").write_text(readme, encoding="utf-8")
        (out / ".gitattributes").write_text(SPACE_ATTRIBUTES, encoding="utf-8")
    if host == "netlify":
        (out / "_headers").write_text(NETLIFY_HEADERS, encoding="utf-8")
