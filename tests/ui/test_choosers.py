"""CIFAR-10's pictures, and choosing one by its number."""

import io

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest
from training.test_datasets import cifar

from playground.errors import PlaygroundError
from playground.serving import pictures


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_CIFAR", str(tmp_path))
    return tmp_path


def choosing(shown):
    import streamlit as st

    from playground.serving import pictures
    from playground.ui import choosers

    class Here:
        picture = pictures.sample("meadow")

        def show(self, picture):
            shown.append(picture)

    choosers.labelled_chooser(Here(), lambda action: action())
    st.write("end")


def test_a_picture_is_called_by_its_number_and_label_and_enlarged_for_the_eye(folder):
    label = ("red", "green", "blue")[cifar(folder)[17]]
    picture = pictures.labelled(17)
    assert picture.name == f"CIFAR-10 no. 17: {label}"
    assert picture.image.size == (32, 32)
    shown = Image.open(io.BytesIO(picture.jpeg))
    assert shown.size == (512, 512)
    small = np.asarray(shown.resize((32, 32), Image.Resampling.BOX), float)
    assert np.abs(small - np.asarray(picture.image, float)).mean() < 6


def test_the_chooser_offers_all_numbers_and_shows_the_one_chosen(folder):
    cifar(folder)
    shown = []
    page = AppTest.from_function(choosing, args=(shown,)).run()
    assert page.slider[0].max == 24
    page.slider[0].set_value(3).run()
    assert shown[0].name.startswith("CIFAR-10 no. 3: ")


def test_a_wrong_folder_says_what_it_should_hold(folder):
    page = AppTest.from_function(choosing, args=([],)).run()
    assert not page.slider
    assert "data_batch_1.bin" in page.caption[0].value
    with pytest.raises(PlaygroundError, match="batches"):
        pictures.labelled(0)


def test_where_no_folder_is_named_there_is_nothing_to_choose(monkeypatch):
    monkeypatch.delenv("PLAYGROUND_CIFAR", raising=False)
    page = AppTest.from_function(choosing, args=([],)).run()
    assert not page.slider
    assert not page.caption
