"""The page on shapes: what old addresses open."""

import pytest

from ui.test_steps import open_page, word_of_address

pytestmark = pytest.mark.usefixtures("nothing_fetched")


def test_the_step_in_an_old_address_is_that_of_the_walk():
    app = open_page("shapes", step="5", example="sentence")
    assert (app.session_state.step, app.session_state.walk) == ("walk", 5)
    assert (word_of_address(app, "walk"), word_of_address(app, "step")) == ("5", None)


@pytest.mark.parametrize(("at", "layer"), [("4", "4"), ("63", "4"), ("2", "2")])
def test_the_layer_in_an_address_is_shown_if_the_model_has_it(at, layer):
    proto = open_page("shapes", at=at).select_slider(key="at").proto
    assert (proto.set_value, [*proto.raw_value]) == (True, [layer])
