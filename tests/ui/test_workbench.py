"""The workbench: its pages run, and say what the model says."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import playground
from playground import training
from playground.assets import BUNDLED_MODEL, SAMPLES

APP = Path(__file__).parent.parent.parent / "app.py"
PATIENCE = 300  # seconds: a busy machine


@pytest.fixture
def workbench():
    app = AppTest.from_file(str(APP), default_timeout=PATIENCE)
    app.session_state.model, app.session_state.sample = "bundled", "meadow"
    return app


def choose(app, model="bundled", sample=None):
    box = {box.key: box for box in app.sidebar.selectbox}
    box["model"].select(model)
    if sample:
        box["sample"].select(sample)
    return app.run()


def test_the_table_has_the_ten_largest_weights_of_the_row(workbench):
    app = choose(workbench.run(), sample="meadow")
    assert not app.exception, app.exception
    seen = playground.trace("bundled", "meadow")
    said = next(caption.value for caption in app.caption if caption.value.startswith("Patch"))
    row, column, layer, head = map(int, re.findall(r"\d+", said)[:4])
    weights = seen.on_grid(seen.row(layer, head, (row, column))).numpy()
    table = app.dataframe[0].value
    assert np.allclose(table["weight"], 100 * np.sort(weights.ravel())[::-1][:10])


def test_the_patch_of_the_address_is_one_of_the_picture_that_it_names(workbench):
    workbench.query_params["query"] = "3,4"
    app = choose(workbench.run(), sample="meadow")
    assert app.caption[1].value.startswith("Patch 3,4, ")
    app = choose(app, sample="flock")
    assert not app.caption[1].value.startswith("Patch 3,4, ")


def test_without_the_root_the_softmax_collapses(workbench):
    app = choose(workbench.run(), sample="meadow")
    before = app.dataframe[0].value["weight"].max()
    app.toggle[0].set_value(False).run()
    assert app.dataframe[0].value["weight"].max() > before


def test_an_upload_is_traced(workbench):
    app = choose(workbench.run())
    app.sidebar.button_group[0].set_value("Upload").run()
    assert "a file of yours" in app.info[0].value
    app.sidebar.file_uploader[0].upload("flock.jpg", (SAMPLES / "flock.jpg").read_bytes(), "image/jpeg").run()
    assert not app.exception, app.exception
    assert app.subheader[0].value.endswith("outside 3 × 3")


def test_what_is_no_picture_gets_a_sentence(workbench):
    app = choose(workbench.run())
    app.sidebar.button_group[0].set_value("Upload").run()
    app.sidebar.file_uploader[0].upload("words.jpg", b"no picture", "image/jpeg").run()
    assert not app.exception, app.exception
    assert app.error[0].value


def test_a_model_that_is_none_gets_a_sentence(workbench):
    workbench.session_state.model = "no-such-model"
    app = workbench.run()
    assert not app.exception, app.exception
    assert "no-such-model" in app.error[0].value


@pytest.mark.parametrize("page", ["folder", "heads_off"])
def test_many_images_are_measured(workbench, page):
    app = workbench.switch_page(f"pages/{page}.py").run()
    choose(app)
    app.file_uploader[0].upload("flock.jpg", (SAMPLES / "flock.jpg").read_bytes(), "image/jpeg").run()
    app.button[0].click().run()
    assert not app.exception, app.exception
    assert app.get("plotly_chart")
    assert app.get("download_button")


def test_two_models_are_trained(workbench, monkeypatch):
    monkeypatch.setattr(training, "train", partial(training.train, steps=20))
    app = workbench.switch_page("pages/train.py").run()
    app.button[0].click().run()
    assert not app.exception, app.exception
    assert app.button[0].label == "Train again"
    assert len(app.get("plotly_chart")) == 2


def test_a_layer_is_measured(workbench):
    app = workbench.switch_page("pages/measure.py").run()
    app.button[0].click().run()
    assert not app.exception, app.exception
    assert len(app.get("plotly_chart")) == 2


def test_a_file_of_weights_stands_in_the_list_of_models(workbench, tmp_path):
    app = workbench.switch_page("pages/models.py").run()
    app.file_uploader[0].upload("mine.safetensors", BUNDLED_MODEL.read_bytes(), "application/octet-stream").run()
    assert not app.exception, app.exception
    assert "mine.safetensors" in app.success[0].value
    app.switch_page("pages/microscope.py").run()
    assert "mine.safetensors" in app.sidebar.selectbox[0].options
