"""Files that fuzzing found, one for each outcome: each is opened or refused in a sentence, within its limits."""

from pathlib import Path

import pytest

from playground.errors import PlaygroundError
from playground.pictures.decoder import Killed, TookTooMuch, Worker

KEPT_FILES = sorted((Path(__file__).parent.parent / "hostile" / "kept").iterdir())


@pytest.fixture(scope="module")
def workers():
    """A list of workers. The last one decodes; a new one is appended after a number of files."""
    workers = [Worker()]
    yield workers
    for worker in workers:
        worker.end()


@pytest.mark.parametrize("kind", sorted({file.name.partition("-")[0] for file in KEPT_FILES}))
def test_a_kept_file_is_opened_or_refused_in_a_sentence(workers, kind):
    for file in (file for file in KEPT_FILES if file.name.startswith(f"{kind}-")):
        if not workers[-1].can_go_on():
            workers.append(Worker())
        sentence = "."
        try:
            assert workers[-1].decoded(file.read_bytes(), 2**22).mode == "RGB", file.name
        except (Killed, TookTooMuch) as error:
            raise AssertionError(f"{file.name}: {error!r}") from error
        except PlaygroundError as error:
            sentence = str(error)
        assert sentence.endswith((".", "!")), (file.name, sentence)
