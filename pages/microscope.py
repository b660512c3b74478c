"""The microscope: hover a patch, see whom it listens to."""

import streamlit as st

from playground.errors import PlaygroundError
from playground.ui import address, engine, offers, session
from playground.ui.components import lens, strip

state = st.session_state


def attempt(action, *arguments) -> bool:
    """What can't be done is said in a sentence, and everything stays as it was."""
    try:
        action(*arguments)
    except PlaygroundError as error:
        st.toast(str(error), icon=":material/error:", duration="long")
        return False
    write_address()
    return True


def read_address() -> None:
    """At the start, and when the person has gone back or typed another address."""
    if "address" in state and dict(st.query_params) == state.address:
        return
    former, given = state.get("here"), dict(st.query_params)
    words, view = address.read(given)
    state.here, trouble = session.start(words, view)
    state.here.view_id += former.view_id + 1 if former else 0
    state.pop("errand", None)
    if trouble:
        st.toast(trouble, icon=":material/error:", duration="long")
    if trouble or words | view != given:
        write_address()
    else:
        state.address = given  # even if it says less than it could: a step more in the history would hold people back


def write_address() -> None:
    words = state.here.words()
    if words != dict(st.query_params):
        st.query_params.from_dict(words)
    state.address = words


def on_view() -> None:
    state.here.view = address.view_of(state.lens.view or "")
    write_address()


def on_ask() -> None:
    state.asked = state.lens.ask


def on_pick() -> None:
    if name := address.readable({"sample": str(state.strip.pick)}).get("sample"):
        attempt(state.here.show, engine.sample(name))


def on_photo() -> None:
    attempt(lambda: state.here.show(session.sent_photo(state.strip.photo or {})))


def on_file(key: str) -> None:
    photo = state[key]
    if photo is not None and attempt(lambda: state.here.show(engine.upload(photo.getvalue(), photo.name))):
        state.opening = False


@st.fragment
def microscope() -> None:
    here = state.here
    lens("lens", here.blob(), on_view, on_ask)
    asked = state.pop("asked", None)
    if asked and attempt(here.answer, asked):  # the picture is on the screen; only now the question
        st.rerun(scope="fragment")


read_address()
here = state.here
own = None if here.picture.sample else here.picture.name
with st.container(key="toolbar"):
    samples, opening, model, finer, beside = st.columns([6.6, 1.2, 2.2, 1.5, 1.5], vertical_alignment="center")
with samples:
    strip("strip", None if own else here.picture.name, own, on_pick, on_photo)
with opening, st.popover("Open", icon=":material/image:", width="stretch", key="opening", on_change="rerun"):
    st.file_uploader("A picture of your own", key="file", on_change=on_file, args=("file",), max_upload_size=32)
    if st.toggle("or one from the camera"):  # nobody is asked for their camera who has not asked for it
        st.camera_input("Photo", key="camera", on_change=on_file, args=("camera",), label_visibility="collapsed")
with model:
    offers.model_chooser(here)
with finer:
    offers.detail_chooser(here, attempt)
with beside:
    offers.compare_chooser(here, attempt)
microscope()
if "errand" in state:  # everything is on the screen; only now what may take minutes
    done = attempt(offers.run, state.errand)
    del state.errand  # here, so that a run which is interrupted takes it up again
    if done:
        st.rerun()
