"""Private parts of Streamlit that the app uses: a test fails when a new release changes one of them."""

import ast
import dataclasses
import inspect
import logging
import re
import tomllib
from pathlib import Path

import pytest
import streamlit
from browser.test_page import contrast
from streamlit import delta_generator, logger, net_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import websocket_session_manager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import ScriptRunContext
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.testing.v1 import AppTest

from playground.ui import door, frame, streamlit_private

ROOT = Path(__file__).parent.parent.parent
EARLY_SCRIPT = ROOT / "playground" / "microscope" / "shell" / "early.js"
FRONTEND = Path(streamlit.__file__).parent / "static" / "static" / "js"
TOAST_WARNING = "During a fragment rerun, within a callback, displaying elements is not officially supported"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_caption_which_streamlit_draws_in_60_percent_of_the_text_s_colour_is_readable(scheme):
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"][scheme]
    ink, paper = ([int(theme[name][n : n + 2], 16) for n in (1, 3, 5)] for name in ("textColor", "backgroundColor"))
    caption = [round(0.6 * a + 0.4 * b) for a, b in zip(ink, paper, strict=True)]
    assert contrast(str(caption), str(paper)) > 4.5


def test_streamlit_asks_nobody_for_this_machine_s_address():
    from streamlit.web.server import server_util

    assert callable(net_util.get_external_ip)
    # the function is looked up at each call, so our replacement is called
    assert "net_util.get_external_ip," in inspect.getsource(server_util)


def test_streamlit_s_page_takes_its_server_s_address_from_the_page():
    scripts = [file.read_text("utf-8") for file in FRONTEND.glob("index.*.js")]
    assert any(re.search(r"new URL\(\w+\?\?window\.location\.href\)", script) for script in scripts)
    assert any(re.search(r"\w+\(\w+\.BACKEND_BASE_URL\)", script) for script in scripts)


def test_a_fresh_server_never_runs_pages_without_app_py(monkeypatch):
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    streamlit_private.use_our_pages()
    PagesManager(str(ROOT / "app.py"))  # without `use_our_pages`, this would search pages/
    assert PagesManager.uses_pages_directory is False


def test_a_thread_knows_whether_it_runs_a_page():
    def page():
        import streamlit as st

        from playground.ui import streamlit_private

        st.text(str(streamlit_private.on_a_page()))

    assert not streamlit_private.on_a_page()
    assert AppTest.from_function(page).run().text[0].value == "True"


def test_any_look_at_the_session_s_state_stops_a_page_that_was_left():
    assert "_yield_callback()" in inspect.getsource(SafeSessionState.__getitem__)


def test_a_run_knows_whether_the_browser_went_back():
    assert "is_history_navigation" in {field.name for field in dataclasses.fields(ScriptRunContext)}
    assert not streamlit_private.went_through_history()


def test_a_toast_within_a_callback_leaves_no_warning():
    assert TOAST_WARNING in inspect.getsource(delta_generator)
    record = logging.LogRecord("streamlit", logging.WARNING, "", 0, TOAST_WARNING, (), None)
    log = logger.get_logger("root")  # the logger that delta_generator uses
    former_filters = list(log.filters)
    streamlit_private.hush_toasts()
    assert not log.filter(record)
    log.filters[:] = former_filters


def test_no_session_s_id_stands_in_the_log():
    source = inspect.getsource(websocket_session_manager)
    assert "Session with id %s is already connected!" in source
    log = websocket_session_manager._LOGGER
    former_filters = list(log.filters)
    streamlit_private.hide_sessions()
    record = logging.LogRecord(log.name, logging.WARNING, "", 0, "Session with id %s", ("secret",), None)
    assert log.filter(record)
    assert record.getMessage() == "Session with id …"
    log.filters[:] = former_filters


SCRIPT_PARTS = re.findall(r'^export const \w+ = "(.+?)";', EARLY_SCRIPT.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("word", SCRIPT_PARTS)
def test_the_page_s_parts_are_called_as_the_scripts_say(word):
    assert any(word in file.read_text(encoding="utf-8") for file in FRONTEND.glob("*.js")), word


def test_the_scripts_name_streamlit_s_parts_in_one_file_alone():
    private_word = re.compile(r"data-testid|data-test-|data-stale|\bst[A-Z]\w+")
    files = [file for kind in ("js", "css") for file in EARLY_SCRIPT.parent.parent.rglob(f"*.{kind}")]
    names = {file.name for file in files if private_word.search(file.read_text(encoding="utf-8"))}
    assert names == {EARLY_SCRIPT.name}


@pytest.mark.parametrize("selector", streamlit_private.SELECTORS.values())
def test_the_page_s_parts_are_called_as_the_styles_say(selector):
    attribute, _, value = selector.strip("[]").replace('"', "").partition("=")
    word = value if attribute == "data-testid" else attribute
    files = [file for file in FRONTEND.glob("*.js") if word in file.read_text(encoding="utf-8")]
    assert files, f"nothing in Streamlit's frontend says {word}"


# How many private parts the app uses ----------------------------------------------------------------------------------

OUR_FILES = [ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "playground").rglob("*.py")]

