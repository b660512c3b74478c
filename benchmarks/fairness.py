"""Simulates two hours with the real ledger and queue: do people get their turn among a thousand adversaries?
A simulated minute takes about twelve seconds of a core. tests/serving/test_fairness.py runs the smallest case.

    python benchmarks/fairness.py             # 1,000 adversaries in 40 networks, 100 people, a class of 300
    python benchmarks/fairness.py --minutes 10
"""

from __future__ import annotations

import argparse
import heapq
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from playground.errors import Busy
from playground.serving import classes, ledger, phones
from playground.serving.ledger import Ledger, Present, Visitor, network
from playground.serving.queue import Queue, Ticket

QUESTION_SECONDS = 60.0  # mean seconds between two questions of a person
FAIR_AFTER = 5  # least minutes of a run that can be judged: at first no network has costs, so people wait, too
STUDENT_SECONDS = 600.0  # mean seconds between a student's questions; all honest people need 0.65 of the server's time
SMALL_WORK, COSTLY_WORK = 0.3, 7.0  # seconds of work for a usual and for a costly question
HALL = "192.0.2.77"


@dataclass(eq=False)
class Player:
    """Asks `at_once` questions every `every` seconds on average, each of which takes `seconds` of work."""

    visitor: Visitor
    seconds: float = SMALL_WORK
    every: float = QUESTION_SECONDS
    at_once: int = 1
    hostile: bool = False
    waits: list[float] = field(default_factory=list)
    refusals: int = 0


class World:
    """A simulation with one queue; a heap holds the coming events."""

    def __init__(self, seed: int = 0):
        self.now, self.random = 0.0, random.Random(seed)
        self.costs = Ledger(lambda: self.now)
        self.present = Present(self.costs)
        ledger.costs, ledger.present = lambda: self.costs, lambda: self.present
        self.queue = Queue(1, extra_long=1, kind="passes", costs=self.costs)
        self.waiting: dict[Ticket, tuple[Player, float]] = {}
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._event_count = 0

    def schedule(self, when: float, do: Callable[[], None]) -> None:
        self._event_count += 1
        heapq.heappush(self._events, (when, self._event_count, do))

    def play(self, players: list[Player], seconds: float) -> None:
        for player in players:
            self.schedule(self.random.random() * player.every, lambda player=player: self.ask(player))
        while self._events and self._events[0][0] < seconds:
            self.now, _, do = heapq.heappop(self._events)
            do()
        for player, began in self.waiting.values():  # also counts waits that have not ended
            player.waits.append(seconds - began)

    def ask(self, player: Player) -> None:
        self.schedule(self.now + player.every * (0.5 + self.random.random()), lambda: self.ask(player))
        if player.visitor.person:
            self.present.note(player.visitor)
        for _ in range(player.at_once):
            ticket = Ticket(visitor=player.visitor, seconds=player.seconds)
            try:
                self.queue.join(ticket)
            except Busy:
                player.refusals += not player.hostile
                continue
            self.waiting[ticket] = player, self.now
        self.serve()

    def serve(self) -> None:
        """Serves the questions whose turn has come, and drops those that were sent away."""
        for ticket in [ticket for ticket in self.waiting if ticket.turn.is_set()]:
            player, began = self.waiting.pop(ticket)
            if ticket.sent_away:
                player.refusals += not player.hostile
            else:
                player.waits.append(self.now - began)
                self.schedule(self.now + player.seconds, partial(self.finish, ticket))

    def finish(self, ticket: Ticket) -> None:
        self.queue.leave(ticket)
        self.serve()


def people(count: int, hosts: list[str]) -> list[Player]:
    """People in one network each; every tenth shares a /24 with an attacker."""
    own_addresses = [f"203.{number}.113.5" for number in range(count)]
    neighbour_addresses = [f"{host.rpartition('.')[0]}.250" for host in hosts if "." in host]
    addresses = [
        neighbour_addresses[n % len(neighbour_addresses)] if neighbour_addresses and n % 10 == 0 else own_addresses[n]
        for n in range(count)
    ]
    return [Player(Visitor(f"person {number}", address)) for number, address in enumerate(addresses)]


