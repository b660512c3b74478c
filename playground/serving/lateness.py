"""Where the server is late, who asks seldom comes first. Where it is not, nobody waits."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

LATE = 0.03  # seconds that the loop is behind: something keeps Python from it
REMEMBERED = 5.0  # seconds that a lag counts: the one that it was is not gone because it waits
FORGOTTEN_BY_HALF = 10.0  # seconds, of what somebody asked before
MOST_KNOWN = 5000  # whose habits are known
NEWCOMERS = 10  # people, as which all of a network count together who have no page open
NEVER = float("-inf")


class Lag:
    """How late the event loop is: everybody waits at least so long. A process that shares its cores never reaches its
    own share of them, so that says nothing."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self._noted: list[tuple[float, float]] = []
        self._second, self._at = 0.0, NEVER

    def note(self, seconds: float) -> None:
        """The second largest of the last seconds counts: a single one is a collection of garbage, or a page's first
        import."""
        self._at = now = self.clock()
        self._noted = [(at, late) for at, late in self._noted if now - at < REMEMBERED] + [(now, seconds)]
        self._second = sorted(late for _, late in self._noted)[-2] if len(self._noted) > 1 else 0.0

    def now(self) -> float:
        return self._second if self.clock() - self._at < REMEMBERED else 0.0

    def is_late(self) -> bool:
        return self.now() > LATE


class Habits:
    """How much each has asked lately. What is forgotten by half in a fixed time keeps its order, so a logarithm that
    grows with time is kept of each, which has not to be worked out again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self._ranks: dict[Hashable, float] = {}  # log₂ of how much, in halves from the clock's beginning

    def note(self, who: Hashable, cost: float = 1.0) -> None:
        self._ranks[who] = math.log2(self.lately(who) + cost) + self.clock() / FORGOTTEN_BY_HALF
        if len(self._ranks) > MOST_KNOWN:  # who asked least is forgotten
            most = sorted(self._ranks, key=self._ranks.__getitem__)[len(self._ranks) // 2 :]
            self._ranks = {one: self._ranks[one] for one in most}

    def rank(self, who: Hashable) -> float:
        """Who asked less has a lower one."""
        return self._ranks.get(who, NEVER)

    def lately(self, who: Hashable) -> float:
        rank = self.rank(who)
        return 0.0 if rank == NEVER else 2.0 ** (rank - self.clock() / FORGOTTEN_BY_HALF)


@dataclass(eq=False)
class Turn:
    """One request. `within`: the key of a browser that has a page open, or None for one that has none."""

    network: str
    within: Hashable | None
    come: asyncio.Event
    timer: asyncio.TimerHandle | None = None


class Turns:
    """So many at once where the server is late: by networks, within them by keys. Keys and connections are free to
    mint, and a new one has asked for nothing yet: so all of a network who have no page open stand in one line, in the
    order in which they came, and count as a few people together. Of them all one has a turn at a time: they could take
    every turn that people with pages leave, and the loop is then late for these too. A turn that takes longer than
    `seconds` computes or waits in a queue, and keeps nobody else from one."""

    def __init__(self, lag: Lag, habits: Habits, at_once: int, seconds: float):
        self.lag, self.habits = lag, habits
        self.at_once, self.seconds = at_once, seconds
        self.going: set[Turn] = set()
        # network -> key, or None -> in the order of coming
        self._line: dict[str, dict[Hashable | None, dict[Turn, None]]] = {}

    async def take(self, network: str, within: Hashable | None) -> Turn:
        """Whoever takes one ends it."""
        turn = Turn(network, within, asyncio.Event())
        self._line.setdefault(network, {}).setdefault(within, {})[turn] = None
        self._next()
        try:
            await turn.come.wait()
        except BaseException:
            self._leave_line(turn)
            self.end(turn)
            raise
        return turn

    def end(self, turn: Turn) -> None:
        self.going.discard(turn)
        if turn.timer:
            turn.timer.cancel()
        self._next()

    @property
    def waiting(self) -> int:
        return sum(len(turns) for keys in self._line.values() for turns in keys.values())

    def _next(self) -> None:
        while turn := self._first():
            network, within = turn.network, turn.within
            self._leave_line(turn)
            self.habits.note(network)
            self.habits.note((network, within), 1 / NEWCOMERS if within is None else 1)
            self.going.add(turn)
            turn.timer = asyncio.get_running_loop().call_later(self.seconds, self.end, turn)
            turn.come.set()

    def _first(self) -> Turn | None:
        """Whose turn has come."""
        late = self.lag.is_late()
        if late and len(self.going) >= self.at_once:
            return None
        none_without = late and any(turn.within is None for turn in self.going)
        may = {
            network: [within for within in keys if within is not None or not none_without]
            for network, keys in self._line.items()
        }
        network = min((network for network in may if may[network]), key=self.habits.rank, default=None)
        if network is None:
            return None
        within = min(may[network], key=lambda one: self.habits.rank((network, one)))
        return next(iter(self._line[network][within]))

    def _leave_line(self, turn: Turn) -> None:
        keys = self._line.get(turn.network, {})
        if turn in (turns := keys.get(turn.within, {})):
            del turns[turn]
            if not turns:
                del keys[turn.within]
            if not keys:
                del self._line[turn.network]
