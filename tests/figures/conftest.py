import pytest


@pytest.fixture
def here(picture, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    picture.save("disc.png")
    return tmp_path
