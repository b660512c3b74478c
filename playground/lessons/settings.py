"""What stands in the address of a lesson's page: choices, each one of its options. Addresses are hostile: what is not
one of the options is the default."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Setting:
    default: object
    options: tuple

    @staticmethod
    def of(default: object, options: Iterable) -> Setting:
        return Setting(default, tuple(options))

    def read(self, text: str | None) -> object:
        return {str(option): option for option in self.options}.get(text, self.default)

    def take(self, value: object) -> object:
        """What a drawing tells, which writes 1 for 1.0; a browser may say anything."""
        return next((option for option in self.options if option == value), self.read(str(value)))

    def found(self, name: str, given: Mapping[str, str]) -> object:
        """What an address says of it."""
        return self.read(given.get(name))


@dataclass(frozen=True)
class Written(Setting):
    """A choice with too many options to list: whatever matches a pattern."""

    options: tuple = ()
    pattern: str = ""

    def read(self, text: str | None) -> object:
        return text if text and re.fullmatch(self.pattern, text, re.ASCII) else self.default


@dataclass(frozen=True)
class Renamed(Setting):
    """A choice with an older name, which old addresses use."""

    former: str = ""

    def found(self, name: str, given: Mapping[str, str]) -> object:
        return self.read(given.get(name, given.get(self.former)))


@dataclass(frozen=True)
class Steps(Setting):
    """Which step of a page is on the screen. An address that names none opens the step to which most of its other words
    belong, as addresses did before the page had steps. It stands last among the settings of its page."""

    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @staticmethod
    def by(titles: Iterable[str], **words: tuple[str, ...]) -> Steps:
        """`words` are the names of the settings that a step shows."""
        first, *_ = titles = tuple(titles)
        return Steps(first, titles, words)

    def found(self, name: str, given: Mapping[str, str]) -> object:
        if name in given:
            return self.read(given[name])
        counts = {step: sum(word in given for word in words) for step, words in self.words.items()}
        best = max(counts, key=counts.__getitem__, default=None)
        return best if best and counts[best] else self.default
