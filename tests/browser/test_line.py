"""The queue: a waiting page says how many people come first, goes on by itself, and gives up its place when closed."""

import re
from contextlib import suppress
from pathlib import Path
from threading import Thread
from urllib.parse import urlencode

import pytest
from waiting import until

from browser.server import serving
from browser.stranger import Stranger
from browser.visitor import PatientVisitor

# LONG_SECONDS = 0 puts every request into the queue for long requests; usually short requests have another queue. While
# the file HOLD exists, a pass waits for its end, so that nobody is served before all have come.
ONE_QUEUE_PROGRAM = """
import os, time
from playground.__main__ import main
from playground.serving import queue, traces

def run_once_allowed(*arguments, run=traces._run_with_cuts):
    while os.path.exists(os.environ["HOLD"]):
        time.sleep(0.05)
    return run(*arguments)

queue.LONG_SECONDS, traces._run_with_cuts = 0, run_once_allowed
main()
"""
LARGE_MODEL = "ViT-B/14"


@pytest.fixture(scope="module")
def hold(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("line") / "hold"


@pytest.fixture(scope="module")
def server(hold):
    """A server that computes one picture at a time."""
    variables = {"PLAYGROUND_AT_ONCE": "1", "OMP_NUM_THREADS": "1", "HOLD": str(hold)}
    with serving(("-c", ONE_QUEUE_PROGRAM), **variables) as running_server:
        yield running_server
        running_server.kill()  # so that it does not finish passes that nobody waits for


@pytest.fixture
def visit(arrive, server):
    return lambda address="": arrive(PatientVisitor, server.url).open(address)


def crowd(server, hold: Path, *samples: str, **parameters: str) -> None:
    """For each sample, a Stranger asks for a pass of a large model on its finest grid. Returns when the first pass has
    begun; none ends before `hold` is deleted."""
    hold.touch()
    parameters = {"model": LARGE_MODEL, **parameters}

    def ask(somebody: Stranger, sample: str) -> None:
        trace_parameters = {**parameters, "sample": sample}
        with suppress(OSError):  # nobody waits for the answer
            grid_details = [str(grid["detail"]) for grid in somebody.describe(**trace_parameters)["grids"]]
            # the finest grid that this machine offers
            trace_parameters = {"detail": grid_details[-1], **trace_parameters}
            digest = somebody.describe(**trace_parameters)["digest"]
            somebody.get(f"api/trace/{digest}/layers?{urlencode(trace_parameters)}")

    def waiting_count() -> int:
        text = people[0].get("metrics")[1].decode()
        return int(re.search(r'waiting{queue="passes"} (\d+)', text)[1])

    people = [Stranger(server.url) for _ in samples]
    for somebody, sample in zip(people, samples, strict=True):
        Thread(target=ask, args=(somebody, sample), daemon=True).start()
    until(lambda: waiting_count() == len(samples) - 1, "one of the crowd is served, and the others wait")


PEOPLE_BEFORE = "() => Number(sentences().join().match(/(\\d+) (person|people) before you/)?.[1])"


def wait_until_told(visitor, expected_count: int) -> None:
    """Waits until the page says that `expected_count` others come first."""
    until(
        lambda: visitor.page.evaluate(PEOPLE_BEFORE) == expected_count,
        f"the page says {visitor.page.evaluate(PEOPLE_BEFORE)} and not {expected_count} come first",
    )


@pytest.mark.slow
def test_who_waits_sees_how_many_come_first_and_who_leaves_gives_the_place_back(visit, server, hold):
    """Of two equal requests, that of the visitor with fewer pictures so far comes first. This test must stay the
    last of the file, because its crowd still waits when it ends."""
    second_visitor, first_visitor = visit("model=untrained"), visit("model=untrained")
    second_visitor.pick("portrait")
    crowd(server, hold, "still-life", "odd-tile")
    first_visitor.press_sample("flock")
    wait_until_told(first_visitor, 1)  # the request being served; the crowd's other request costs more
    second_visitor.press_sample("landscape")
    wait_until_told(second_visitor, 2)
    first_visitor.page.close()
    wait_until_told(second_visitor, 1)
    second_visitor.hover((5, 5))  # the old picture still answers the cursor
