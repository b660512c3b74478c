import pytest

from playground.models import borrowed
from playground.serving import people
from serving import visits


@pytest.fixture(scope="module")
def client():
    return visits.client()


@pytest.fixture
def http():
    with visits.client() as http:
        yield http
    for who in (visits.ANNA, visits.BERT):
        people.everybody().forget(who["X-Playground-Key"])


@pytest.fixture
def all_fetched(really_here, nothing_fetched, tmp_path, monkeypatch):
    """{name: file} of all borrowed files, which lie in a temporary cache folder too."""
    monkeypatch.delenv("HF_HUB_CACHE")
    really_here("dinov2-small")
    really_here("photographs")
    files = {item.file: borrowed.find(item.file) for item in (borrowed.DINOV2, *borrowed.PHOTOGRAPHS)}
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    borrowed.cache_folder().mkdir(parents=True)
    for name, file in files.items():
        (borrowed.cache_folder() / name).symlink_to(file)
    return files
