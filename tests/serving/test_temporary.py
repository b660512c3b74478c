"""The app runs without a writable disk, and for a user without an entry in the list of users."""

import pwd
import tempfile
from pathlib import Path

import pytest

from playground.serving import doctor, settings


@pytest.fixture
def nothing_can_be_written(monkeypatch, tmp_path):
    def refuse():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "_get_default_tempdir", refuse)
    monkeypatch.setattr(tempfile, "tempdir", None)


@pytest.fixture
def nobody(monkeypatch):
    """Runs the test as a user without an entry in the list of users and without a HOME."""

    def raise_unknown(number):
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", raise_unknown)
    monkeypatch.delenv("HOME")
    with pytest.raises(RuntimeError):
        Path.home()


def test_where_no_disk_can_be_written_temporary_files_lie_in_memory(nothing_can_be_written, monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "MEMORY_FOLDER", str(tmp_path))
    assert settings.find_a_folder()
    assert Path(tempfile.mkdtemp()).parent == tmp_path
    assert list(doctor._temporary_folder()) == []


def test_without_a_folder_in_memory_the_doctor_says_so(nothing_can_be_written, monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "MEMORY_FOLDER", str(tmp_path / "none"))
    assert not settings.find_a_folder()
    (finding,) = doctor._temporary_folder()
    assert (finding.state, finding.says) == (doctor.WRONG, settings.NO_FOLDER_SENTENCE)


def test_a_user_without_a_home_gets_one_that_nobody_could_fill_before(nobody, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    settings.find_a_home()
    home = Path.home()
    assert home.parent == tmp_path
    assert not any(home.iterdir())
    assert home.stat().st_mode & 0o077 == 0
