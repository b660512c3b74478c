"""Our scripts' addresses hold a digest, so browsers may cache each script for ever."""

import pytest

from playground.serving import lesson_scripts, scripts
from playground.ui.site import page

SCRIPT, STYLES = "shell/shared.js", page.SHARED_PAGE_FILES[1:]


def test_a_script_comes_with_all_that_it_imports_and_its_styles(http):
    answer = http.get(f"/{scripts.address(SCRIPT, *STYLES)}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/javascript; charset=utf-8")
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "export default" in answer.text
    assert "\nimport " not in answer.text
    assert "export const styles = `" in answer.text
    assert ".lens" in answer.text.partition("export const styles")[2]


def test_every_script_that_a_page_mounts_comes_from_its_own_address(http):
    """Among them are several drawings of one file, each mounted by another function."""
    text_at = {}
    for script in lesson_scripts.SCRIPTS.values():
        address = scripts.address(script.file, *script.styles, mounts=script.mounts)
        answer = http.get(f"/{address}")
        assert answer.status_code == 200, script
        assert answer.text.endswith(scripts.script(script.file, script.styles, script.mounts)), script
        if script.mounts:
            assert answer.text.count("export default") == answer.text.count(f"export default {script.mounts};") == 1
        text_at[address] = answer.text
    assert len(set(text_at.values())) == len(text_at)


def test_a_script_comes_compressed_where_the_browser_can_read_that(http):
    address = "/" + scripts.address(SCRIPT, *STYLES)
    packed = http.get(address, headers={"Accept-Encoding": "gzip, br"})
    plain = http.get(address, headers={"Accept-Encoding": "identity"})
    assert packed.text == plain.text
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert "content-encoding" not in plain.headers
    assert int(packed.headers["content-length"]) < 0.5 * int(plain.headers["content-length"])


@pytest.mark.parametrize(
    "entry",
    ["nothing.js", "../../app.py", "..%2F..%2Fapp.py", "%2e%2e/%2e%2e/app.py", "/etc/passwd", "shell/",
     "shell/toolbar.css", "shell/shared.js%00", "", "shell//app.js"],
)  # fmt: skip
def test_an_unknown_script_is_404(http, entry):
    digest = scripts.address(SCRIPT, *STYLES).split("/")[2]
    answer = http.get(f"/api/app/{digest}/{entry}")
    assert answer.status_code == 404, answer.text[:200]
    assert "import" not in answer.text
