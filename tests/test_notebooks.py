"""The documentation's notebooks run without errors, as in Jupyter and as in the build of the documentation."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import executed  # noqa: E402

NOTEBOOKS = sorted(executed.NOTEBOOKS.glob("*.ipynb"))
NEEDED_PACKAGES = {"folder": ("zarr", "xarray"), "heads": ("xarray",)}


@pytest.fixture(params=NOTEBOOKS, ids=lambda file: file.stem)
def file(request):
    for package in NEEDED_PACKAGES.get(request.param.stem, ()):
        pytest.importorskip(package, reason=f"{package} is not installed")
    return request.param


@pytest.mark.slow
def test_every_cell_runs_and_its_page_shows_what_it_gives(file):
    page = executed.page(file)
    assert page.startswith("# ")
    assert page.count("```text") + page.count("<img ") >= 3, "it says and shows something"
    assert 'src="data:image/png;base64,' in page or file.stem == "own_model"
    assert Path.cwd() == Path.cwd().resolve()


@pytest.mark.parametrize("name", ["https://github.com/somebody/a-copy.git", "https://gitlab.com/somebody/a-copy", ""])
def test_a_badge_opens_the_notebook_in_colab_where_a_repository_on_github_is_named(name, monkeypatch):
    monkeypatch.setattr(executed.version, "repository", lambda: name)
    monkeypatch.setattr(executed, "run", lambda file: iter(executed.read(file)))
    for file in NOTEBOOKS:
        address = f"https://colab.research.google.com/github/somebody/a-copy/blob/main/docs/notebooks/{file.name}"
        assert (f'<a class="badge" href="{address}">' in executed.page(file)) == ("github" in name)
        first_code = next(cell.text for cell in executed.read(file) if cell.kind == "code")
        assert first_code.startswith("# In Colab, first: %pip install "), file.name


def test_a_notebook_runs_in_jupyter_too(file, tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    import nbformat

    nbclient.NotebookClient(
        nbformat.read(file, 4), timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
