"""A pickled file may come from a stranger: no code in it runs, and a file without weights is refused in a sentence."""

import os
import pickle
import zipfile

import pytest
import torch

import playground
from playground import PlaygroundError

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
