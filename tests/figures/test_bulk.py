"""Many figures by one command."""

import pytest
from PIL import Image

from playground.__main__ import main

LOOK = ["--model", "untrained", "--for", "column", "--dpi", "40"]


@pytest.fixture
def folder(picture, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    for name in ("a.png", "b.jpg"):
        picture.save(photos / name)
    (photos / "notes.txt").write_text("not for us")
    return photos


def test_a_folder_of_pictures_becomes_a_folder_of_figures(folder, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["figure", str(folder), *LOOK, "--layers", "0,2-3", "--heads", "1", "-o", f"{out}/"]) == 0
    names = [f"{name}-layer-{layer}.png" for name in "ab" for layer in (0, 2, 3)]
    assert sorted(path.name for path in out.iterdir()) == sorted(names)
    assert capsys.readouterr().out.split() == [str(out / name) for name in names]
    assert "layer: 3" in Image.open(out / "b-layer-3.png").text["Description"]


def test_a_bad_file_is_reported_and_skipped_and_the_status_tells(folder, tmp_path, capsys):
    (folder / "aa.jpg").write_text("no picture at all")
    assert main(["figure", str(folder / "*"), *LOOK, "-o", str(tmp_path / "{image}.pdf")]) == 1
    said = capsys.readouterr()
    assert sorted(path.name for path in tmp_path.glob("*.pdf")) == ["a.pdf", "b.pdf"]
    assert "aa.jpg" in said.err
    assert "2 of 4 pictures were skipped" in said.err  # and the notes, which the pattern names


def test_all_layers_and_heads_have_names_of_their_own(folder, tmp_path):
    out = str(tmp_path / "{image}_{layer}_{head}.svg")
    assert main(["figure", str(folder / "a.png"), *LOOK, "--layers", "all", "--heads", "0-1", "-o", out]) == 0
    assert len(list(tmp_path.glob("a_*_*.svg"))) == 6 * 2


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--layers", "all", "-o", "a.png"], "put {layer} into it"),
        (["--layers", "one", "-o", "a.png"], "--layer takes a number"),
        (["--layout", "compare", "-o", "a.png"], "Add --with-image FILE or --with-model NAME"),
        (["--layout", "curves", "-o", "a.png"], "it takes no picture"),
        (["--layout", "wall", "-o", "a.html"], "An interactive figure has no layout"),
        (["--sweep", "layers", "-o", "a.pdf"], "-o must end in .gif, .webp, .png"),
    ],
)
def test_what_cannot_be_is_a_sentence(folder, capsys, monkeypatch, tmp_path, more, sentence):
    monkeypatch.chdir(tmp_path)
    assert main(["figure", str(folder / "a.png"), "--model", "untrained", *more]) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.glob("a.*"))


def test_several_pictures_need_several_names(folder, capsys):
    assert main(["figure", str(folder), *LOOK, "-o", "one.png"]) == 1
    assert "put {image} into it" in capsys.readouterr().err


def test_an_empty_folder_and_no_picture_at_all_are_sentences(tmp_path, capsys):
    assert main(["figure", str(tmp_path), "-o", "a.png"]) == 2
    assert "holds no picture" in capsys.readouterr().err
    assert main(["figure", "-o", "a.png"]) == 2
    assert "Which picture?" in capsys.readouterr().err


def test_the_curves_need_no_picture(tmp_path):
    assert main(["figure", "--layout", "curves", "--for", "page", "--dpi", "50", "-o", str(tmp_path / "c.png")]) == 0
    assert Image.open(tmp_path / "c.png").width == 350


@pytest.mark.parametrize("kind", ["image", "model"])
def test_two_pictures_and_two_models_are_compared(folder, tmp_path, kind):
    other = {"image": str(folder / "b.jpg"), "model": "ViT-Ti/16"}[kind]
    out = tmp_path / "c.png"
    options = [*LOOK, "--layout", "compare", f"--with-{kind}", other]
    assert main(["figure", str(folder / "a.png"), *options, "-o", str(out)]) == 0
    assert f"other {kind}" in Image.open(out).text["Description"]


def test_the_whole_pass_without_scale_stands_beside_the_trained_one(folder, tmp_path):
    out = tmp_path / "w.png"
    assert main(["figure", str(folder / "a.png"), *LOOK, "--layout", "scale", "--whole", "-o", str(out)]) == 0
    assert "whole forward pass" in Image.open(out).text["Description"]
