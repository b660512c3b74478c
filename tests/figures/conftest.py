import pytest


@pytest.fixture
def disc_folder(picture, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    picture.save("disc.png")
    return tmp_path


@pytest.fixture
def pictures(picture, tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(5):
        picture.rotate(40 * number).crop((0, 0, 120 - 9 * number, 120)).save(tmp_path / "in" / f"{number}.png")
    return tmp_path / "in"


@pytest.fixture
def zarr():
    return pytest.importorskip("zarr", reason="zarr is not installed: pip install zarr xarray")


@pytest.fixture
def xarray():
    return pytest.importorskip("xarray", reason="xarray is not installed")
