"""Fixtures shared by several tests of models."""

import io
from contextlib import redirect_stdout

import pytest

from playground.errors import PlaygroundError
from playground.models import pickled, pickled_process


@pytest.fixture
def in_this_process(monkeypatch):
    """Reads pickled files in this process, because a separate process takes seconds to start."""

    def run(path, converted_file, seconds):
        output = io.StringIO()
        try:
            with redirect_stdout(output):
                pickled_process.main(str(path), str(converted_file))
        except SystemExit:
            raise PlaygroundError(f"{path} {output.getvalue().strip()}.") from None

    monkeypatch.setattr(pickled, "_run", run)
    monkeypatch.setattr(pickled_process, "_limit", lambda spare, seconds: None)
