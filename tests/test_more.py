"""`make more` covers every slow check, and reports each part that it skips."""

import more


def test_every_script_of_the_benchmarks_has_a_smallest_run():
    assert sorted(more.SMALLEST_RUNS) == more.script_names()


def test_the_newest_of_each_of_the_last_three_minor_releases_is_tried():
    output = "streamlit (1.67.0)\nAvailable versions: 1.67.0, 1.66.1, 1.66.0, 1.65.0, 1.64.0\n  INSTALLED: 1.64.0"
    assert more.minor_releases(output) == ["1.67.0", "1.66.1", "1.65.0"]
    assert more.minor_releases("") == []


def test_a_failed_part_gives_status_1_and_one_that_can_not_run_is_named_as_skipped(monkeypatch, capsys):
    monkeypatch.setattr(more.sys, "argv", ["more.py", "benchmarks", "firefox"])
    monkeypatch.setattr(more, "script_names", lambda: ["engine", "fairness"])
    monkeypatch.setattr(more, "why_no_firefox", lambda: "none can be driven")
    statuses = iter([1, 0])
    monkeypatch.setattr(more.subprocess, "run", lambda *_, **__: more.subprocess.CompletedProcess([], next(statuses)))
    assert more.main() == 1
    failed_line, passed_line, skipped_line = capsys.readouterr().out.splitlines()[-3:]
    assert failed_line.startswith("FELL    benchmarks/engine.py")
    assert passed_line.startswith("passed  benchmarks/fairness.py")
    assert skipped_line.startswith("SKIPPED ")
    assert skipped_line.endswith("none can be driven")
