"""`make more` covers every slow check, and reports each part that it skips."""

import more
import pytest


def test_every_script_of_the_benchmarks_has_a_smallest_run():
    assert sorted(more.SMALLEST) == more.scripts()


def test_the_newest_of_each_of_the_last_three_minor_releases_is_tried():
    said = "streamlit (1.67.0)\nAvailable versions: 1.67.0, 1.66.1, 1.66.0, 1.65.0, 1.64.0\n  INSTALLED: 1.64.0"
    assert more.minor_releases(said) == ["1.67.0", "1.66.1", "1.65.0"]
    assert more.minor_releases("") == []


@pytest.mark.parametrize(("what", "part"), [("pip names no release", "streamlit"), ("none can be driven", "firefox")])
def test_what_can_not_be_run_here_is_named_as_skipped(monkeypatch, capsys, what, part):
    monkeypatch.setattr(more.sys, "argv", ["more.py", part])
    monkeypatch.setattr(more, "no_firefox", lambda: what)
    monkeypatch.setattr(more.subprocess, "run", lambda *_, **__: more.subprocess.CompletedProcess([], 1, "", what))
    assert more.main() == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("SKIPPED ")
    assert last.endswith(what)


def test_a_part_that_falls_is_red(monkeypatch, capsys):
    monkeypatch.setattr(more.sys, "argv", ["more.py", "benchmarks"])
    monkeypatch.setattr(more, "scripts", lambda: ["engine", "eyes"])
    done = iter([1, 0])
    run = more.subprocess.CompletedProcess
    monkeypatch.setattr(more.subprocess, "run", lambda *_, **__: run([], next(done)))
    assert more.main() == 1
    assert [line[:28] for line in capsys.readouterr().out.splitlines()[-2:]] == [
        "FELL    benchmarks/engine.py",
        "passed  benchmarks/eyes.py: ",
    ]


def test_a_part_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(more.sys, "argv", ["more.py", "safari"])
    with pytest.raises(SystemExit):
        more.main()
