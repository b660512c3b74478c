"""Files of weights from strangers: claims are checked before data is read, false ones are refused in a sentence, and no
pickled code runs."""

import dataclasses
import json
import os
import pickle
import struct
import zipfile

import pytest
import torch
from safetensors.torch import save_file

import playground
from playground import PlaygroundError
from playground.models import source, timm_models, weights_file, zoo
from playground.vit import Config, VisionTransformer

SMALL = Config(image_size=(32, 32), patch_size=8, depth=2, width=24, mlp_width=48, heads=2, classes=3)
STATE = VisionTransformer(SMALL, 0).state_dict()


def write_file(folder, state: dict | None = None, **description) -> str:
    """A small model's file, in whose description `description` replaces some entries."""
    path = folder / "a.safetensors"
    config_text = json.dumps(dataclasses.asdict(SMALL) | description)
    save_file(STATE if state is None else state, path, metadata={"config": config_text})
    return str(path)


def test_an_unchanged_file_loads(tmp_path):
    assert playground.load(write_file(tmp_path), device="cpu").config == SMALL


@pytest.mark.parametrize(
    "description",
    [
        {"depth": 10_000}, {"depth": 0}, {"depth": -1}, {"depth": 2.0}, {"depth": True}, {"width": 10**9},
        {"heads": 0}, {"heads": 5}, {"classes": -3}, {"classes": 10**12}, {"registers": 10**6}, {"patch_size": 0},
        {"mlp_width": "48"}, {"eps": 0}, {"eps": -1e-6}, {"eps": float("nan")}, {"eps": float("inf")}, {"eps": None},
        {"image_size": [10**5, 10**5]}, {"image_size": [32]}, {"image_size": [33, 32]}, {"image_size": 32},
        {"image_size": [-32, 32]}, {"mean": [0.5, 0.5]}, {"mean": [float("nan")] * 3}, {"std": [0, 1, 1]},
        {"std": [1e300] * 3}, {"labels": ["one"]}, {"labels": [1, 2, 3]}, {"labels": ["x" * 10**4] * 3},
        {"positions": "anywhere"}, {"pool": ["token"]}, {"activation": "swish"}, {"interpolation": "none"},
        {"norm_place": ""}, {"cls_token": 1}, {"surprise": 1},
    ],
    ids=lambda said: "-".join(f"{key}={value}"[:40] for key, value in said.items()),
)  # fmt: skip
def test_an_impossible_description_is_refused_before_a_byte_of_data_is_read(description, tmp_path, monkeypatch):
    path = write_file(tmp_path, **description)
    monkeypatch.setattr(weights_file, "read_weights", lambda path: pytest.fail("the data was read"))
    with pytest.raises(PlaygroundError) as refusal:
        playground.load(path)
    print(refusal.value)


@pytest.mark.parametrize("changes", ["lacks one", "has one more", "another shape"])
def test_weights_that_do_not_fit_are_refused_before_a_byte_of_data_is_read(changes, tmp_path, monkeypatch):
    state = dict(STATE)
    if changes == "lacks one":
        del state["norm.weight"]
    elif changes == "has one more":
        state["norm.more"] = torch.zeros(3)
    else:
        state["norm.weight"] = torch.zeros(25)
    path = write_file(tmp_path, state)
    monkeypatch.setattr(weights_file, "read_weights", lambda path: pytest.fail("the data was read"))
    with pytest.raises(PlaygroundError, match=r"norm\.(weight|more)"):
        playground.load(path)
    with pytest.raises(PlaygroundError, match="doesn't fit this model"):
        playground.load("untrained", weights=path)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(number, tmp_path):
    path = write_file(tmp_path, STATE | {"norm.weight": torch.full((24,), number)})
    with pytest.raises(PlaygroundError, match=r"holds numbers that are none \(NaN or infinite\) in norm\.weight"):
        playground.load(path)


