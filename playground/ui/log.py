"""The server's log: a line for each event on the standard output, as text or as JSON."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from playground.serving import settings


def to_stdout() -> None:
    handler = logging.StreamHandler(sys.stdout)
    as_text = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonFormatter() if settings.now().log == "json" else as_text)
    log = logging.getLogger("playground")
    log.handlers[:] = [handler]
    log.setLevel(logging.INFO)
    log.propagate = False


class JsonFormatter(logging.Formatter):
    """Logs each event as a line of JSON, its facts in fields."""

    def format(self, record: logging.LogRecord) -> str:
        timestamp = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        event = {"time": timestamp, "level": record.levelname.lower(), "message": record.getMessage()}
        if record.exc_info:
            event["trace"] = self.formatException(record.exc_info)
        return json.dumps(event, ensure_ascii=False)
