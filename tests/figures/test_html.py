"""The interactive figure as a file: what is in it and what is not, its size, and names that could break its markup."""

import base64
import gzip
import json
import re
import shlex
from dataclasses import replace
from hashlib import sha256
from html import escape
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path, PurePath

import numpy as np
import pytest
from PIL import Image

import playground
from playground import PlaygroundError, tracing
from playground.figures import Spec, files, html
from playground.figures.drawing import naming
from playground.pack import unpack
from playground.samples import named
from playground.tracing import Trace
from playground.vit import Config, VisionTransformer

SPEC = Spec(image="disc.png", model="untrained")
HOSTILE_NAME = '</script><img src=x onerror="alert(1)"><!-- \n\r\u2028\u202e \'"& -->.jpg'


class Reader(HTMLParser):
    """The metadata, texts and tags of a page, read by the standard library's parser."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.metas, self.texts, self.tags, self._open = {}, {}, [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes_by_name = dict(attributes)
        self.tags.append((tag, attributes_by_name))
        self._open = attributes_by_name.get("id", attributes_by_name.get("type", tag))
        if tag == "meta":
            self.metas[attributes_by_name.get("name", attributes_by_name.get("http-equiv", ""))] = (
                attributes_by_name.get("content")
            )

    def handle_data(self, data):
        self.texts[self._open] = self.texts.get(self._open, "") + data

    def handle_endtag(self, tag):
        self._open = None

    def pack(self) -> bytes:
        return gzip.decompress(base64.b64decode(self.texts["pack"]))

    def image(self, name: str = "picture") -> Image.Image:
        source = next(
            tag_attributes["src"] for tag, tag_attributes in self.tags if tag == "img" and tag_attributes["id"] == name
        )
        return Image.open(BytesIO(base64.b64decode(source.removeprefix("data:image/jpeg;base64,"))))


def test_the_file_holds_q_and_k_of_the_chosen_layers_in_sixteen_bits(small_trace, picture):
    header, arrays = unpack(Reader(html.page(replace(SPEC, layer=1, all_layers=True), small_trace, picture)).pack())
    assert (header["held"], header["heads"]) == ([0, 1, 2], 4)
    for name in ("q", "k"):
        assert arrays[name].dtype == np.float16
        for index, layer in enumerate((0, 1, 2)):
            expected = getattr(small_trace.record[layer], name).half().numpy()
            assert np.array_equal(arrays[name][index], expected)
    assert np.allclose(arrays["value_norms"][2], small_trace.value_norms(2))


def test_a_page_with_one_layer_of_vit_small_is_near_a_megabyte_even_for_a_picture_of_noise():
    config = Config(width=384, heads=6, depth=2, mlp_width=8)
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (1500, 1500, 3), dtype=np.uint8))
    blurred = noise.resize((400, 400)).resize((1500, 1500))  # has more detail than a photograph
    trace = playground.trace(VisionTransformer(config), blurred)
    assert (trace.tokens, trace.heads, trace.size) == (197, 6, (224, 224))
    assert len(html.page(replace(SPEC, layer=1), trace, blurred).encode()) < 1.08e6


def test_the_page_may_ask_nobody_and_run_nothing_but_its_own_script(small_trace, picture):
    page = html.page(SPEC, small_trace, picture)
    reader = Reader(page)
    rules = dict(rule.strip().split(" ", 1) for rule in reader.metas["Content-Security-Policy"].split(";"))
    assert rules["default-src"] == "'none'"
    script = gzip.decompress(base64.b64decode(reader.texts["script"])).decode()
    loader, style = (page.split(tag)[1].split("</s")[0] for tag in ('<script type="module">', "<style>"))
    for kind, texts in (("script-src", (loader, script)), ("style-src", (style,))):
        digests = [base64.b64encode(sha256(text.encode()).digest()).decode() for text in texts]
        assert rules[kind] == " ".join(f"'sha256-{digest}'" for digest in digests)
    assert rules["img-src"] == "data:"
    assert set(rules) == {"default-src", "img-src", "style-src", "script-src", "base-uri", "form-action"}
    for _, tag_attributes in reader.tags:
        assert tag_attributes.get("href", "data:").startswith("data:")
        assert tag_attributes.get("src", "data:").startswith("data:")
    page += script
    for no_address in ("https://…", "http://www.w3.org/2000/svg"):  # a comment's example, and the namespace of SVG
        page = page.replace(no_address, "")
    assert not re.search(r"https?://|@import|\bimport\(|fetch\(|XMLHttpRequest|WebSocket", page)


def test_a_sample_s_author_and_licence_stand_under_it_and_in_the_facts(small_trace, picture):
    page = html.page(replace(SPEC, image="meadow"), small_trace, picture)
    assert page.count(escape(named("meadow").credit)) == 2
    assert "MIT" not in re.findall("<footer.*</footer>", html.page(SPEC, small_trace, picture))[0]


def test_the_origin_of_a_figure_is_written_in_its_file(small_trace, picture):
    spec = replace(SPEC, layer=2, all_layers=True, head=3, query="cls", scale="off")
    metas = Reader(html.page(spec, small_trace, picture)).metas
    facts = {key.removeprefix("playground:"): value for key, value in metas.items() if key.startswith("playground:")}
    assert facts.pop("weights") == f"random weights, sha256:{naming.hash_of_weights(small_trace.vit)}"
    assert facts.pop("pixels") == f"sha256:{naming.hash_of_image(picture)}"
    assert shlex.split(facts.pop("command"))[3:-2] == [
        *("figure", "disc.png", "--model", "untrained", "--size", "64x64", "--layer", "2"),
        *("--head", "3", "--patch", "cls", "--scale", "off", "--all-layers"),
    ]
    assert facts == {
        "made by": f"Attention Playground {playground.__version__}", "model": "untrained", "image": "disc.png",
        "input": "64x64", "layout": "head", "shows": "weight, row", "layer": "2", "head": "3", "patch": "cls",
        "scale": "none, this layer only", "layers": "0 1 2",
    }  # fmt: skip


def test_other_weights_and_other_pixels_have_other_fingerprints(small_trace, picture):
    other_vit = VisionTransformer(small_trace.vit.config)
    assert naming.hash_of_weights(other_vit) != naming.hash_of_weights(small_trace.vit)
    assert naming.hash_of_image(picture.rotate(90)) != naming.hash_of_image(picture)


@pytest.mark.parametrize("name", [HOSTILE_NAME, "-o", "{title}", "'; rm -rf ~ #.png"])
def test_no_file_name_breaks_out_of_the_markup(small_trace, picture, name):
    plain_page, named_page = (
        Reader(html.page(replace(SPEC, image=n), small_trace, picture)) for n in ("disc.png", name)
    )
    assert [tag for tag, _ in named_page.tags] == [tag for tag, _ in plain_page.tags]
    printable = "".join(c if c.isprintable() else "\ufffd" for c in PurePath(name).name)
    assert json.loads(named_page.texts["start"])["title"] == named_page.metas["playground:image"] == printable
    arguments = shlex.split(named_page.metas["playground:command"])
    assert arguments[4] == (f"./{printable}" if printable.startswith("-") else printable)
    assert "\n" not in named_page.metas["playground:command"]


def test_the_picture_is_small_upright_and_says_nothing_of_its_file(small_trace):
    large_image = Image.new("RGB", (2000, 1000), "green")
    large_image.info |= {"comment": b"at home", "exif": b"Exif\0\0secret"}
    embedded_image = Reader(html.page(SPEC, small_trace, large_image)).image()
    assert embedded_image.size == (html.PICTURE_SIDE, html.PICTURE_SIDE // 2)
    assert not {"comment", "exif"} & set(embedded_image.info)


@pytest.mark.slow
@pytest.mark.parametrize("choice", [{}, {"query": "cls", "theme": "dark"}, {"what": "score"}], ids=str)
def test_who_runs_no_scripts_sees_the_figure_of_what_it_begins_with(small_trace, picture, choice):
    spec = replace(SPEC, layer=1, all_layers=True, head=2, view="locked=true", **choice)
    reader = Reader(html.page(spec, small_trace, picture))
    visible = {
        tag_attributes["id"]: "hidden" not in tag_attributes for tag, tag_attributes in reader.tags if tag == "img"
    }
    assert visible == {"picture": False, "still": True}
    look = {"layer": 1, "head": 2, "query": spec.query, "width": "page", "dpi": html.STILL_DPI}
    still = playground.figure(small_trace, **look | choice).pixels().convert("RGB")
    difference = np.abs(np.asarray(reader.image("still"), int) - np.asarray(still, int)).mean()
    print(f"off by {difference:.2f} of 255 on average")
    assert difference < 4  # JPEG compression changes colours a little


def test_a_bare_file_has_no_words_around_the_picture_and_says_its_command_inside(small_trace, picture):
    reader = Reader(html.page(replace(SPEC, bare=True), small_trace, picture))
    assert "hidden" in next(tag_attributes for _, tag_attributes in reader.tags if tag_attributes.get("id") == "foot")
    assert "--bare" in shlex.split(reader.metas["playground:command"])


def test_without_a_picture_the_file_shows_the_traced_one_or_what_the_model_saw(small, small_trace, picture):
    assert Reader(html.page(SPEC, small_trace)).image().size == picture.size == (120, 120)
    assert Reader(html.page(SPEC, tracing.trace(small, picture))).image().size == (64, 64)
    with pytest.raises(PlaygroundError, match="has no picture"):
        html.page(SPEC, Trace.from_bytes(small_trace.to_bytes()))


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"scale": "2"}, "dial of an interactive figure goes from 0 to 1"),
        ({"scale": "big"}, 'A scale is "on"'),
        ({"what": "rollout"}, "no network to ask for rollout"),
        ({"what": "similarity"}, "no network to ask for similarity"),
        ({"whole": True, "scale": "off"}, "a whole pass with another scale is written as"),
        ({"layout": "scale"}, "has no layout"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(small_trace, picture, choice, sentence):
    with pytest.raises(PlaygroundError, match=sentence):
        html.page(replace(SPEC, **choice), small_trace, picture)


def test_a_pass_with_another_scale_is_refused_and_so_is_a_place_that_can_t_be_written(small, small_trace, picture):
    with pytest.raises(PlaygroundError, match="shows the trained pass"):
        html.page(SPEC, playground.trace(small, picture, scale="off"), picture)
    with pytest.raises(PlaygroundError, match="can't be written"):
        files.write_file(Path("/dev/null/a.html"), b"")


def test_all_layers_are_held_where_they_need_few_bytes_else_the_one_shown(small_trace, monkeypatch):
    def held_layers(spec) -> list[int]:
        return html.layers(html.filled_spec(spec, small_trace), small_trace)

    assert held_layers(SPEC) == [0, 1, 2]
    monkeypatch.setattr(html, "LIGHT_BYTES", 1000)
    assert (held_layers(SPEC), held_layers(replace(SPEC, layer=0))) == ([2], [0])


def test_the_page_begins_with_everything_that_was_chosen(small_trace, picture):
    spec = replace(SPEC, layer=1, head=2, what="score", ceiling=0.05, view="beside=wall&locked=true")
    start = json.loads(Reader(html.page(spec, small_trace, picture)).texts["start"])
    expected_view = {"layer": 1, "head": 2, "what": "score", "ceiling": 0.05}
    expected_view |= {"beside": "wall", "locked": "true", "query": "4,4", "scale": "on"}
    assert expected_view.items() <= start["view"].items()


def test_a_notebook_gets_a_frame_that_may_run_scripts_and_nothing_else_of_the_notebook_s(small_trace, picture):
    tag, tag_attributes = Reader(playground.show(small_trace, layer=1, head=3, query=(3, 4))._repr_html_()).tags[0]
    assert tag == "iframe"
    assert tag_attributes["sandbox"].split() == ["allow-scripts", "allow-downloads"]
    assert "src" not in tag_attributes
    metas = Reader(tag_attributes["srcdoc"]).metas
    assert [metas[f"playground:{key}"] for key in ("layer", "head", "patch", "scale")] == ["1", "3", "3,4", "1/√12"]


def test_a_notebook_that_runs_no_scripts_gets_a_still_picture_and_words(small_trace, picture):
    bundle = playground.show(small_trace, layer=1, head=3, query=(3, 4))._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    still_image = Image.open(BytesIO(base64.b64decode(bundle["image/png"])))
    assert still_image.width == 770
