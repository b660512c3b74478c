"""The command `doctor` finds damage and says what to do, and prints no secret."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from playground.__main__ import main
from playground.models import borrowed
from playground.models.borrowed import digest_of
from playground.pictures import decoder
from playground.serving import doctor, prepared
from playground.serving.doctor import FINE, LACKING, WRONG, examine, lies_within

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def cache(all_fetched, monkeypatch):
    """A temporary cache folder with all borrowed files and one pack."""
    monkeypatch.setattr(prepared, "PHOTOGRAPHS", ())
    monkeypatch.setattr(prepared, "SAMPLES", ())
    prepared.prepare()
    return borrowed.cache_folder()


def damage(path: Path, change) -> Path:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(change(data))
    return path


def with_flipped_bit(data: bytes) -> bytes:
    return data[:-9000] + bytes([data[-9000] ^ 1]) + data[-8999:]


def sentences_of(state: str) -> str:
    return "\n".join(finding.says for finding in examine() if finding.state == state)


def test_where_all_is_well_the_doctor_says_so_and_ends_with_0(cache, capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if not line.startswith(FINE)] == []
    for subject in ("Python", "torch", "streamlit", "dinov2-small: 1 of 1", "photographs: 5 of 5", "prepared packs"):
        assert subject in out


def test_without_a_folder_for_temporary_files_the_doctor_says_how_to_name_one(monkeypatch):
    def refuse():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(doctor.tempfile, "gettempdir", refuse)
    (finding,) = doctor._temporary_folder()
    assert finding.state == WRONG
    assert "TMPDIR" in finding.says


DAMAGES = {
    "an empty photograph": (lambda cache: cache / "chelsea.png", lambda data: b""),
    "one bit of DINOv2": (lambda cache: cache / borrowed.DINOV2.file, with_flipped_bit),
    "one bit of a pack": (lambda cache: next(cache.glob("*.pack")), with_flipped_bit),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_file_is_found_and_named(kind, cache, capsys):
    find, change = DAMAGES[kind]
    file = damage(find(cache), change)
    assert main(["doctor"]) == 1
    (wrong_line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith(WRONG))
    assert f"{file} is damaged" in wrong_line
    assert "delete it" in wrong_line


def test_a_damaged_file_with_a_sound_copy_is_not_wrong(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_BORROWED", str(cache))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "other"))
    borrowed.cache_folder().mkdir(parents=True)
    file = borrowed.cache_folder() / "chelsea.png"
    file.write_bytes(b"")
    assert f"{file} is damaged (it is empty); another copy is used" in sentences_of(LACKING)
    assert sentences_of(WRONG) == ""


def test_files_that_were_never_fetched_are_missing_and_not_wrong(nothing_fetched, capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "`python -m playground download dinov2-small` fetches" in out
    assert "`python -m playground prepare` does it" in out


def test_weights_of_the_hub_are_read_to_their_end(nothing_fetched):
    folder = borrowed.hub_cache() / "models--timm--vit_tiny"
    (folder / "blobs").mkdir(parents=True)
    (folder / "snapshots" / "0123").mkdir(parents=True)
    save_file({"a": torch.arange(10_000.0)}, weights_file := folder / "made.safetensors")
    blob = weights_file.rename(folder / "blobs" / digest_of(weights_file))
    (link := folder / "snapshots" / "0123" / "model.safetensors").symlink_to(blob)
    assert sentences_of(WRONG) == ""
    blob.write_bytes(with_flipped_bit(blob.read_bytes()))
    assert f"{link} is damaged (its SHA-256 is another one)" in sentences_of(WRONG)


def test_a_version_lies_within_bounds_or_outside():
    bounds = ">=2.12,<2.16"
    assert lies_within("2.15.0+cpu", bounds)
    assert not any(lies_within(version, bounds) for version in ("2.16.0", "2.16.0rc1", "2.9.1"))
    assert (lies_within("0.0.1", "==0.0.1"), lies_within("0.0.2", "==0.0.1")) == (True, False)


def test_a_decoder_that_cannot_start_is_reported_as_wrong(nothing_fetched, monkeypatch):
    monkeypatch.setattr(decoder, "MOST_BYTES", "no number")  # an invalid limit: the decoder's process ends at once
    assert "no picture that people bring can be opened" in sentences_of(WRONG)


def test_a_mistyped_setting_is_reported_and_the_rest_is_examined(nothing_fetched, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_OPEN", "perhaps")
    assert "PLAYGROUND_OPEN is yes or no" in sentences_of(WRONG)
    assert "pictures that people bring are decoded" in sentences_of(FINE)


def test_no_secret_is_printed(nothing_fetched, tmp_path):
    secrets = {name: f"secret-{name}" for name in ("STREAMLIT_SERVER_COOKIE_SECRET", "HF_TOKEN", "COOKIE_SECRET")}
    command = [sys.executable, "-m", "playground", "doctor"]
    result = subprocess.run(command, cwd=ROOT, env=os.environ | secrets, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    assert "secret-" not in result.stdout + result.stderr
