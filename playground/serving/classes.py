"""Keeps the classes whose people guess together, in memory only: their phones, questions and guesses.

Everything runs in the event loop's thread and nothing here awaits, so no lock is needed. A phone is known by a random
key from its browser, without name or address. A request that waits for news holds one future, which the next change
resolves.
"""

from __future__ import annotations

import asyncio
import csv
import io
import math
import re
import secrets
from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from string import ascii_lowercase, digits, hexdigits
from typing import Any

from playground.serving import app, ledger
from playground.serving.answering import Refused
from playground.serving.ledger import Visitor
from playground.serving.phones import FULL, NEW_CODE, SENT_AWAY, Arrivals, Crowd, Phone, clock, wake

CODE_LETTERS = "ACDEFHJKMNPQRTVWXY"  # letters that nobody confuses with each other or with a digit
CODE_LENGTH = 5
LONGEST_LIFE = 4 * 3600.0  # seconds
ABANDONED_AFTER = 20 * 60.0  # seconds without a request of the lecturer, after which a new class may replace this one
MOST_CLASSES_OF_A_KEY = 2
MOST_PHONES, MOST_PHONES_IN_ALL = 500, 3000  # phones in one class, in all classes
MOST_QUESTIONS, MOST_ROUNDS = 60, 2
MOST_SCREENS = 4  # pages of one lecturer that wait for news at the same time
MOST_SQUARES = 10_000
MOST_RANKS = 36  # number of places that guesses are graded by
MOST_HEAT_SQUARES = 4096  # number of squares up to which the weights are sent to the phones
ASKS, SHOWS, TELLS = ("asks", "shows", "tells")  # phases: guesses arrive; all guesses are shown; the truth is shown

# What somebody may meet who uses the pages; microscope/classroom/words.js has the same keys in other languages.
REFUSALS = {
    "noQuestion": "No question is open in this scene: open it first.",
    "closed": "The lecturer has closed the door of this class: ask them to open it again.",
    "arrivals": "Many phones of your network enter at this moment: this one follows in a few seconds.",
    "full": "This class is full: look at a neighbour's phone.",
    "sentAway": "The lecturer has sent the phones of your network away: look at the screen in front.",
    "newCode": "This class has a new code: enter the one on the screen in front.",
    "otherQuestion": "That was another question: the one that is asked now comes at once.",
    "shownAlready": "The guesses of this question are shown already.",
    "manyClasses": "So many classes run here that there is no room for one more: try again later.",
    "letters": "A code is {count} letters, as on the screen in front.",
    "manyCodes": "Too many codes were tried in this browser: wait a minute, and look at the screen in front.",
    "manyTries": "Many codes are being tried from your network: try again.",
    "noClass": "There is no class {code}: it has ended, or its code is another one. Look at the screen in front.",
    "often": "This browser asks too often: wait a few seconds.",
    "otherLecturer": "This class is another lecturer's: open it with the link that you were given.",
    "photographGone": "Your photograph is not on the server any more: reload the page, it is sent again.",
    "sendPhotograph": "A place is pressed on a picture: say yes to sending yours to the phones, or take a sample.",
}


def refusal(key: str, status: int = 400, **filled: object) -> Refused:
    return Refused(REFUSALS[key].format(**filled), status, key=key, filled=filled)


@dataclass
class Question:
    """A question of a scene or a lesson. `for_phones`: the fields for the phones, as the lecturer's page sent them."""

    number: int  # the question's number in the class
    scene: str  # the name of the scene or of the lesson's question
    kind: str  # "Place", "Number" or "Choice"
    low: float
    high: float  # the largest valid guess; for a place, the number of the last square
    values: tuple[str, ...]  # for a choice: the valid guesses
    for_phones: Mapping[str, Any]
    whole: bool = True  # whether a guess is a whole number
    own_picture: str = ""  # the id of the lecturer's own picture
    about: str = ""  # picture and square that the question is about, as the lecturer's page names them
    phase: str = ASKS
    rounds: list[dict[str, float | str]] = field(default_factory=lambda: [{}])  # for each round: phone's key -> guess
    truth: float | str | None = None
    after_words: object = None  # the words on the phones below the truth
    grades: Mapping[str, object] | None = None  # for a place: the rank of each square's place, and their shares
    heat: str = ""  # for a place: each square's weight as a hexadecimal digit; "" if there are too many squares

    def counts(self) -> list[dict[str, int]]:
        """For each round: guess -> number of people who made it."""
        return [dict(Counter(map(str, guesses.values()))) for guesses in self.rounds]

    def has_letters(self, text: object, allowed: str) -> bool:
        """Whether the text has one of these letters for each patch of the picture."""
        patches = self.high + 1 if self.kind == "Place" else 0
        return isinstance(text, str) and len(text) == patches <= MOST_HEAT_SQUARES and set(text) <= set(allowed)

    def guess(self, value: object) -> float | str:
        """The guess as it is stored: a number, or a choice's text. Raises Refused if the guess is not valid."""
        if self.kind == "Choice":
            if not isinstance(value, str) or value not in self.values:
                raise Refused("That is none of the answers: choose one of those on the screen.")
            return value
        if isinstance(value, float) and math.isfinite(value):
            value = int(value) if value == int(value) else float(f"{value:.10g}")
        if not isinstance(value, int if self.whole else int | float) or isinstance(value, bool):
            raise Refused("A guess is a whole number: choose it once more.")
        if not self.low <= value <= self.high:
            raise Refused(f"A guess lies between {self.low:g} and {self.high:g}: choose once more.")
        return value


