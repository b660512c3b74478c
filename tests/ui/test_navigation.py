"""What a person chooses is read from the address and from the toolbar's messages, and goes along from page to page."""

from pathlib import Path

import pytest
from playground.ui.toolbar import read_message
from serving.visits import photograph
from streamlit.testing.v1 import AppTest

from playground.lessons.lesson import Setting
from playground.serving import people, pictures
from playground.ui import streamlit_private

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent
KEY, OTHER_KEY = "anna" * 6, "bert" * 6
STAMPS = iter(range(10**6))


@pytest.fixture
def mine_id():
    """The id of a photograph that belongs to `KEY`."""
    picture = pictures.upload(photograph(), "mine.jpg")
    people.enter(KEY).take(picture)
    yield picture.id
    people.forget(KEY)


def open_page(page: str = "cost", message: dict | None = None, **words: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for key, value in words.items():
        app.query_params[key] = value
    if message:
        app.session_state["toolbar"] = {"choice": message | {"stamp": next(STAMPS)}}
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
    return app


def tell_choice(app: AppTest, choice: dict, key: str | None = None, view: dict | None = None) -> AppTest:
    """Runs the app with a message of the toolbar that tells a choice."""
    message = {"choice": choice, "view": view or {}, "key": key, "stamp": next(STAMPS)}
    app.session_state["toolbar"] = {"choice": message}
    app.run()
    assert not app.exception, app.exception
    return app


def address(app: AppTest) -> dict[str, str]:
    """The words that the app tells the browser to write into its address."""
    return app.session_state["address"]


def here(app: AppTest):
    return app.session_state["here"]


def component_names(app: AppTest) -> set[str]:
    return {component.proto.component_name for component in app.get("bidi_component")}


def test_the_toolbar_stands_above_the_microscope():
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    assert {"attention_toolbar", "attention_stage"} <= component_names(app)


def test_nothing_of_a_picture_travels_in_the_microscope_s_page():
    """The browser fetches the numbers over HTTP, so the page's own messages stay short."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    sizes = {c.proto.component_name: c.proto.ByteSize() for c in app.get("bidi_component")}
    assert sizes["attention_stage"] < 5_000, sizes
    assert sum(sizes.values()) < 40_000, sizes


def test_a_page_opens_what_its_address_says_and_forgets_unknown_words():
    app = open_page("cost", sample="twins", model="untrained", image="1024", nonsense="<b>")
    assert (here(app).picture.name, here(app).setup.model) == ("twins", "untrained")
    assert app.session_state["image"] == 1024
    assert address(app) == {"sample": "twins", "model": "untrained", "image": "1024"}


OLD_LINKS = (  # links as they were written before pictures had an address
    ({"model": "bundled", "sample": "meadow", "layer": "2", "query": "7,5"}, ("meadow", "bundled", 1)),
    ({"sample": "meadow"}, ("meadow", "bundled", 2)),
    ({"model": "untrained", "sample": "flock", "detail": "2"}, ("flock", "untrained", 2)),
    ({"model": "bundled", "sample": "meadow", "with": "sample:flock", "beside": "compare"}, ("meadow", "bundled", 1)),
    ({"model": "bundled"}, ("meadow", "bundled", 1)),
    ({}, ("meadow", "bundled", 2)),
)


@pytest.mark.parametrize(("words", "expected"), OLD_LINKS, ids=lambda one: str(one)[:60])
def test_an_old_link_opens_as_it_was(words, expected):
    app = open_page("cost", **words)
    subject = here(app)
    assert (subject.picture.name, subject.setup.model, subject.setup.detail) == expected
    if "with" in words:
        assert subject.words()["with"] == words["with"]
    assert not app.toast, [toast.value for toast in app.toast]


@pytest.mark.parametrize(
    "words",
    [{"sample": "nobody"}, {"model": "vit_nonsense_patch3"}, {"model": "../secret.safetensors"}, {"detail": "99"}],
    ids=str,
)
def test_an_address_of_something_that_is_not_there_opens_something_else_with_a_sentence(words):
    app = open_page("cost", **({"sample": "flock"} | words))
    assert here(app).picture.is_sample
    assert address(app) == here(app).words()
    toasts = [toast.value for toast in app.toast]
    is_refused = words.keys() & {"model", "detail"} and words.get("detail") != "99"  # detail 99 is dropped silently
    assert len(toasts) == bool(is_refused), toasts
    assert all(sentence.endswith((".", "!")) for sentence in toasts), toasts
    if is_refused:
        assert app.session_state["answer"] == {"instead": here(app).words()}


def test_the_microscope_s_page_leaves_unavailable_choices_to_the_browser():
    """The browser then offers to fetch the model, uploads the picture again, or explains what it shows instead."""
    for words in ({"model": "vit_nonsense_patch3"}, {"mine": "0123456789abcdef"}, {"model": "dinov2-small"}):
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        app.query_params.update({"sample": "flock"} | words)
        app.run()
        assert not app.exception
        assert "attention_stage" in component_names(app)
        assert not app.toast
        assert "answer" not in app.session_state
        assert address(app) == {"sample": "flock"} | words, "the browser alone writes it"


def test_the_toolbar_s_choice_is_shown_and_stands_in_the_lesson_s_address():
    app = open_page("cost", sample="flock", image="1024")
    tell_choice(app, {"sample": "portrait", "model": "untrained"})
    assert (here(app).picture.name, here(app).setup.model) == ("portrait", "untrained")
    assert address(app) == {"sample": "portrait", "model": "untrained", "image": "1024"}
    assert app.session_state["image"] == 1024, "the lesson's own settings stay"


def test_a_message_of_the_toolbar_changes_the_view_only_once():
    """Each rerun of a page gets the toolbar's last message again, which must not change the view again."""
    app = tell_choice(open_page("cost", sample="flock"), {"sample": "portrait"})
    former_id = here(app).view_id
    app.run()
    assert here(app).view_id == former_id


def test_the_address_goes_before_what_the_toolbar_tells_at_the_first_run():
    app = open_page("cost", message={"choice": {"sample": "portrait"}, "view": {}, "key": None}, sample="flock")
    assert here(app).picture.name == "flock"


def test_after_a_restart_the_toolbar_s_choice_goes_before_the_address():
    """This happens on a page that was open before the server was restarted."""
    # "test session id" is the id of AppTest's session
    message = {"choice": {"sample": "portrait"}, "view": {}, "key": None, "run": "test session id"}
    assert here(open_page("cost", message=message, sample="flock")).picture.name == "portrait"
    assert here(open_page("cost", message=message | {"run": "another"}, sample="flock")).picture.name == "flock"


def test_only_a_step_back_in_the_history_reads_the_address_again(monkeypatch):
    app = open_page("cost", sample="flock", model="bundled")
    tell_choice(app, {"sample": "portrait", "model": "bundled"})

    def reopen() -> str:
        app.query_params.clear()
        app.query_params.update({"sample": "flock", "model": "bundled"})
        app.run()
        return here(app).picture.name

    assert reopen() == "portrait"
    monkeypatch.setattr(streamlit_private, "went_through_history", lambda: True)
    assert reopen() == "flock"


def test_the_choice_and_the_microscope_s_view_go_along_to_the_next_page():
    app = open_page("cost", sample="flock", model="untrained", layer="3")
    app.query_params.clear()
    app.switch_page("pages/heads.py").run()
    assert not app.exception
    subject = here(app)
    assert (subject.picture.name, subject.setup.model, subject.view) == ("flock", "untrained", {"layer": "3"})


# A person's own picture


def test_an_own_picture_is_shown_with_the_key_that_the_toolbar_tells(mine_id):
    app = tell_choice(open_page("cost", sample="flock"), {"mine": mine_id, "model": "bundled"}, KEY)
    assert here(app).picture.name == "mine.jpg"
    assert address(app)["mine"] == mine_id
    assert KEY not in str(address(app))


@pytest.mark.parametrize("key", [None, OTHER_KEY, "short"])
def test_an_own_picture_is_not_shown_without_its_key(mine_id, key):
    app = tell_choice(open_page("cost", sample="flock"), {"mine": mine_id, "model": "bundled"}, key)
    assert "mine.jpg" not in str([element.value for element in (*app.markdown, *app.caption)])
    assert here(app).picture.name == "flock", "what was there before"
    answer = app.session_state["answer"]
    assert answer["words"]["mine"] == mine_id
    assert answer.keys() == ({"forgotten", "words"} if key else {"needs", "words"})


def test_a_link_with_an_own_picture_asks_the_browser_for_the_key_before_anything_is_shown(mine_id):
    app = open_page("cost", mine=mine_id, model="bundled")
    assert app.session_state["answer"] == {"needs": "key", "words": {"mine": mine_id, "model": "bundled"}}
    assert "here" not in app.session_state
    assert "on its way" in app.caption[0].value
    tell_choice(app, {"mine": mine_id, "model": "bundled"}, KEY)
    assert here(app).picture.name == "mine.jpg"
    assert "answer" not in app.session_state


def test_a_picture_that_the_server_has_forgotten_is_asked_for_and_shown_when_it_is_there_again(mine_id):
    app = tell_choice(open_page("cost", sample="flock"), {"mine": mine_id, "model": "bundled"}, KEY)
    people.forget(KEY)
    app.run()
    assert not app.exception
    assert app.session_state["answer"]["forgotten"] == mine_id
    assert "on its way" in app.caption[0].value
    people.enter(KEY).take(pictures.upload(photograph(), "mine.jpg"))
    tell_choice(app, {"mine": mine_id, "model": "bundled"}, KEY)
    assert here(app).picture.name == "mine.jpg"
    assert "answer" not in app.session_state


def test_a_run_of_a_lesson_counts_as_a_request_of_the_picture_s_owner(mine_id, monkeypatch):
    clock = [people.time.monotonic()]
    app = tell_choice(open_page("cost", sample="flock"), {"mine": mine_id, "model": "bundled"}, KEY)
    monkeypatch.setattr(people.time, "monotonic", lambda: clock[0])
    for _ in range(3):
        clock[0] += people.FORGOTTEN_AFTER - 10
        app.run()
        assert not app.exception
    people.forget_the_gone()
    assert people.find_person(KEY) is not None
    assert here(app).picture.name == "mine.jpg"


def test_if_the_picture_is_forgotten_and_the_chosen_model_unknown_a_sample_is_shown(mine_id):
    app = tell_choice(open_page("cost", sample="flock"), {"mine": mine_id, "model": "bundled"}, KEY)
    people.forget(KEY)
    tell_choice(app, {"sample": "flock", "model": "vit_nonsense_patch3"}, KEY)
    assert here(app).picture.is_sample
    assert app.session_state["answer"]["instead"] == here(app).words()


# Messages that a browser may send


@pytest.mark.parametrize(
    "message",
    [None, 7, "words", [], {}, {"choice": 7}, {"choice": {"sample": {"a": []}}}, {"view": "layer=1"}, {"choice": None},
     {"choice": [["a", "b"]]}, {"choice": ["ab", 3]}, {"key": 7}, {"key": ["x"]}, {"key": {"a": 1}}],
    ids=str,
)  # fmt: skip
def test_whatever_a_browser_says_is_read_as_words_or_not_at_all(message):
    fields = read_message(message)
    assert fields.keys() == {"choice", "settings", "view", "key", "run"}
    assert all(fields[name] is None or isinstance(fields[name], str) for name in ("key", "run"))
    for part in ("choice", "view"):
        assert all(isinstance(key, str) and isinstance(word, str) for key, word in fields[part].items())
    assert fields["settings"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "message",
    [{"choice": 7}, {"choice": {"sample": "../x"}}, {"choice": {"model": "<script>"}}, {"choice": {"mine": "x"}},
     {"choice": {"detail": "9" * 999}}, {"choice": {"with": "nobody:x"}}, {"key": "x" * 10**4},
     {"view": {"layer": "x" * 999}}, {"choice": "abc"}, [1, 2], "abc"],
    ids=lambda one: str(one)[:40],
)  # fmt: skip
def test_hostile_messages_of_a_toolbar_cause_no_error_page(message):
    app = open_page("cost", sample="flock")
    app.session_state["toolbar"] = {"choice": message}
    app.run()
    assert not app.exception, app.exception


def test_a_setting_is_one_of_its_options():
    setting = Setting.of(512, (512, 1024))
    for text in (None, "", "1024\n", "1e3", "<b>", "٥١٢", "9" * 5000):
        assert setting.read(text) == 512
    assert setting.read("1024") == 1024
