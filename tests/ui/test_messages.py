import pytest
from playground.ui.messages import escape_markdown
from streamlit.testing.v1 import AppTest

from playground.serving import ledger
from playground.ui import streamlit_private


@pytest.mark.parametrize("sentence", ["The weights of vit_small_patch16_224.dino can't be had.", "3 × 4: no.", "Ende?"])
def test_a_sentence_stays_as_it_is(sentence):
    assert escape_markdown(sentence) == sentence


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("![x](https://other.example/x.png)", r"!\[x\](https://other.example/x.png)"),
        ("<img src=x>", r"\<img src=x\>"),
        ("**b** _i_ ~s~ `c` $m$", r"\*\*b\*\* \_i\_ \~s\~ \`c\` \$m\$"),
        (":red[x] :material/delete:", r"\:red\[x\] \:material/delete:"),
        ("a\n\n# b", "a # b"),
        ("\\", "\\\\"),
    ],
)
def test_texts_of_users_are_escaped_for_markdown(words, expected):
    assert escape_markdown(words) == expected


def address_of_run() -> str:
    """The address of the visitor for whom a page is run."""

    def page() -> None:
        import streamlit as st
        from playground.ui.messages import OnPage

        st.text(OnPage().visitor().address)

    return AppTest.from_function(page).run().text[0].value


def test_a_page_is_run_for_the_network_of_its_socket(monkeypatch):
    """Streamlit gives no address for browsers on the server's machine, so the address comes from the socket's seat."""
    seats = ledger.Seats(ledger.Ledger())
    monkeypatch.setattr(ledger, "seats", seats)
    monkeypatch.setattr(streamlit_private, "session_id", lambda: "this page's")
    seats.enter("127.0.0.1", lambda: None).session = "this page's"
    assert address_of_run() == "127.0.0.1"