def _checked_grades(question: Question, grades: object) -> dict[str, object] | None:
    """The grades of guessed places as microscope/core/grades.js reads them; None if they are not of this form."""
    ranks, shares = (grades.get(key) for key in ("ranks", "shares")) if isinstance(grades, dict) else (None, None)
    if not question.has_letters(ranks, f".{digits}{ascii_lowercase}") or not isinstance(shares, list):
        return None
    if not all(type(share) in (int, float) and 0 <= share <= 1 for share in shares[:MOST_RANKS]):
        return None
    return {"ranks": ranks, "shares": shares[:MOST_RANKS]}


class Class:
    def __init__(self, code: str, lecturer: Visitor, seat: str, all_phones: Crowd):
        self.code, self.lecturer, self.seat = code, lecturer, seat
        self.account = f"class {secrets.token_hex(8)}"  # what pays for the phones in ledger.costs()
        self.secret = secrets.token_urlsafe(24)
        self.begun_at = self.heard_at = clock()  # begun_at: the class's start; heard_at: the lecturer's last request
        self.door_is_open = True
        self.ended = False
        self.phones: dict[str, Phone] = {}  # by key
        self.crowd, self.all_phones, self.arrivals = Crowd(MOST_PHONES), all_phones, Arrivals()
        self.shut_out: set[str] = set()  # networks whose phones were sent away
        self.scene: Mapping[str, object] = {"name": ""}
        self.questions: dict[str, Question] = {}  # name of a scene -> its question
        self.earlier_questions: deque[Question] = deque(maxlen=MOST_QUESTIONS)  # asked in a scene that asks another
        self.question_count = 0  # number of times that a question was asked
        self.planned = 0  # number of questions in the lecturer's plan; 0 if the class has none
        self.pictures: dict[str, bytes] = {}  # id -> JPEG of the lecturer's own picture that phones may see
        self.root = ""  # the app's address for phones
        self.reachable_command = ""  # the command that makes the app reachable for phones; "" if it is reachable
        self.shared_state: tuple[int, bytes] | None = None  # (version, the state that all phones share, as JSON)
        self.version = self.lecturer_version = 0  # changes of the phones' state, and of the lecturer's
        self.screens: list[asyncio.Future[None]] = []  # waiting requests of the lecturer's pages

    def tell(self) -> None:
        """Wakes all waiting requests."""
        self.version += 1
        for phone in self.phones.values():
            phone.wake()
        self.tell_lecturer()

    def tell_lecturer(self) -> None:
        self.lecturer_version += 1
        for screen in self.screens:
            wake(screen)
        self.screens.clear()

    def next_lecturer_news(self) -> asyncio.Future[None]:
        if len(self.screens) >= MOST_SCREENS:
            wake(self.screens.pop(0))
        self.screens.append(asyncio.get_running_loop().create_future())
        return self.screens[-1]

    @property
    def address(self) -> str:
        """The address that phones open."""
        return f"{self.root}c/{self.code}"

    @property
    def question(self) -> Question | None:
        """The question of the scene that the lecturer shows now."""
        return self.questions.get(str(self.scene["name"]))

    def required_question(self) -> Question:
        if self.question is None:
            raise refusal("noQuestion", 409)
        return self.question

    # ---- phones
    def enter(self, visitor: Visitor) -> Phone:
        phone = self.phones.get(visitor.person) or self._newcomer(visitor)
        phone.heard_at = clock()
        return phone

    def _newcomer(self, visitor: Visitor) -> Phone:
        if not self.door_is_open:
            raise refusal("closed", 403)
        if any(ledger.is_within(visitor.address, network) for network in self.shut_out):
            raise refusal(*SENT_AWAY)
        if not self.arrivals.take(visitor.address):
            raise refusal("arrivals", 429)
        if not self.crowd.makes_room(visitor.address) or not self.all_phones.makes_room(self.lecturer.address):
            raise refusal(*FULL)
        phone = self.phones[visitor.person] = Phone(visitor, self.let_go)
        self.crowd.add(phone, visitor.address)
        self.all_phones.add(phone, self.lecturer.address)
        ledger.costs().phones[visitor.person] = self.account, self.lecturer  # the class pays
        self.tell_lecturer()
        return phone

    def let_go(self, phone: Phone, why: tuple[str, int] | None = None) -> None:
        key, phone.why_out = phone.visitor.person, why
        del self.phones[key]
        self.crowd.remove(phone)
        self.all_phones.remove(phone)
        if ledger.costs().phones.get(key, ("",))[0] == self.account:
            del ledger.costs().phones[key]
        phone.wake()

    def take_guess(self, key: str, question_number: object, round_number: object, value: object) -> float | str:
        question = self.question
        if question is None or question.number != question_number:
            raise refusal("otherQuestion", 409)
        if question.phase != ASKS or len(question.rounds) != round_number:
            raise refusal("shownAlready", 409)
        guess = question.guess(value)
        question.rounds[-1][key] = guess
        self.tell_lecturer()
        return guess

    # ---- the lecturer
    def go_to(self, scene: Mapping[str, object]) -> None:
        if scene != self.scene:
            self.scene = scene
            self.tell()

    def ask(self, question: Question) -> None:
        if question.scene not in self.questions and len(self.questions) >= MOST_QUESTIONS:
            raise Refused(f"A class has room for {MOST_QUESTIONS} questions: end it, and start another.", 409)
        if question.scene in self.questions:
            self.earlier_questions.append(self.questions[question.scene])
        self.question_count += 1
        question.number = self.question_count
        self.questions[question.scene] = question
        self.tell()

    def ask_again(self) -> None:
        question = self.required_question()
        if question.phase == TELLS or len(question.rounds) >= MOST_ROUNDS:
            raise Refused("The class has guessed twice, or the answer is shown: there is no third vote.", 409)
        question.rounds.append({})
        question.phase = ASKS
        self.tell()

    def show(self) -> None:
        question = self.required_question()
        if question.phase == ASKS:
            question.phase = SHOWS
            self.tell()

    def say_truth(self, truth: object, after_words: object, heat: object = "", grades: object = None) -> None:
        question = self.required_question()
        question.truth, question.after_words, question.phase = question.guess(truth), after_words, TELLS
        question.heat = str(heat) if question.has_letters(heat, hexdigits) else ""
        question.grades = _checked_grades(question, grades)
        self.tell()

    def send_largest_away(self) -> None:
        """Shuts out the network that holds most, until the class has a new code."""
        self.shut_out.add(self.crowd.holdings.fullest_network())
        self._send_away(self.crowd.of_fullest_network(), SENT_AWAY)

    def take_code(self, code: str) -> None:
        self.code = code
        self.shut_out.clear()
        self._send_away(list(self.phones.values()), NEW_CODE)

    def _send_away(self, phones: list[Phone], why: tuple[str, int]) -> None:
        """Lets phones go; their guesses that nobody has seen yet go too."""
        for phone in phones:
            self.let_go(phone, why)
            for question in self.questions.values():
                if question.phase == ASKS:
                    question.rounds[-1].pop(phone.visitor.person, None)
        self.tell()

    def set_door(self, is_open: bool) -> None:
        self.door_is_open = is_open
        self.tell_lecturer()


