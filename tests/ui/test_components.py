"""Messages of the JavaScript modules to a page."""

from streamlit.testing.v1 import AppTest


def listen_to_both() -> None:
    import streamlit as st

    from playground.ui.components import while_there

    messages = []
    st.session_state.there = "says something"
    for key in ("left", "there"):
        while_there(key, lambda key=key: messages.append(key))()
    st.text(" ".join(messages))


def test_a_component_of_a_page_that_was_left_calls_nothing():
    app = AppTest.from_function(listen_to_both).run()
    assert [text.value for text in app.text] == ["there"]
    assert not app.exception
