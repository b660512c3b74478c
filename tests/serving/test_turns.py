"""Work of many passes gives way to waiting people between two passes, and ends when its asker has left."""

import threading
from functools import cache

import pytest
from waiting import PATIENCE, until

from playground.analysis import block
from playground.analysis.ablation import ablation_effect, additivity, passes_of_additivity
from playground.analysis.heads import disagreement, head_report
from playground.errors import PlaygroundError
from playground.serving import effort, ledger, models, queue
from playground.serving.ledger import Ledger
from playground.serving.queue import Queue
from serving.visits import played, texts_in

WORK_OF_MANY_PASSES = {
    "addition": lambda seen, give_way: additivity(seen, 1, give_way),
    "without": lambda seen, give_way: ablation_effect(seen, {(0, 0)}, give_way),
    "stream": block.stream,
    "differing": disagreement,
    "report": lambda seen, give_way: head_report(seen, (0, 0), None, give_way),
    "rollout": lambda seen, give_way: seen.rollout(None, give_way),
}


@pytest.fixture
def one_queue(monkeypatch):
    """A queue in which long work gives way as soon as somebody waits."""
    line = Queue(1, costs=Ledger())  # a new ledger, without the costs of earlier tests
    monkeypatch.setattr(queue, "passes", lambda: line)
    monkeypatch.setattr(queue, "SLICE_SECONDS", 0.0)
    return line


class Stranger:
    """A person who asks for a turn at the end of the first pass. The pass does not return before this person waits."""

    def __init__(self, line: Queue, vit):
        self.line, self.events = line, []
        self.thread = threading.Thread(target=self._ask)
        self.hook = vit.blocks[-1].register_forward_hook(self._passed)

    def _passed(self, *_) -> None:
        self.events.append("a pass")
        if len(self.events) == 1:
            self.thread.start()
            until(lambda: self.line.waiting_count, "the stranger does not wait")

    def _ask(self) -> None:
        with self.line.take(visitor=ledger.Visitor("stranger", "192.0.2.9")):  # a visitor without costs comes first
            self.events.append("the stranger")

    def leave(self) -> list[str]:
        self.thread.join(PATIENCE)
        self.hook.remove()
        return self.events


def test_somebody_else_is_served_between_two_passes(one_queue, small_trace):
    stranger = Stranger(one_queue, small_trace.vit)
    with queue.turns() as give_way:
        additivity(small_trace, small_trace.layers - 1, give_way)
    assert stranger.leave() == ["a pass", "the stranger", *["a pass"] * (small_trace.heads + 1)]
    assert one_queue.line == []


def test_only_a_few_have_begun_long_work_and_short_work_comes_in_between(one_queue, monkeypatch):
    """Once, all of 300 askers had begun, each with its partial result in memory, and none was finished."""
    monkeypatch.setattr(queue, "_long_queue", cache(lambda: Queue(queue.MOST_LONG)))
    begun_numbers, counts, finished_numbers, release = set(), [], [], threading.Event()

    def long_work(number: int) -> None:
        with queue.turns() as give_way:
            begun_numbers.add(number)
            counts.append(len(begun_numbers))
            assert release.wait(PATIENCE)
            for _ in range(3):
                give_way()
            begun_numbers.remove(number)
            finished_numbers.append(number)

    threads = [threading.Thread(target=long_work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    until(lambda: begun_numbers, "none has begun")
    finished_counts = []

    def ask() -> None:
        with one_queue.take():
            finished_counts.append(len(finished_numbers))

    short_thread = threading.Thread(target=ask)
    short_thread.start()
    until(lambda: one_queue.waiting_count, "nobody waits")
    release.set()
    for thread in (*threads, short_thread):
        thread.join(PATIENCE)
    assert sorted(finished_numbers) == list(range(8))
    assert max(counts) <= queue.MOST_LONG
    assert finished_counts[0] < 8


class Leaving(queue.Asker):
    """A person who has left when the queue asks for the third time."""

    times_asked = 0

    def raise_if_left(self) -> None:
        self.times_asked += 1
        if self.times_asked == 3:
            raise queue.Left


@pytest.mark.parametrize("work", WORK_OF_MANY_PASSES.values(), ids=WORK_OF_MANY_PASSES)
def test_work_of_many_passes_ends_when_its_asker_has_left(one_queue, small_trace, work):
    person = Leaving()
    with queue.working_for(person), pytest.raises(queue.Left), queue.turns() as give_way:
        work(small_trace, give_way)
    assert person.times_asked == 3
    assert one_queue.line == []


def test_work_of_too_many_passes_is_refused(monkeypatch):
    vit = models.load("untrained")
    speed = effort.multiplications(vit, 196) / 5  # one pass takes five seconds
    monkeypatch.setattr(effort, "multiplications_per_second", lambda device: speed)
    effort.check(vit, (14, 14), passes=1.9)
    passes = passes_of_additivity(vit.config.depth, vit.config.heads, 0)
    with pytest.raises(PlaygroundError, match=r"14 × 14 patches, \d times, would take about \d+ seconds"):
        effort.check(vit, (14, 14), passes)
    assert "choose fewer patches" in texts_in(played("heads", "sum", model="untrained", sample="flock"))
