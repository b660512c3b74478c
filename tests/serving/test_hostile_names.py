"""Names of models that are files or addresses: nothing is read, run or fetched."""

from __future__ import annotations

import os
import pickle
import socket
from pathlib import Path

import pytest
from browser.server import ROOT

import playground
from playground.errors import PlaygroundError
from playground.models import model_file
from playground.serving import models


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder of good weights and of hostile files. One of these creates the folder `run` if it is unpickled."""
    folder = tmp_path_factory.mktemp("files")

    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(folder / "run"),)

    model_file.save(playground.load("untrained"), folder / "good.safetensors")
    (folder / "trap.pt").write_bytes(pickle.dumps(Trap()))
    return folder


def hostile_names(folder: Path) -> list[str]:
    good_file, trap_file = folder / "good.safetensors", folder / "trap.pt"
    return [
        str(good_file), "good.safetensors", "trap.pt", os.path.relpath(good_file, ROOT), f"file://{good_file}",
        f"local-dir:{folder}", "local-dir:.", str(folder), "~", "${HOME}",
        str(trap_file), f"file://{trap_file}", f"vit_tiny_patch16_224.{trap_file}", f"{trap_file}\0.safetensors",
        "/etc/passwd", "assets/bundled.safetensors", "https://other.example/x", "https://other.example/x.safetensors",
        "hf-hub:other/x", "hf_hub:other/x", "timm/other", "ViT-Ti/" + "9" * 5000, "vit_" * 5000, "x" * 10**5,
    ]  # fmt: skip


def test_a_hostile_file_runs_code_where_it_is_unpickled(files):
    assert playground.load(str(files / "good.safetensors")).name == "untrained"
    pickle.loads((files / "trap.pt").read_bytes())
    (files / "run").rmdir()


def test_no_file_and_no_address_is_taken_for_a_model(files, monkeypatch):
    connections = []
    monkeypatch.chdir(files)
    monkeypatch.setattr(socket.socket, "connect", lambda *arguments: connections.append(arguments))
    for name in hostile_names(files):
        for function in (models.fetch, models.load):
            with pytest.raises(PlaygroundError, match=r"\.$"):
                function(name)
        assert models.search(name[:10_000]) == []
    assert not (files / "run").exists()
    assert connections == []


def test_a_refusal_does_not_tell_whether_a_file_exists(files):
    for name in ("good.safetensors", "trap.pt"):
        refusals = []
        for path in (str(files / name), str(files / name).replace("files", "filet")):
            with pytest.raises(PlaygroundError) as error:
                models.load(path)
            refusals.append(str(error.value).partition("; the nearest")[0])
        assert refusals[0].replace("files", "filet") == refusals[1]
