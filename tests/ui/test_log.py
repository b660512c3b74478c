"""The app's log in JSON, for operators whose programs read the log."""

import json
import logging

from playground.ui.log import JsonFormatter


def logged_event(error: Exception | None = None) -> dict:
    try:
        if error:
            raise error
    except ValueError:
        pass
    error_info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("playground", logging.WARNING, "here.py", 1, "a model of %d MB", (28,), error_info)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    return json.loads(line)


def test_each_event_is_one_line_with_fields():
    record = logged_event()
    assert (record["level"], record["message"]) == ("warning", "a model of 28 MB")
    assert record["time"].endswith("+00:00")
    assert "trace" not in record


def test_an_error_s_trace_stands_in_a_field():
    assert "ValueError: no memory" in logged_event(ValueError("no memory"))["trace"]