def write_header(path, entries: dict, data: bytes = b"", length: int | None = None):
    header = json.dumps(entries).encode()
    path.write_bytes(struct.pack("<Q", len(header) if length is None else length) + header + data)
    return path


@pytest.mark.parametrize(
    ("entries", "length"),
    [
        ({"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}, None),  # more data than the file has
        ({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 8]}}, None),  # fewer bytes than its shape
        ({"a": {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 0]}}, None),  # the size overflows 64 bits
        ({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, None),
        ({"a": {"dtype": "PICKLE", "shape": [1], "data_offsets": [0, 4]}}, None),
        ({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}, None),  # the first bytes belong to no tensor
        ({f"{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(20_000)}, None),
        ({}, 2**63),
        ({}, 2**27),
        ([], None),
    ],
)
def test_a_header_with_false_claims_is_refused(entries, length, tmp_path):
    path = write_header(tmp_path / "a.safetensors", entries, bytes(8), length)
    for reader in (weights_file.outline, weights_file.read_weights, playground.load):
        with pytest.raises(PlaygroundError, match=r"not a readable safetensors|does not say what it is"):
            reader(path)


def test_a_file_that_may_not_be_read_is_not_called_damaged(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a.safetensors").touch()
    monkeypatch.setattr(weights_file, "open", refuse, raising=False)
    with pytest.raises(PlaygroundError, match=r"a\.safetensors can't be read: Permission denied\.$"):
        weights_file.outline(tmp_path / "a.safetensors")


def test_every_config_of_ours_is_read_back_from_its_description():
    for config in (
        zoo.UNTRAINED_CONFIG,
        timm_models.DINOV2_SMALL,
        SMALL,
        *(zoo.paper_config(f"ViT-{s}/14", s, 14) for s in "SBLH"),
    ):
        assert source.checked(json.loads(json.dumps(dataclasses.asdict(config)))) == config


NAME = "vit_tiny_patch16_224"


class Hostile:
    def __reduce__(self):
        return os.system, ("touch was-run",)


class Unknown:
    """A class that a pickled file names and our reader must not import."""


def bomb(path):
    """Writes a file of a few megabytes, whose tensor unpacks to a gigabyte and a half of zeros."""
    torch.save({"a": torch.zeros(10)}, path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in parts.items():
            archive.writestr(name, bytes(1_500_000_000) if name.endswith("data/0") else data)


FILES = {
    "runs code": (lambda path: path.write_bytes(pickle.dumps(Hostile(), protocol=2)), "without running code"),
    "a whole model": (lambda path: torch.save(torch.nn.Linear(2, 2), path), "state_dict"),
    "an object": (lambda path: torch.save({"a": Unknown()}, path), "without running code"),
    "nothing": (lambda path: torch.save({"epoch": 3}, path), "holds no weights"),
    "noise": (lambda path: path.write_bytes(b"PK" + bytes(500)), "without running code"),
    "text": (lambda path: path.write_text("weights"), "no file of weights that torch wrote"),
    "more than there is": (lambda path: torch.save({"a": torch.zeros(1).expand(10**12)}, path), "more numbers than"),
    "a bomb": (bomb, "unpacks to far more than its size"),
    "missing": (lambda path: None, "There is no file"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_hostile_or_damaged_pickle_is_refused_in_a_sentence_and_runs_no_code(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write, sentence = FILES[kind]
    write(tmp_path / "mine.pth")
    with pytest.raises(PlaygroundError, match=sentence) as refusal:
        playground.load(tmp_path / "mine.pth")
    assert len(str(refusal.value)) < 700
    assert [file.name for file in tmp_path.iterdir() if file.name != "mine.pth"] == []


def test_a_pickle_under_another_name_is_called_what_it_is(tmp_path):
    torch.save({"a": torch.zeros(3)}, tmp_path / "mine.safetensors")
    with pytest.raises(PlaygroundError, match=r"torch has pickled.*\.pth") as refusal:
        playground.load(NAME, weights=tmp_path / "mine.safetensors")
    assert "header claims" not in str(refusal.value)