# Wrong codes: each browser has few tries. After many tries from one network, each further try is delayed. A correct
# code is never refused because of other people's tries, so nobody can lock a class out.

TRIES_OF_A_KEY, TRIES_OF_A_NETWORK = 10, 60  # wrong codes within TRIES_SECONDS
TRIES_SECONDS = 60.0
MOST_TRIERS = 4000  # browsers and networks whose tries are remembered


class Tries:
    """The times at which each browser and network tried a wrong code."""

    def __init__(self, limit: int):
        self.limit = limit
        self._times: OrderedDict[str, list[float]] = OrderedDict()

    def add(self, visitor: str) -> None:
        self._times[visitor] = [*self._recent(visitor), clock()][-self.limit :]
        self._times.move_to_end(visitor)
        while len(self._times) > MOST_TRIERS:
            self._times.popitem(last=False)

    def too_many(self, visitor: str) -> bool:
        return len(self._recent(visitor)) >= self.limit

    def _recent(self, visitor: str) -> list[float]:
        return [try_time for try_time in self._times.get(visitor, ()) if clock() - try_time < TRIES_SECONDS]


class Classes:
    """The classes of a server."""

    def __init__(self) -> None:
        self._classes: OrderedDict[str, Class] = OrderedDict()  # code -> class, the oldest code first
        self.phones = Crowd(MOST_PHONES_IN_ALL)  # each counts for its lecturer's network
        self.tries_of_keys, self.tries_of_networks = Tries(TRIES_OF_A_KEY), Tries(TRIES_OF_A_NETWORK)
        self.slow_tries = 0  # the number of tries that are being delayed

    def start(self, key: str, network: str, seat: str = "") -> Class:
        """Starts a class. `seat`: a cookie of the lecturer's browser, by which a proxy finds the replica that keeps the
        class."""
        self.drop_the_old()
        classes_of_key = [group for group in self._classes.values() if group.lecturer.person == key]
        if len(classes_of_key) >= MOST_CLASSES_OF_A_KEY:
            self.end(classes_of_key[0])
        lecturer = Visitor(key, network)
        while ledger.classes().take(lecturer):
            longest_idle = min(self._classes.values(), key=lambda group: group.heard_at, default=None)
            if longest_idle is None or clock() - longest_idle.heard_at < ABANDONED_AFTER:
                raise refusal("manyClasses", 503)
            self.end(longest_idle)
        ledger.costs().charge(lecturer, ledger.CLASS_START_SECONDS, "classes")
        code = self._unused_code(seat)
        self._classes[code] = Class(code, lecturer, seat, self.phones)
        return self._classes[code]

    def renew_code(self, group: Class) -> None:
        """Sends all phones away; whoever reads the new code may enter again."""
        code = self._unused_code(group.seat)
        self._classes[code] = self._classes.pop(group.code)
        group.take_code(code)

    def _unused_code(self, seat: str) -> str:
        while (code := _new_code(seat)) in self._classes:
            pass
        return code

    def of_secret(self, secret: str) -> Class | None:
        """Finds a class by its lecturer's secret, which stays when the code changes."""
        self.drop_the_old()
        for group in self._classes.values():
            if secrets.compare_digest(secret.encode(), group.secret.encode()):
                return group
        return None

    def find(self, code: str) -> Class | None:
        self.drop_the_old()
        return self._classes.get(code.upper())

    def end(self, group: Class) -> None:
        group.ended = True
        if self._classes.pop(group.code, None):
            ledger.classes().give_back(group.lecturer)
        group.tell()
        for phone in list(group.phones.values()):
            group.let_go(phone)

    def drop_the_old(self) -> None:
        for group in list(self._classes.values()):
            if clock() - group.begun_at > LONGEST_LIFE:
                self.end(group)

    def end_all(self) -> None:
        for group in list(self._classes.values()):
            self.end(group)


