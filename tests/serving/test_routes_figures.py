"""An address of a figure gives the command's file, byte for byte, or refuses what the command refuses."""

import io
import shlex
import threading
from pathlib import Path
from urllib.parse import urlencode

import pytest
from PIL import Image
from starlette.applications import Starlette
from starlette.testclient import TestClient
from waiting import until

from playground.__main__ import main
from playground.figures.drawing.spec import PURPOSES
from playground.figures.layouts import LAYOUTS
from playground.serving import figure_files, people, pictures, queue
from playground.serving.routes_figures import ROUTES

PORTRAIT = Path(__file__).parent.parent.parent / "assets" / "samples" / "portrait.jpg"
KEY = {"X-Playground-Key": "a-key-of-a-browser-in-a-test"}
STRANGER = {"X-Playground-Key": "another-key-of-a-test-browser"}
FLOCK = {"sample": "flock", "model": "bundled", "layer": "3", "head": "2", "query": "4,9"}
AS_FLAGS = "figure flock --layer 3 --head 2 --patch 4,9"
TINY, AS_TINY = {"purpose": "column", "dpi": "20"}, "--for column --dpi 20"
WRITTEN = {"csv", "npz", "json"}  # which have neither width nor dots


def small(kind: str) -> tuple[dict, str]:
    return ({}, "") if kind in WRITTEN else (TINY, AS_TINY)


@pytest.fixture(scope="module")
def client():
    return TestClient(Starlette(routes=ROUTES))


@pytest.fixture
def mine():
    """The id of a photograph of somebody's own."""
    picture = pictures.upload(PORTRAIT.read_bytes(), "my cat.jpg")
    people.enter(KEY["X-Playground-Key"]).take(picture)
    yield picture.id
    people.forget(KEY["X-Playground-Key"])


def ask(client, kind: str, words: dict, method: str = "GET", **options):
    headers = KEY if method == "POST" else {}
    return client.request(method, f"/figure.{kind}", params=words, headers=headers | options.pop("headers", {}))


def made(client, kind: str, words: dict, method: str = "GET") -> bytes:
    answer = ask(client, kind, words, method)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == figure_files.TYPES[kind]
    return answer.content


def by_command(flags: str, kind: str, folder: Path) -> bytes:
    words = shlex.split(flags)
    picture = words[1] if len(words) > 1 and not words[1].startswith("-") else "figure"
    layout = words[words.index("--layout") + 1] if "--layout" in words else "head"
    out = folder / f"{picture}-{layout}.{kind}"  # a file says what it is called
    assert main([*words, "-o", str(out)]) == 0
    return out.read_bytes()


def refused(client, kind: str, words: dict, method: str = "GET", status: int = 400, **options) -> str:
    answer = ask(client, kind, words, method, **options)
    assert answer.status_code == status, answer.text[:300]
    return answer.json()["says"]


# The same file --------------------------------------------------------------------------------------------------------

OF_LAYOUTS = {  # (words beside the picture and how it looks, the same as flags)
    "head": (FLOCK, AS_FLAGS),
    "convolution": (FLOCK | {"k": "7", "depth": "2"}, f"{AS_FLAGS} --kernel 7 --depth 2"),
    "heads": (
        {key: value for key, value in FLOCK.items() if key != "head"},
        "figure flock --layer 3 --patch 4,9",
    ),
    "wall": ({"sample": "flock", "model": "bundled", "query": "cls"}, "figure flock --patch cls"),
    "scale": (FLOCK | {"scale": "0.3", "pass": "whole"}, f"{AS_FLAGS} --scale 0.3 --whole"),
    "compare": (FLOCK | {"with": "sample:landscape"}, f"{AS_FLAGS} --with-image landscape"),
    "change": (FLOCK | {"with": "sample:meadow"}, f"{AS_FLAGS} --with-image meadow"),
    "grid": (
        {"sample": "flock", "model": "bundled", "layer": "3", "rows": "pictures:flock,meadow", "columns": "heads:0-2"},
        "figure flock --layer 3 --rows pictures:flock,meadow --columns heads:0-2",
    ),
    "components": ({"sample": "flock", "model": "bundled", "layer": "2"}, "figure flock --layer 2"),
    "atlas": ({"sample": "flock", "model": "bundled"}, "figure flock"),
    "curves": ({}, "figure"),
}