PRIVATE_FILE = "streamlit_private.py"


def submodule_names(file: Path) -> set[str]:
    """The names that a file imports from Streamlit's submodules."""
    imported_names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported_names |= {alias.name for alias in node.names if alias.name.startswith("streamlit.")}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "streamlit":
            imported_names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return imported_names


def private_attributes(file: Path) -> set[str]:
    """The names of private attributes that a file reads from other objects than `self` and `cls`."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    attributes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr.startswith("_"))
    private_names = {
        node.attr for node in attributes if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    }
    return {name for name in private_names if not name.endswith("__")}


def replaced_parts(file: Path) -> set[str]:
    """The parts of Streamlit's modules that a file replaces: `module.part = …`."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    streamlit_names = {name.rpartition(".")[2] for name in submodule_names(file)}
    targets = (part for node in ast.walk(tree) if isinstance(node, ast.Assign) for part in node.targets)
    return {
        f"{part.value.id}.{part.attr}"
        for part in targets
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in streamlit_names
    }


def test_at_most_ten_private_names_of_streamlit_are_used():
    streamlit_files = [file for file in OUR_FILES if "streamlit" in file.read_text(encoding="utf-8")]
    names = {
        file.name: inner_names
        for file in streamlit_files
        if (inner_names := submodule_names(file) | private_attributes(file))
    }
    assert sum(map(len, names.values())) <= 10, names
    # launch.py starts Streamlit as Streamlit's own command does
    assert set(names) <= {PRIVATE_FILE, "launch.py"}, names


def test_at_most_eight_selectors_reach_into_streamlit_s_page_and_each_is_used():
    selectors = {*(f'[data-testid="{part}"]' for part in SCRIPT_PARTS), *streamlit_private.SELECTORS.values()}
    assert len(selectors) <= 8, selectors
    for name in streamlit_private.SELECTORS:
        assert re.search(rf"\b{name}\b", frame.STYLE), f"no style names {name}"
    assert not re.findall(r"\.(?:st[A-Z]|block-container|stApp)", frame.STYLE)


def test_at_most_two_parts_of_streamlit_are_replaced_and_each_says_which_attack_it_ends():
    replaced_names = {file.name: names for file in OUR_FILES if (names := replaced_parts(file))}
    assert replaced_names == {PRIVATE_FILE: {"net_util.get_external_ip", "PagesManager.uses_pages_directory"}}
    for function in (streamlit_private.ask_nobody_for_our_address, streamlit_private.use_our_pages):
        assert "attack" in function.__doc__, function.__name__
        assert re.search("route.*middleware", function.__doc__, re.DOTALL), function.__name__


def test_nobody_empties_the_caches_of_everybody():
    assert streamlit_private.message_kind(BackMsg(stop_script=True).SerializeToString()) == "stop_script"
    for message in (BackMsg(clear_cache=True), BackMsg(load_git_info=True), BackMsg(set_run_on_save=True)):
        assert streamlit_private.message_kind(message.SerializeToString()) == ""
    with pytest.raises(ValueError, match="nothing of this kind"):
        streamlit_private.message_kind(b"\xff\xff")


def test_a_redraw_by_a_timer_is_distinguished_from_a_person_s():
    for by_clock in (True, False):
        message = BackMsg(rerun_script=ClientState(is_auto_rerun=by_clock))
        assert streamlit_private.is_by_timer(message.SerializeToString()) is by_clock


def test_messages_of_a_run_name_its_session_and_its_end():
    message = ForwardMsg()
    message.new_session.initialize.session_id = "one"
    assert streamlit_private.kind_and_session(message.SerializeToString()) == ("new_session", "one")
    message = ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY)
    assert streamlit_private.kind_and_session(message.SerializeToString()) == (streamlit_private.FINISHED, "")
    assert len(message.SerializeToString()) < door.SMALL_MESSAGE_BYTES


def test_streamlit_reads_the_messages_that_we_let_through():
    kinds = {field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
    assert set(streamlit_private.NEEDED_KINDS) <= kinds
