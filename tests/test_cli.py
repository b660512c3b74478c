import re
import shlex
import warnings

import pytest
from PIL import Image

from playground.__main__ import EXAMPLES, _parser, main
from playground.errors import PlaygroundWarning


@pytest.fixture
def file(picture, tmp_path):
    picture.save(tmp_path / "disc.png")
    return tmp_path / "disc.png"


def test_a_figure_is_written(file, tmp_path, capsys):
    figure_file = tmp_path / "row.png"
    options = ["--model", "untrained", "--layer", "1", "--patch", "3,4"]
    assert main(["figure", str(file), *options, "-o", str(figure_file)]) == 0
    assert capsys.readouterr().out.strip() == str(figure_file)
    assert Image.open(figure_file).size == (2560, 1440)


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_a_figure_of_a_prefix_token_without_scale_can_be_a_drawing(file, tmp_path, suffix):
    figure_file = tmp_path / f"row.{suffix}"
    options = ["--model", "untrained", "--patch", "cls", "--scale", "off", "--size", "80x160", "-o", str(figure_file)]
    assert main(["figure", str(file), *options]) == 0
    assert figure_file.read_bytes()[:5] in (b"%PDF-", b"<?xml")


@pytest.mark.parametrize(
    ("wrong_options", "sentence"),
    [
        (["--patch", "99,0"], "There is no patch (99, 0)"),
        (["--patch", "nose"], "no token called 'nose'"),
        (["--patch", "1,2,3"], "no token called"),
        (["--layer", "6"], "There is no layer 6"),
        (["--head", "-1"], "A head is a number from 0"),
        (["--head", "9"], "There is no head 9"),
        (["--scale", "big"], 'A scale is "on"'),
        (["--size", "100"], "--size is HEIGHTxWIDTH"),
        (["--size", "100x100"], "can't be cut into patches"),
        (["--dpi", "1"], "dpi goes from 10 to 2400"),
        (["--model", "vit_nothing"], "There is no model called"),
        (["--weights", "missing.safetensors"], "There is no file missing.safetensors"),
        (["-o", "row.docx"], "A figure is saved as"),
        (["-o", "/dev/null/row.png"], "can't be written"),
    ],
)
def test_a_mistake_is_answered_in_one_sentence_and_exit_code_2(file, capsys, wrong_options, sentence):
    assert main(["figure", str(file), "--model", "untrained", "-o", "never-written.png", *wrong_options]) == 2
    output = capsys.readouterr().err.strip()
    assert sentence in output
    assert "\n" not in output


def test_a_file_that_is_no_image_is_refused(tmp_path, capsys):
    (tmp_path / "notes.jpg").write_text("not a picture")
    assert main(["figure", str(tmp_path / "notes.jpg"), "-o", "x.png"]) == 2
    assert "JPEG, PNG" in capsys.readouterr().err


def test_models_lists_each_model_with_its_licence(capsys):
    assert main(["models"]) == 0
    output = capsys.readouterr().out
    assert "vit_small_patch16_dinov3.lvd1689m" in output
    assert "dinov3-license" in output


def test_a_download_of_an_unknown_name_stops_before_the_first_byte(capsys):
    assert main(["download", "vit_tiny_patch16_224.augreg_in21k", "vit_nothing"]) == 2
    assert "There is no model called 'vit_nothing'" in capsys.readouterr().err


def test_a_folder_with_a_playground_py_gets_a_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "playground.py").touch()
    with pytest.warns(PlaygroundWarning, match="has a playground.py"):
        main(["models", "vit_tiny*"])


def test_the_examples_of_the_help_can_be_typed():
    for line in EXAMPLES.replace("PROGRAM", "playground").splitlines()[1:]:
        assert _parser().parse_args(shlex.split(line)[1:]).run, line


@pytest.mark.parametrize(
    ("line", "first_line_end"),
    [
        ("figure meadow --lyer 3 -o a.png", "There is no --lyer; the nearest is --layer."),
        ("figure meadow --widht=page -o a.png", "There is no --widht; the nearest is --width."),
        ("figure meadow --layout hed -o a.png", "the nearest is head."),
        ("figure meadow", "the following arguments are required: -o/--output."),
        ("figur meadow -o a.png", "the nearest is figure."),
        ("models --x", "There is no --x."),
        ("numbers album -o a.zarr --what features entropy", "a value with spaces stands in quotes."),
    ],
)
def test_a_wrong_flag_gets_two_lines_that_name_the_nearest_right_one(capsys, line, first_line_end):
    with pytest.raises(SystemExit) as exit_error:
        main(line.split())
    assert exit_error.value.code == 2
    output = capsys.readouterr().err.splitlines()
    assert len(output) == 2, output
    assert output[0].endswith(first_line_end)
    assert output[1].endswith("--help lists everything.")


def test_a_folder_of_own_models_is_offered_by_the_app_that_is_started_with_it(tmp_path, capsys, monkeypatch):
    from playground.serving import own_models, settings
    from playground.ui import launch

    monkeypatch.setenv("PLAYGROUND_MODELS_DIR", "")
    (tmp_path / "mine.safetensors").touch()
    (tmp_path / "other.pth").touch()
    offered_models = []

    def stand_in(*_, **__):
        monkeypatch.setattr(settings, "now", settings.read)
        offered_models.extend(own_models.files())

    monkeypatch.setattr(launch, "launch", stand_in)
    assert main(["--models", str(tmp_path)]) == 0
    assert offered_models == ["own/mine"]
    assert "Not offered, for a server opens .safetensors only: other.pth." in capsys.readouterr().out
    assert main(["--models", str(tmp_path / "none")]) == 2
    assert "There is no folder" in capsys.readouterr().err


def test_a_json_beside_the_weights_says_how_a_model_was_trained_and_the_printed_command_needs_no_more(
    tmp_path, monkeypatch
):
    import json

    import timm
    from conftest import scramble
    from safetensors.torch import save_file

    monkeypatch.chdir(tmp_path)
    reference = scramble(timm.create_model("vit_tiny_patch16_224", depth=2, num_classes=7))
    save_file({key: value.clone() for key, value in reference.state_dict().items()}, "mine.safetensors")
    said = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225], "num_heads": 6, "act_layer": "gelu"}
    (tmp_path / "mine.json").write_text(json.dumps(said | {"global_pool": "token"}))
    arguments = ["figure", "meadow", "--model", "vit_tiny_patch16_224", "--weights", "mine.safetensors", "--layer", "1"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", PlaygroundWarning)
        assert main([*arguments, "-o", "said.csv"]) == 0
    record = (tmp_path / "said.csv").read_text()
    command = shlex.split(re.search(r"^# command: (.*)$", record, re.M)[1])
    assert main([*command[command.index("figure") : -1], "again.csv"]) == 0
    assert (tmp_path / "again.csv").read_text() == record