def test_every_layout_is_tried():
    assert OF_LAYOUTS.keys() == LAYOUTS.keys()


# The numbers of those that the sheet of Export offers: test_export_commands.py
@pytest.mark.parametrize(
    ("layout", "kind"), [*((layout, "svg") for layout in LAYOUTS), ("grid", "csv"), ("curves", "csv")]
)
def test_every_layout_is_the_file_of_the_command(client, layout, kind, tmp_path):
    words, flags = OF_LAYOUTS[layout]
    look, as_flags = small(kind)
    if (layout, kind) == ("heads", "svg"):
        look, as_flags = look | {"colours": "own"}, f"{as_flags} --colours own"
    ours = made(client, kind, words | look | {"layout": layout})
    assert ours == by_command(f"{flags} --layout {layout} {as_flags}", kind, tmp_path)


@pytest.mark.parametrize("kind", ["pdf", "npz", "json"])
def test_every_still_kind_is_the_file_of_the_command(client, kind, tmp_path):
    look, as_flags = small(kind)
    assert made(client, kind, FLOCK | look) == by_command(f"{AS_FLAGS} {as_flags}", kind, tmp_path)


def test_what_a_file_of_numbers_has_no_use_for_is_refused(client):
    assert "would change nothing here" in refused(client, "csv", FLOCK | {"dpi": "20"})


def test_another_model_beside_it_is_the_file_of_the_command(client, tmp_path):
    words = FLOCK | TINY | {"layout": "compare", "with": "model:untrained"}
    flags = f"{AS_FLAGS} {AS_TINY} --layout compare --with-model untrained"
    assert made(client, "svg", words) == by_command(flags, "svg", tmp_path)


def test_a_finer_grid_is_the_file_of_the_command(client, tmp_path):
    here = {"sample": "flock", "model": "bundled", "detail": "2", "layer": "3", "head": "2", "query": "9,20"}
    data = client.get("/api/exports", params=here | {"layout": "head"}).json()
    assert "--size" in data["command"]
    assert client.get(f"/{data['file']['address']}").content == by_command(
        data["command"].removeprefix("python -m playground ").rsplit(" -o ", 1)[0], "png", tmp_path
    )


LOOKS = {
    "--draw light --log": {"draw": "light", "log": "true"},
    "--smooth --ceiling 0.05": {"smooth": "true", "ceiling": "0.05"},
    "--direction column --what value": {"direction": "column", "what": "value"},
    "--theme dark --no-caption --footer": {"theme": "dark", "caption": "false", "footer": "true"},
    "--transparent --no-bar --no-marker --no-prefix": {
        "transparent": "true", "bar": "false", "marker": "false", "prefix": "false",
    },
    "--mass 0.6 --mask --letters": {"mass": "0.6", "mask": "true", "letters": "true"},
    "--over photo --with-patch 1,2-3,4": {"other_queries": "1,2-3,4"},
    "--head mean --anonymous": {"head": "mean", "anonymous": "true"},
}  # fmt: skip


@pytest.mark.parametrize("flags", [flags for flags in LOOKS if "--over" not in flags])
def test_every_look_is_the_file_of_the_command(client, flags, tmp_path):
    head = "" if "--head" in flags else "--head 2"
    command = f"figure flock --layer 3 {head} --patch 4,9 {AS_TINY} {flags}"
    assert made(client, "png", FLOCK | TINY | LOOKS[flags]) == by_command(command, "png", tmp_path)


def test_a_width_of_ones_own_is_the_file_of_the_command(client, tmp_path):
    ours = made(client, "png", FLOCK | {"width": "89mm", "dpi": "20"})
    assert ours == by_command(f"{AS_FLAGS} --width 89mm --dpi 20", "png", tmp_path)


