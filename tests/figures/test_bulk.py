"""Many figures by one command."""

import pytest
from PIL import Image

from playground.__main__ import main

LOOK_OPTIONS = ["--model", "untrained", "--width", "column", "--dpi", "40"]


@pytest.fixture
def folder(picture, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    for name in ("a.png", "b.jpg"):
        picture.save(photos / name)
    (photos / "notes.txt").write_text("not for us")
    return photos


def test_a_folder_of_pictures_becomes_a_folder_of_figures(folder, tmp_path, capsys):
    out_folder = tmp_path / "out"
    assert main(["figure", str(folder), *LOOK_OPTIONS, "--layer", "3", "--head", "1", "-o", f"{out_folder}/"]) == 0
    names = ["a.png", "b.png"]
    assert sorted(path.name for path in out_folder.iterdir()) == names
    assert capsys.readouterr().out.split() == [str(out_folder / name) for name in names]
    assert "layer: 3" in Image.open(out_folder / "b.png").text["Description"]


def test_a_bad_file_is_reported_and_skipped_and_the_status_tells(folder, tmp_path, capsys):
    (folder / "aa.jpg").write_text("no picture at all")
    assert main(["figure", str(folder / "*"), *LOOK_OPTIONS, "-o", str(tmp_path / "{image}.pdf")]) == 1
    output = capsys.readouterr()
    assert sorted(path.name for path in tmp_path.glob("*.pdf")) == ["a.pdf", "b.pdf"]
    assert "aa.jpg" in output.err
    assert "2 of 4 pictures were skipped" in output.err  # the other one is notes.txt, which `*` matches too


def test_several_pictures_need_several_names(folder, capsys):
    assert main(["figure", str(folder), *LOOK_OPTIONS, "-o", "one.png"]) == 2
    assert "put {image} into it" in capsys.readouterr().err


def test_an_empty_folder_and_no_picture_at_all_are_refused_in_a_sentence(tmp_path, capsys):
    assert main(["figure", str(tmp_path), "-o", "a.png"]) == 2
    assert "holds no picture" in capsys.readouterr().err
    assert main(["figure", "-o", "a.png"]) == 2
    assert "Which picture?" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["image", "model"])
def test_two_pictures_and_two_models_are_compared(folder, tmp_path, kind):
    option = {"image": str(folder / "b.jpg"), "model": "ViT-Ti/16"}[kind]
    figure_file = tmp_path / "c.png"
    options = [*LOOK_OPTIONS, "--layout", "compare", f"--with-{kind}", option]
    assert main(["figure", str(folder / "a.png"), *options, "-o", str(figure_file)]) == 0
    assert f"other {kind}" in Image.open(figure_file).text["Description"]


def test_pictures_of_one_name_have_figures_of_different_names(picture, tmp_path, capsys):
    for name in ("one/rocket.jpg", "one/rocket.png", "two/rocket.jpg", "two/Moon.png", "one/moon.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        picture.save(tmp_path / name)
    folders = [str(tmp_path / "one"), str(tmp_path / "two"), str(tmp_path / "one" / "rocket.png")]
    assert main(["figure", *folders, *LOOK_OPTIONS, "-o", f"{tmp_path}/out/"]) == 0
    file_names = {path.name for path in (tmp_path / "out").glob("*.png")}
    assert file_names == {
        "one-rocket-jpg.png", "one-rocket-png.png", "two-rocket-jpg.png", "one-moon-png.png", "two-Moon-png.png",
    }  # fmt: skip


def test_no_figure_is_written_over_the_picture_that_it_shows(folder, capsys):
    bytes_before = (folder / "a.png").read_bytes()
    assert main(["figure", str(folder / "a.png"), *LOOK_OPTIONS, "-o", str(folder / "a.png")]) == 2
    assert main(["figure", str(folder), *LOOK_OPTIONS, "-o", f"{folder}/"]) == 2
    assert "would be written over" in capsys.readouterr().err
    assert (folder / "a.png").read_bytes() == bytes_before
    assert {path.name for path in folder.iterdir()} == {"a.png", "b.jpg", "notes.txt"}
