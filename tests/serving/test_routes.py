"""The table WORDS_OF_ROUTE names every address and its words: it matches the routes and the scripts' requests."""

import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.testclient import TestClient

from playground.serving import chosen, ledger, people, pictures, routes_samples, scripts, settings
from playground.serving.routes import REDIRECTS, ROUTES
from playground.serving.traces import Setup
from serving.visits import ANNA, assert_refused, bring, client
from serving.words_of_routes import WORDS_OF_ROUTE

ROOT = Path(__file__).parent.parent.parent
MICROSCOPE = ROOT / "playground" / "microscope"
SCRIPTS = {
    file.relative_to(MICROSCOPE).as_posix(): file.read_text(encoding="utf-8") for file in MICROSCOPE.rglob("*.js")
}
ADDRESS_IN_SCRIPT = re.compile(r"""[`"'](/?(?:api/|figure\.|healthz|readyz)[^`"'\s]*)""")
FIGURE_ROUTES = [route for route in WORDS_OF_ROUTE if "figure" in route or "exports" in route]

A_STEP = {"lesson": "by_hand", "step": "colours"}
LESSON_ROUTE = "GET /api/lessons/{lesson}/{step}"  # reads the settings of its lesson, too


def test_the_table_has_every_route_and_no_other():
    routes = {f"{method} {route.path}" for route in ROUTES for method in route.methods - {"HEAD"}}
    assert routes == WORDS_OF_ROUTE.keys()


@pytest.mark.parametrize(("address", "target"), [("/see", "face=see")])
def test_a_short_address_leads_to_the_microscope_s_page_and_keeps_its_words(address, target):
    with TestClient(Starlette(routes=REDIRECTS), follow_redirects=False) as browser:
        answers = [browser.get(f"{address}{words}") for words in ("", "?sample=flock&query=2%2C5")]
    targets = [f"./?{target}", f"./?sample=flock&query=2%2C5&{target}"]
    assert [answer.headers["location"] for answer in answers] == targets


def test_matplotlib_is_not_loaded_before_a_figure_is_asked_for():
    code = "import sys, playground.serving.routes; print('matplotlib' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.stdout == "False\n", result


def addresses_in_scripts() -> dict[str, str]:
    """{address that a script asks for, with * in place of each ${…}: name of the script}"""
    script_of_address = {}
    for name, text in SCRIPTS.items():
        code = re.sub(r"(?m)^\s*//.*$|\s//\s.*$", "", text)
        for address in ADDRESS_IN_SCRIPT.findall(code):
            script_of_address[re.sub(r"\$\{[^}]*\}?", "*", address).lstrip("/")] = name
    return script_of_address


def fits(address: str, path: str) -> bool:
    """Whether an address fits a route's path; each * fits one part of the path."""
    parts, pattern = address.partition("?")[0].split("/"), path.lstrip("/").split("/")
    return len(parts) == len(pattern) and all(
        part == "*"
        or part == pattern_part
        or ("{" in pattern_part and re.fullmatch(re.sub(r"\{\w+\}", ".+", pattern_part), part))
        for part, pattern_part in zip(parts, pattern, strict=True)
    )


def test_the_browser_s_scripts_ask_only_for_addresses_of_routes():
    script_of_address = addresses_in_scripts()
    assert len(script_of_address) >= 8, script_of_address
    paths = [route.partition(" ")[2] for route in WORDS_OF_ROUTE]
    unknown_addresses = {
        address: name for address, name in script_of_address.items() if not any(fits(address, path) for path in paths)
    }
    assert not unknown_addresses, unknown_addresses


def test_each_parameter_in_a_script_s_address_is_one_of_its_route_s():
    script_of_word = {
        (address, word): name
        for address, name in addresses_in_scripts().items()
        for word in re.findall(r"[?&](\w+)=", address)
    }  # fmt: skip
    assert script_of_word
    for (address, word), name in script_of_word.items():
        word_lists = [words for route, words in WORDS_OF_ROUTE.items() if fits(address, route.partition(" ")[2])]
        assert any(word in words for words in word_lists), (name, address, word)


def test_each_part_of_a_trace_that_the_lens_asks_for_is_a_route_with_its_words():
    """httpsource.js builds all addresses of a trace's parts and their parameters."""
    text = SCRIPTS["shell/httpsource.js"]
    asked_parts = set(re.findall(r'(?:partAddress|fetchMatrix|fetchWithHeader)\([^")]*"(\w+)"', text))
    known_parts = {path.rpartition("/")[2] for path in WORDS_OF_ROUTE if path.startswith("GET /api/trace/")}
    assert asked_parts == known_parts
    for word, route in (("layers", "layers"), ("heads", "layers"), ("query", "flows"), ("layer", "features")):
        assert re.search(rf"[{{ (]{word}\b", text), word
        assert word in WORDS_OF_ROUTE[f"GET /api/trace/{{digest}}/{route}"]


@pytest.fixture
def words_read(monkeypatch):
    """The names of the query parameters that routes have read."""
    read_words = set()

    class Reading(QueryParams):
        def __getitem__(self, key):
            read_words.add(key)
            return super().__getitem__(key)

        def get(self, key, default=None):
            read_words.add(key)
            return super().get(key, default)

        def __contains__(self, key):
            read_words.add(key)
            return super().__contains__(key)

    monkeypatch.setattr("starlette.requests.QueryParams", Reading)
    return read_words