def test_what_moves_is_the_file_of_the_command(client, tmp_path):
    words = {key: value for key, value in FLOCK.items() if key != "layer"} | TINY | {"sweep": "layers"}
    ours = made(client, "webp", words, "POST")
    assert Image.open(io.BytesIO(ours)).n_frames > 1
    flags = AS_FLAGS.replace(" --layer 3", "")
    assert ours == by_command(f"{flags} {AS_TINY} --sweep layers", "webp", tmp_path)


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        ({}, ""),
        ({"pack": "int8", "theme": "dark", "locked": "true"}, "--pack int8 --theme dark --view locked=true"),
        ({"bare": "true", "scale": "off"}, "--bare --scale off"),
    ],
    ids=str,
)
def test_what_lives_is_the_file_of_the_command(client, words, flags, tmp_path):
    ours = made(client, "html", FLOCK | words, "POST")
    assert ours == by_command(f"{AS_FLAGS} {flags}", "html", tmp_path)


def test_all_layers_alive_are_the_file_of_the_command(client, tmp_path):
    ours = made(client, "html", FLOCK | {"held": "all"}, "POST")
    assert ours == by_command("figure flock --layer 3,all --head 2 --patch 4,9", "html", tmp_path)


def test_a_picture_opens_where_it_opens_in_the_app(client, tmp_path):
    ours = made(client, "svg", {"sample": "flock", "model": "bundled"} | TINY)
    assert ours == by_command(f"figure flock {AS_TINY}", "svg", tmp_path)


