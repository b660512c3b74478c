"""The app's log in JSON, for operators whose programs read the log."""

import json
import logging

from playground.ui.log import JsonFormatter


def test_each_event_is_one_line_with_fields_and_an_error_s_trace_is_one_of_them():
    try:
        raise ValueError("no memory")
    except ValueError as error:
        error_info = (type(error), error, error.__traceback__)
    record = logging.LogRecord("playground", logging.WARNING, "here.py", 1, "a model of %d MB", (28,), error_info)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    event = json.loads(line)
    assert (event["level"], event["message"]) == ("warning", "a model of 28 MB")
    assert event["time"].endswith("+00:00")
    assert "ValueError: no memory" in event["trace"]