@pytest.mark.usefixtures("nothing_fetched")
@pytest.mark.parametrize("route", [route for route in WORDS_OF_ROUTE if route not in (*FIGURE_ROUTES, LESSON_ROUTE)])
def test_a_route_reads_its_words_and_no_others(route, words_read):
    """The route is asked for a sample and for a person's own picture."""
    method, path = route.split(" ")
    with client() as http:
        picture_id = bring(http, ANNA)["id"]
        own_picture = people.everybody().find(ANNA["X-Playground-Key"]).pictures[picture_id]
        parts = {
            "entry:path": "shell/served.js",
            "id": picture_id,
            "name": "flock",
            "edition": routes_samples.address()[-16:],
        }
        for base_words in ({"sample": "flock", "model": "bundled"}, {"mine": picture_id, "model": "bundled"}):
            picture = own_picture if "mine" in base_words else pictures.sample("flock")
            digest = chosen.digest(picture, Setup("bundled"))
            if "samples" in path:
                digest = chosen.sample_digest("flock")
            elif "app" in path:
                digest = scripts.address("shell/served.js").split("/")[2]
            filled_path = path.replace("{digest}", digest)
            for name, part in parts.items():
                filled_path = filled_path.replace(f"{{{name}}}", part)
            extra_words = {word: "0" for word in WORDS_OF_ROUTE[route] if word in ("layers", "heads", "layer", "head")}
            if path.endswith("occluded"):
                extra_words |= {"query": "3,3"}
            http.request(method, filled_path, params={**base_words, **extra_words}, headers=ANNA)
        people.everybody().forget(ANNA["X-Playground-Key"])
    assert words_read <= set(WORDS_OF_ROUTE[route]), words_read - set(WORDS_OF_ROUTE[route])
    # No route reads `sample` for a person's own picture
    unread_words = set(WORDS_OF_ROUTE[route]) - words_read - {"sample"}
    assert not unread_words, unread_words


HOSTILE_VALUES = ("\x00", "../../etc/passwd", "<script>" + "é" * 300, "NaN", "1e309", "9" * 5000, "[{}]")


@pytest.mark.usefixtures("nothing_fetched")
@pytest.mark.parametrize("route", [route for route in WORDS_OF_ROUTE if WORDS_OF_ROUTE[route] and "app" not in route])
def test_no_hostile_value_of_any_word_brings_out_more_than_a_sentence(route):
    method, path = route.split(" ")
    digest = chosen.digest(pictures.sample("flock"), Setup("bundled"))
    path = path.format(digest=digest, kind="csv", id="0" * 16, name="flock", edition="0" * 16, code="ACDEF", **A_STEP)
    with client() as http:
        for word, hostile in product(WORDS_OF_ROUTE[route], HOSTILE_VALUES):
            base_words = {"sample": "flock", "model": "bundled", "layer": "0", "layers": "0", "query": "1,1"}
            words = {key: value for key, value in base_words.items() if key in WORDS_OF_ROUTE[route]} | {word: hostile}
            answer = http.request(method, path, params=words, headers=ANNA)
            assert answer.status_code < 500, (word, hostile[:20], answer.text[:300])
            if answer.status_code >= 400:
                assert_refused(answer)


# Metrics, which only the operator may read


def client_at(address: str) -> TestClient:
    return TestClient(Starlette(routes=ROUTES), client=(address, 5))


@pytest.fixture
def present(monkeypatch):
    present = ledger.Present(ledger.costs())
    monkeypatch.setattr(ledger, "present", lambda: present)
    return present


def metric(text: str, name: str) -> float:
    return float(re.search(rf"^playground_{re.escape(name)} (.+)$", text, re.MULTILINE)[1])


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_metrics_are_read_on_the_machine_itself_and_name_nobody(present, address):
    for key in ("the same key of two tabs", "the same key of two tabs", "another key"):
        present.note(ledger.Visitor(key, "203.0.113.7"))
    ledger.costs().charge(ledger.Visitor(key, "203.0.113.7"), 1.5, "passes")
    ledger.refusals()["requests"] += 1
    answer = client_at(address).get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert metric(answer.text, "people") == 2
    assert metric(answer.text, 'waiting{queue="passes"}') == 0
    assert metric(answer.text, 'seconds_total{kind="passes"}') >= 1.5
    assert metric(answer.text, 'refused_total{reason="requests"}') >= 1
    assert metric(answer.text, "memory_bytes") > 1e7
    assert not any(word in answer.text for word in ("203.0.113", "the same key", "another key"))


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Forwarded-Proto", "X-Real-IP", "Via"])
def test_metrics_are_refused_through_a_proxy_on_the_machine(header):
    assert client_at("127.0.0.1").get("/metrics", headers={header: "127.0.0.1"}).status_code == 404


@pytest.mark.parametrize("address", ["203.0.113.7", "10.0.0.1", "testclient"])
def test_strangers_find_no_metrics_until_the_operator_names_their_address(address, monkeypatch):
    assert client_at(address).get("/metrics").status_code == 404
    monkeypatch.setattr(settings, "now", lambda: settings.Settings(operators=("10.0.0.0/8", "203.0.113.7/32")))
    assert client_at(address).get("/metrics").status_code == (404 if address == "testclient" else 200)