# Refused --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"layer": "6"}, "There is no layer 6; they count from 0 to 5."),
        ({"layer": "4000"}, "layer can't be '4000'"),
        ({"head": "17"}, "There is no head 17"),
        ({"head": "all"}, "head can't be 'all'"),
        ({"query": "99,0"}, "There is no patch (99, 0): rows count from 0 to 13"),
        ({"query": "reg99"}, "has no token called 'reg99'"),
        ({"query": "up"}, "query can't be 'up'"),
        ({"scale": "loud"}, "scale can't be 'loud'"),
        ({"what": "importance"}, "what can't be 'importance': weight, value"),
        ({"layout": "heds"}, "A figure's layout is head, convolution"),
        ({"dpi": "9"}, "dpi goes from 10 to 2400; given was 9."),
        ({"dpi": "many"}, "dpi is a number; given was 'many'."),
        ({"dpi": "2400"}, "this server draws 5,000 at most"),
        ({"mass": "7"}, "mass is a share between 0.01 and 0.99"),
        ({"width": "far"}, "a width is 5.5in"),
        ({"caption": "no"}, "caption is true or false; given was 'no'."),
        ({"font": "Nobody Has It"}, "There is no font 'Nobody Has It'"),
        ({"patch": "4,9"}, "knows no word 'patch'; did you mean"),
        ({"lauout": "head"}, "knows no word 'lauout'; did you mean layout?"),
        ({"weights": "/etc/passwd"}, "knows no word 'weights'"),
        ({"font": "x" * 500}, "font has 500 letters"),
        ({"layout": "compare"}, "Add with=sample:NAME or with=model:NAME."),
        ({"with": "sample:meadow"}, "with would change nothing here: it belongs to layout=compare or layout=change."),
        ({"k": "5"}, "k would change nothing here: it belongs to layout=convolution."),
        ({"pass": "whole"}, "pass=whole would change nothing here: every pass runs with 1/√dₖ: add scale."),
        ({"layout": "wall", "what": "rollout"}, "has no heads"),
        ({"locked": "true"}, "locked would change nothing here: it belongs to an interactive figure"),
        ({"held": "all"}, "held belongs to an .html"),
        ({"sweep": "layers"}, "ask for figure.webp"),
        ({"layout": "curves"}, "takes no picture. Leave sample out."),
        ({"layout": "grid"}, "A grid needs rows and columns"),
        ({"layout": "grid", "rows": "pictures:flock,/etc/passwd"}, "There is no sample called '/etc/passwd'"),
        ({"detail": "9"}, "times as fine as usual"),
        ({"sample": "../flock"}, "There is no sample called"),
        ({"model": "/tmp/x.safetensors"}, "A file of weights is loaded by playground.load"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_is_refused_with_a_sentence(client, words, says):
    answer = ask(client, "svg", FLOCK | words)
    assert 400 <= answer.status_code < 405, answer.text[:200]
    sentence = answer.json()["says"]
    assert says in sentence
    assert "--" not in sentence, "an address has no flags"


def test_a_grid_of_more_than_a_server_draws_is_refused(client):
    words = {"sample": "flock", "model": "bundled", "layout": "grid", "columns": "scales:on,on,on,on,on,on"}
    assert "A grid of 240 maps is too much" in refused(client, "svg", words | {"rows": "patches:1,1" + 39 * "-1,2"})
    names = ",".join(f"ViT-Ti/{patch}" for patch in range(8, 22))
    assert "A grid of 14 pictures and models" in refused(client, "svg", words | {"rows": f"models:{names}"})


@pytest.mark.parametrize(
    ("word", "value", "flag", "typed", "addressed"),
    [
        ("k", "5", "--kernel", "--kernel would change nothing here: it belongs to --layout convolution.",
         "k would change nothing here: it belongs to layout=convolution."),
        ("layer", "9", "--layer", "There is no layer 9; they count from 0 to 5.", None),
        ("head", "99", "--head", "There is no head 99; they count from 0 to 5.", None),
    ],
)  # fmt: skip
def test_what_a_flag_refuses_is_refused_in_an_address_in_its_words(
    client, word, value, flag, typed, addressed, capsys, tmp_path
):
    flags = AS_FLAGS.replace(f"{flag} {FLOCK.get(word)}", "")
    assert main([*shlex.split(f"{flags} {AS_TINY} {flag} {value}"), "-o", str(tmp_path / "no.svg")]) != 0
    assert capsys.readouterr().err.strip() == f"playground: {typed}"
    assert refused(client, "svg", FLOCK | TINY | {word: value}) == (addressed or typed)


def test_what_has_no_kind_or_no_movement_is_refused(client):
    assert "There is no figure.gif; there are png, svg" in refused(client, "gif", FLOCK, status=404)
    assert "A .webp moves: add sweep=layers" in refused(client, "webp", FLOCK, "POST")
    for kind in ("webp", "html"):
        assert "asked for by POST" in refused(client, kind, FLOCK, status=405)
    assert "dots across" in refused(client, "webp", FLOCK | {"sweep": "scale", "dpi": "200"}, "POST")
    sweeps = {"layout": "atlas", "sweep": "layers", "sample": "flock", "model": "bundled"}
    assert "nothing moves with layers" in refused(client, "webp", sweeps, "POST")


def test_a_path_as_a_sweep_is_made_by_the_command_alone(client):
    endless = {key: value for key, value in FLOCK.items() if key != "query"} | {"sweep": "patches:0,0-999999999,0"}
    assert "What moves here goes through layers or scale" in refused(client, "webp", endless, "POST")


def test_what_cannot_live_is_refused(client):
    assert "has no network to ask for similarity" in refused(
        client, "html", {"sample": "flock", "model": "bundled", "layer": "3", "what": "similarity"}, "POST"
    )
    assert "dpi would change nothing" in refused(client, "html", FLOCK | {"dpi": "20"}, "POST")


# Whose picture it is --------------------------------------------------------------------------------------------------


def test_a_figure_of_ones_own_picture_needs_its_key(client, mine):
    words = {"mine": mine, "model": "bundled", "layer": "3"} | TINY
    found = ask(client, "png", words, "POST")
    assert found.status_code == 200, found.text[:200]
    assert found.headers["cache-control"] == "no-store"
    assert "etag" not in found.headers
    assert "asked for by POST" in refused(client, "png", words, status=403)
    assert "asked for by POST" in refused(client, "png", words, status=403, headers=KEY)
    assert client.post("/figure.png", params=words).status_code == 403
    assert client.post("/figure.png", params=words, headers=STRANGER).status_code == 404
    elsewhere = KEY | {"Origin": "https://elsewhere.example"}
    assert client.post("/figure.png", params=words, headers=elsewhere).status_code == 403
    assert client.get("/api/exports", params=words).status_code in (400, 404)


def test_what_is_made_of_two_pictures_stays_with_the_person_whose_own_one_of_them_is(client, mine):
    words = FLOCK | TINY | {"layout": "compare", "with": f"mine:{mine}"}
    people.worked_for_all.cache_clear()
    assert "asked for by POST" in refused(client, "png", words, status=403)
    assert client.post("/figure.png", params=words, headers=STRANGER).status_code == 404
    assert ask(client, "png", words, "POST").status_code == 200
    assert people.worked_for_all().bytes == 0 < people.known(KEY["X-Playground-Key"]).worked.bytes


def test_a_file_of_ones_own_picture_has_its_name(client, mine):
    data = client.get("/api/exports", params={"mine": mine, "model": "bundled", "layer": "3"}, headers=KEY).json()
    assert data["file"]["name"] == "my cat-convolution.png"
    assert data["file"]["method"] == data["preview"]["method"] == "POST"
    assert f"mine={mine}" in data["file"]["address"]


# In a page of somebody's own ------------------------------------------------------------------------------------------


def test_a_page_can_hold_one_and_a_reader_can_keep_it(client):
    shown = ask(client, "svg", FLOCK | TINY)
    assert shown.headers["content-disposition"] == "inline; filename*=UTF-8''flock-head.svg"
    saved = ask(client, "svg", FLOCK | TINY | {"download": "1"})
    assert saved.headers["content-disposition"] == "attachment; filename*=UTF-8''flock-head.svg"
    assert saved.content == shown.content
    assert "attachment" in ask(client, "html", FLOCK, "POST").headers["content-disposition"]


def test_what_a_browser_has_is_not_drawn_again(client, monkeypatch):
    first = ask(client, "svg", FLOCK | TINY)
    assert first.headers["cache-control"] == "public, max-age=3600"
    monkeypatch.setattr(figure_files, "file", lambda *_: pytest.fail("it was drawn again"))
    again = ask(client, "svg", FLOCK | TINY, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_page_s_picture_waits_for_its_turn_and_our_own_script_is_told(client, monkeypatch):
    made(client, "csv", FLOCK)  # traced before: who asks for the same trace at the same moment waits without a turn
    line = queue.Queue(1)
    monkeypatch.setattr(queue, "figures", lambda: line)
    answers = []
    people.worked_for_all.cache_clear()
    with line.take():
        asked = threading.Thread(target=lambda: answers.append(ask(client, "png", FLOCK | TINY)))
        asked.start()
        until(lambda: line.waiting, "the picture of a page waits")
        told = ask(client, "png", FLOCK | TINY | {"head": "1"}, headers=KEY)
        # The picture was asked without a key from the same address: it may be of the same page, and is no other person.
        assert (told.status_code, told.json()["before"]) == (202, 1)
        assert not answers
    asked.join(60)
    assert answers[0].headers["content-type"] == "image/png"


def test_another_figure_has_another_tag(client):
    one, other = (ask(client, "svg", FLOCK | TINY | {"head": head}).headers["etag"] for head in ("0", "1"))
    assert one != other


def test_a_class_that_looks_at_one_figure_has_it_drawn_once(client, monkeypatch):
    people.worked_for_all.cache_clear()
    drawn = []
    monkeypatch.setattr(figure_files, "_picture", lambda *asked: drawn.append(asked) or b"a picture")
    assert [ask(client, "png", FLOCK | TINY).content for _ in range(3)] == [b"a picture"] * 3
    assert len(drawn) == 1


# What Export offers ---------------------------------------------------------------------------------------------------


def offers(client, **words) -> dict:
    answer = client.get("/api/exports", params={"sample": "flock", "model": "bundled", **words})
    assert answer.status_code == 200, answer.text
    return answer.json()


def names(data: dict, what: str) -> list[str]:
    return [option["name"] for option in data["offers"][what]]


def test_export_offers_what_the_tables_hold(client):
    data = offers(client, layer="3", head="2")
    assert names(data, "kind") == ["png", "svg", "pdf", "html", "webp", "numbers"]
    assert names(data, "layout") == [name for name in LAYOUTS if name not in ("grid", "compare", "change")]
    assert names(data, "purpose") == list(PURPOSES)
    assert data["chosen"]["layout"] == "convolution"
    beside = {"with": "sample:meadow", "beside": "compare"}
    compared = client.get("/api/exports", params={"sample": "flock", "model": "bundled"} | beside).json()
    assert compared["chosen"]["layout"] == "compare"


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ({"with": "sample:meadow"}, True), ({"with": "model:untrained"}, True),
        ({"with": "sample:landscape"}, False),  # of another shape
        ({"with": "sample:meadow", "what": "components"}, False),
    ],
)  # fmt: skip
def test_a_change_is_offered_where_patches_can_be_subtracted(client, words, offered):
    assert ("change" in names(offers(client, **words), "layout")) == offered


