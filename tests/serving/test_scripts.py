"""Our scripts' addresses hold a digest, so browsers may cache each script for ever."""

from urllib.parse import quote

import pytest

from playground.serving import scripts
from playground.ui import components
from serving.visits import assert_refused, client

APP_SCRIPT = "shell/app.js"


@pytest.fixture
def http():
    with client() as http:
        yield http


def test_a_script_comes_with_all_that_it_imports_and_its_styles(http):
    answer = http.get(f"/{scripts.address(APP_SCRIPT, *components.APP_STYLES)}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/javascript; charset=utf-8")
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "export default" in answer.text
    assert "\nimport " not in answer.text
    assert "export const styles = `" in answer.text
    assert ".opener" in answer.text.partition("export const styles")[2]


def test_another_script_and_other_styles_have_other_addresses(monkeypatch):
    plain_address = scripts.address(APP_SCRIPT)
    assert (
        len({plain_address, scripts.address(APP_SCRIPT, "shell/toolbar.css"), scripts.address("lessons/guess.js")}) == 3
    )
    monkeypatch.setattr(scripts, "script", lambda entry, styles, mounts: "another")
    assert scripts.address.__wrapped__(APP_SCRIPT) != plain_address


def test_an_old_address_is_gone_and_the_page_is_asked_to_reload(http):
    assert "reload" in assert_refused(http.get(f"/api/app/{'0' * 16}/{APP_SCRIPT}"), 410)
    # the digest in this address is of the script with other styles
    other_address = scripts.address(APP_SCRIPT, "shell/toolbar.css").split("?")[0]
    assert "reload" in assert_refused(http.get(f"/{other_address}"), 410)


@pytest.mark.parametrize(
    "entry",
    ["nothing.js", "../../app.py", "..%2F..%2Fapp.py", "%2e%2e/%2e%2e/app.py", "/etc/passwd", "shell/",
     "shell/toolbar.css", "shell/app.js%00", "", "shell//app.js"],
)  # fmt: skip
def test_an_unknown_script_is_404(http, entry):
    digest = scripts.address(APP_SCRIPT).split("/")[2]
    answer = http.get(f"/api/app/{digest}/{entry}")
    assert answer.status_code in (404, 410), answer.text[:200]
    assert "import" not in answer.text


@pytest.mark.parametrize(
    "styles", ["../../app.py", "shell/nothing.css", "shell/app.js", "," * 10**4 + "x", "/etc/passwd"]
)
def test_an_unknown_style_is_404(http, styles):
    assert_refused(http.get(f"/{scripts.address(APP_SCRIPT)}{quote(styles)}"), 404)


def test_a_file_with_several_drawings_mounts_the_one_that_is_asked_for(http):
    script = components.SCRIPTS["board"]
    assert script.file == components.SCRIPTS["atlas"].file
    answer = http.get(f"/{scripts.address(script.file, script.styles, mounts=script.mounts)}")
    assert answer.status_code == 200
    assert answer.text.count("export default") == answer.text.count("export default board;") == 1
    digest = scripts.address(script.file).split("/")[2]
    for mounts in ("paintBoard", "board;alert()", "nothing", "board" * 1000):
        assert_refused(http.get(f"/api/app/{digest}/{script.file}", params={"mounts": mounts}), 404)


def test_no_script_stands_in_a_message_to_a_page():
    """A message carries only a short stub that imports the script by its address."""
    assert len(components.STUB) < 1000
    assert "import(" in components.STUB


def test_the_number_of_cached_scripts_is_bounded(http):
    """A stranger may ask for the styles in every order, or repeat one of them a thousand times in one address."""
    names = sorted(scripts._names_of(".css"))
    assert_refused(http.get(f"/api/app/{'0' * 16}/{APP_SCRIPT}", params={"styles": ",".join(names * 3)}), 404)
    for n in range(len(names)):
        styles = ",".join([*names[n:], *names[:n]])
        assert_refused(http.get(f"/api/app/{'0' * 16}/{APP_SCRIPT}", params={"styles": styles}), 410)
    for cached_function in (scripts.script, scripts.address):
        assert cached_function.cache_info().maxsize == scripts.MOST_SCRIPTS
