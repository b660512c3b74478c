"""A photograph that is chosen through Open runs the whole page, not a part of it."""

import io

from PIL import Image
from streamlit.testing.v1 import AppTest

from playground.assets import APP


def test_it_is_looked_at_coarsely_first_and_then_as_finely_as_the_model_does(really_here):
    really_here("dinov2-small")
    out = io.BytesIO()
    Image.effect_noise((700, 700), 80).convert("RGB").save(out, "JPEG")
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.session_state.opening = True  # the popover has been clicked
    app.run().file_uploader(key="file").upload("mine.jpg", out.getvalue()).run()
    assert not app.exception
    choice = app.session_state.here.choice
    assert (choice.picture.name, choice.wish.model, choice.first) == ("mine.jpg", "dinov2-small", None)