def test_only_what_can_be_is_offered(client):
    data = offers(client, what="similarity", kind="html")
    assert "html" not in names(data, "kind")
    assert data["chosen"]["kind"] == "png"
    assert names(data, "layout") == ["head", "convolution", "components", "curves"]
    moving = offers(client, what="similarity", kind="webp", sweep="scale")
    assert names(moving, "sweep") == ["layers"]
    assert moving["chosen"]["sweep"] == "layers"
    assert "atlas" not in names(offers(client, kind="webp"), "layout")


OFFERED = [layout for layout in LAYOUTS if layout != "grid"]  # in the sheet nobody says which rows and columns


@pytest.mark.parametrize(
    ("layout", "kind"),
    [*((layout, "svg") for layout in OFFERED), ("head", "numbers"), ("compare", "numbers"), ("head", "webp")],
)
def test_the_offered_address_is_the_offered_command(client, layout, kind, tmp_path):
    words = FLOCK | {
        "layout": layout, "kind": kind, "table": "csv", "purpose": "column", "background": "dark", "what": "value",
        "k": "5", "scale": "off", "locked": "true", "grid": "true", "colours": "own", "footer": "true",
        "curtain": "0.5",
    }  # fmt: skip
    others = {"compare": {"with": "sample:landscape"}, "change": {"with": "sample:meadow"}}
    beside = others.get(layout, {})
    data = client.get("/api/exports", params=words | beside).json()
    assert data["chosen"]["layout"] == layout
    file, suffix = data["file"], data["file"]["name"].rpartition(".")[2]
    ours = client.request(file["method"], f"/{file['address']}", headers=KEY)
    assert ours.status_code == 200, (file, ours.text[:300])
    flags = data["command"].removeprefix("python -m playground ").rsplit(" -o ", 1)
    assert flags[1] == file["name"]
    assert ours.content == by_command(flags[0], suffix, tmp_path)