def adversaries(count: int, networks: int) -> tuple[list[Player], list[str]]:
    """Adversaries of all kinds: with one address or many networks, with keys or without, cheap or costly, steady or in
    bursts."""
    hosts = [f"198.{n}.100.7" if n % 2 else f"2001:db8:{n + 1:x}" for n in range(networks)]
    players = []
    for number in range(count):
        host = hosts[number % networks]
        address = host if "." in host else network(f"{host}:{number:x}::1")
        key = f"minted {number}" if number % 3 else ""
        is_costly, comes_in_bursts = number % 4 == 0, number % 5 == 0
        players.append(
            Player(
                Visitor(key, address),
                COSTLY_WORK if is_costly else SMALL_WORK,
                30.0 if comes_in_bursts else 5.0,
                12 if comes_in_bursts else 1,
                hostile=True,
            )
        )
    return players, hosts


def class_players(count: int) -> list[Player]:
    """A class behind one address; one student is hostile."""
    players = [Player(Visitor(f"student {number}", HALL), every=STUDENT_SECONDS) for number in range(count)]
    if players:
        players[0] = Player(Visitor("hostile student", HALL), COSTLY_WORK, 2.0, 12, hostile=True)
    return players


def join(players: list[Player], lecturer: Visitor) -> classes.Class:
    class_ = classes.classes().start(lecturer.person, lecturer.address)
    for player in players:
        class_.arrivals = phones.Arrivals()  # they have come one after another
        class_.enter(player.visitor)
    return class_


def p95(players: list[Player]) -> float:
    waits = sorted(wait for player in players for wait in player.waits)
    return waits[int(0.95 * (len(waits) - 1))] if waits else 0.0


def play(
    count: int, hostile: int, networks: int, students: int, seconds: float, prints: bool = False
) -> dict[str, float]:
    """The 95th percentiles of people's waits without an attack, of people's waits under attack, and of the class's
    waits; also how often a person found no place."""
    enemies, hosts = adversaries(hostile, networks)
    calm_people, attacked_people, pupils = people(count, hosts), people(count, hosts), class_players(students)
    World().play(calm_people, seconds)
    world = World()
    class_ = join(pupils, Visitor("lecturer", HALL))
    judged_people = [player for number, player in enumerate(attacked_people) if number % 10]
    for minutes in range(10, int(seconds / 60), 10) if prints else ():
        world.schedule(60.0 * minutes, partial(print_waits, minutes, judged_people, pupils))
    world.play([*attacked_people, *enemies, *pupils], seconds)
    classes.classes().end(class_)
    neighbours = [player for number, player in enumerate(attacked_people) if not number % 10]
    return {
        "calm": p95(calm_people),
        "attacked": p95(judged_people),
        "longest": max(max(player.waits, default=seconds) for player in judged_people),
        "beside an attacker": max(max(player.waits, default=seconds) for player in neighbours),
        "class": p95(pupils[1:]),
        "refused": sum(player.refusals for player in judged_people),
    }


def print_waits(minutes: int, people_alone: list[Player], pupils: list[Player]) -> None:
    print(f"after {minutes} minutes: p95 {p95(people_alone):.2f} s, of the class {p95(pupils[1:]):.2f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=120)
    options = parser.parse_args()
    waits = play(100, 1000, 40, 300, 60 * options.minutes, prints=True)
    for waiter, number in waits.items():
        print(f"{waiter:>20}  {number:8.2f}" + (" s" if waiter != "refused" else " times"))
    is_fair = max(waits["attacked"], waits["class"]) <= 3 * waits["calm"] + 1 and not waits["refused"]
    if options.minutes < FAIR_AFTER:
        print(f"Whether it holds can be told after {FAIR_AFTER} minutes.")
        return 0
    print("It holds." if is_fair else "It does not hold.")
    return not is_fair


if __name__ == "__main__":
    sys.exit(main())