classes = app.part(Classes)


def _new_code(seat: str) -> str:
    """A code whose first two letters encode the first two digits of the seat, from which deploy/nginx.conf
    finds the lecturer's replica for the phones."""
    digits = seat[:2] if re.match("[0-9a-f]{2}", seat) else ""
    seat_letters = [CODE_LETTERS[int(digit, 16)] for digit in digits]
    return "".join([*seat_letters, *(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH - len(seat_letters)))])


# The guesses of a class, counted, as a table (CSV). A round that is still open is left out.


def counts_table(group: Class, language: str) -> str:
    file = io.StringIO()
    table = csv.writer(file)
    table.writerow(("scene", "question", "picture", "round", "guess", "people", "answer"))
    for question in sorted([*group.earlier_questions, *group.questions.values()], key=lambda asked: asked.number):
        answer = "" if question.truth is None else _words(question, str(question.truth), language)
        counts = question.counts()
        for round_number, people_of_guess in enumerate(counts[:-1] if question.phase == ASKS else counts, 1):
            for guess, people in sorted(people_of_guess.items(), key=lambda pair: (len(pair[0]), pair[0])):
                asks = _in_language(question.for_phones.get("asks"), language)
                words = _words(question, guess, language)
                table.writerow((question.scene, asks, question.about, round_number, words, people, answer))
    return file.getvalue()


def _words(question: Question, guess: str, language: str) -> str:
    """A guess as people read it; a place is (row, column), counted from 0."""
    if question.kind == "Place":
        return str(divmod(int(guess), question.for_phones["guess"]["columns"]))
    options = question.for_phones["guess"].get("options")
    return _in_language(dict(options)[guess], language) if isinstance(options, list) else guess


def _in_language(texts: object, language: str) -> str:
    return str(texts.get(language) or texts.get("en") or "") if isinstance(texts, dict) else str(texts or "")