def test_the_offered_living_figure_is_the_offered_command(client, tmp_path):
    for held in ("layer", "all"):
        words = {
            "sample": "flock",
            "model": "bundled",
            "kind": "html",
            "held": held,
            "locked": "true",
            "beside": "wall",
        }
        data = client.get("/api/exports", params=words).json()
        ours = client.post(f"/{data['file']['address']}", headers=KEY)
        assert ours.status_code == 200, ours.text[:300]
        flags = data["command"].removeprefix("python -m playground ").rsplit(" -o ", 1)[0]
        assert ours.content == by_command(flags, "html", tmp_path)


def test_a_lesson_offers_its_own_figure(client):
    data = offers(client, only="atlas", what="similarity")
    assert names(data, "kind") == ["png", "svg", "pdf", "numbers"]
    assert names(data, "layout") == ["atlas"]
    assert data["file"]["address"].startswith("figure.png?sample=flock&model=bundled&layout=atlas")
    assert offers(client, only="curves")["file"]["address"] == "figure.png?layout=curves"


@pytest.mark.parametrize("kind", ["png", "numbers", "html"])
def test_the_preview_is_the_figure_with_few_dots(client, kind):
    data = offers(client, kind=kind, layer="3")
    shown = client.request(data["preview"]["method"], f"/{data['preview']['address']}")
    assert abs(Image.open(io.BytesIO(shown.content)).width - 960) < 14


def test_the_size_of_a_living_figure_is_said(client):
    words = FLOCK | {"kind": "html", "pack": "int8", "held": "layer"}
    says = client.get("/api/exports/size", params=words).json()["says"]
    size = len(ask(client, "html", FLOCK | {"pack": "int8"}, "POST").content)
    assert f"One file of {size / 1e6:.2f} MB" in says
    assert "With q and k in 8 bits: a weight is off by at most" in says


def test_an_unknown_word_is_refused_here_too(client):
    answer = client.get(f"/api/exports?{urlencode({'sample': 'flock', 'lauout': 'head'})}")
    assert answer.status_code == 400
    assert "did you mean layout?" in answer.json()["says"]
