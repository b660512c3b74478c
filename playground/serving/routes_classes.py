"""Serves a class over HTTP: a light page for phones, requests that wait for news, and the lecturer's actions.

No request here occupies a thread. A phone waits in one request, which is answered after a change, or after WAIT_SECONDS
with the same state; then the phone asks again.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Awaitable, Callable
from functools import wraps
from html import escape
from typing import Any, TypeGuard
from urllib.parse import urlsplit

import segno
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from playground.figures.bundle import stylesheet
from playground.serving import classes, people, scripts
from playground.serving.answering import Refused, own_pages_only, visitor
from playground.serving.classes import ASKS, TELLS, Class, Question, counts_table, refusal
from playground.serving.ledger import Visitor, household
from playground.serving.phones import Phone

WAIT_SECONDS = 20.0
BODY_SECONDS = 10.0
RETRY_SECONDS = "2"  # after a refusal that passes: shell/phone.js asks again by itself
PHONE_BYTES, LECTURER_BYTES = 1024, 24576  # largest body of a request in bytes: from a phone, from the lecturer
TRY_DELAY_SECONDS, MOST_SLOW_TRIES = 2.0, 200  # the delay of a try, and the most tries that are delayed at once
SECRET_HEADER = "x-playground-lecturer"  # the header with the lecturer's secret
SEAT_COOKIE = "playground_seat"  # the cookie by which deploy/nginx.conf finds a browser's replica
CODE_PATTERN = re.compile(rf"[A-Za-z]{{{classes.CODE_LENGTH}}}")
SAMPLE_ADDRESS = re.compile(r"api/samples/[\w.-]{1,60}/[0-9a-f]{1,64}\.jpg")
LARGEST = 1e12  # the largest number that is asked for
GUESS_FIELDS = ("kind", "low", "high", "step", "log", "unit", "options", "rows", "columns", "mark", "aspect")
NEWS_HEADERS = {"Cache-Control": "no-store", "Content-Type": "application/json"}
STYLESHEET = "classroom/classroom.css"
REACHABLE_COMMAND = "python -m playground --host 0.0.0.0"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex"><title>Attention Playground</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="{styles}">
<script type="module" src="{script}"></script>
</head><body><main class="phone" data-phone><noscript>This page needs JavaScript.</noscript></main></body></html>
"""


def _answering_refusals(endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    @wraps(endpoint)
    async def refusing(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Refused as refused:
            response = refused.response
            if refused.status == 429:
                response.headers["Retry-After"] = RETRY_SECONDS
            return response
        except ClientDisconnect:
            return Response(status_code=499)

    return refusing


async def page(request: Request) -> Response:
    """The phone's page, which is the same for every code: the page's script asks whether the class exists."""
    to_root = "../" if "code" in request.path_params else ""
    script = escape(to_root + scripts.address("shell/phone.js"))
    styles = escape(to_root + scripts.page_files.put("phone.css", stylesheet(STYLESHEET).encode()))
    return HTMLResponse(PAGE.format(script=script, styles=styles), headers={"Cache-Control": "no-cache"})


# Reading a request


async def read_message(request: Request, limit: int) -> dict:
    data = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                data += piece
                if len(data) > limit:
                    raise Refused(f"That is more than {limit} bytes: nothing was kept.", 413)
    except TimeoutError:
        raise Refused("What was sent did not come to its end: try again.", 408) from None
    try:
        message = json.loads(bytes(data), parse_constant=float)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise Refused("What was sent is no JSON object: nothing was kept.")
    return message


def _known_version(request: Request) -> int:
    text = request.query_params.get("after", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else -1


async def _class_of(request: Request) -> Class:
    every = classes.classes()
    code, asker = request.path_params["code"], visitor(request)
    if not CODE_PATTERN.fullmatch(code):
        raise refusal("letters", 404, count=classes.CODE_LENGTH)
    group = every.find(code)
    if group is not None and asker.person in group.phones:
        return group
    if every.tries_of_keys.too_many(asker.person or asker.address):
        raise refusal("manyCodes", 429)
    if every.tries_of_networks.too_many(household(asker.address)):
        if every.slow_tries >= MOST_SLOW_TRIES:
            raise refusal("manyTries", 503)
        every.slow_tries += 1
        try:
            await asyncio.sleep(TRY_DELAY_SECONDS)
        finally:
            every.slow_tries -= 1
        group = every.find(code)
    if group is None:
        every.tries_of_keys.add(asker.person or asker.address)
        every.tries_of_networks.add(household(asker.address))
        raise refusal("noClass", 404, code=code.upper())
    return group


def _with_key(request: Request) -> Visitor:
    asker = visitor(request)
    if not asker.person:
        raise Refused("This needs the key that your browser keeps: reload the page.", 403)
    return asker


# Phones


@_answering_refusals
async def listen(request: Request) -> Response:
    """Answers with the phone's state as soon as it differs from the version that the phone has."""
    known_version, asker = _known_version(request), _with_key(request)
    group = await _class_of(request)
    phone = group.enter(asker)
    _refuse_too_often(phone)
    if group.version == known_version and not group.ended:
        await _wait(phone.next_news())
    else:
        phone.wake()
    if phone.why_out:
        raise refusal(*phone.why_out)
    guesses = [guesses.get(asker.person) for guesses in group.question.rounds] if group.question else []
    state = b'{"mine": %s, %s' % (json.dumps(guesses).encode(), _shared_state(group)[1:])
    return Response(state, headers=NEWS_HEADERS)


async def _wait(news: asyncio.Future[None]) -> None:
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            await news
    except TimeoutError:
        pass


def _refuse_too_often(phone: Phone) -> None:
    if not phone.requests.take():
        raise refusal("often", 429)


def _shared_state(group: Class) -> bytes:
    """The part of the state that all phones share, as JSON, serialised once after each change."""
    if group.shared_state is None or group.shared_state[0] != group.version:
        shared = {"version": group.version, "ended": group.ended, "scene": group.scene}
        shared["question"] = _question_record(group)
        group.shared_state = (group.version, json.dumps(shared).encode())
    return group.shared_state[1]


def _question_record(group: Class) -> dict | None:
    question = group.question
    if question is None:
        return None
    record = {"number": question.number, "turn": len(question.rounds), "phase": question.phase, "of": question.about}
    record |= question.for_phones
    if question.own_picture:
        record["picture"] = f"api/classes/{group.code}/pictures/{question.own_picture}.jpg"
    if question.phase != ASKS:
        record["counts"] = question.counts()
    if question.phase == TELLS:
        record |= {"truth": question.truth, "after": question.after_words, "heat": question.heat}
        record |= {"grades": question.grades}
    return record


@own_pages_only
@_answering_refusals
async def guess(request: Request) -> Response:
    group, asker = await _class_of(request), _with_key(request)
    phone = group.enter(asker)
    _refuse_too_often(phone)
    message = await read_message(request, PHONE_BYTES)
    guess = group.take_guess(asker.person, message.get("question"), message.get("turn"), message.get("guess"))
    return Response(json.dumps({"guess": guess}), headers=NEWS_HEADERS)


@_answering_refusals
async def picture(request: Request) -> Response:
    """Sends the lecturer's own picture to a phone of the class."""
    group, asker = await _class_of(request), _with_key(request)
    jpeg = group.pictures.get(request.path_params["id"]) if asker.person in group.phones else None
    if jpeg is None:
        raise Refused("There is no such picture in this class.", 404)
    return Response(jpeg, media_type="image/jpeg", headers={"Cache-Control": "no-store"})


# The lecturer


@own_pages_only
@_answering_refusals
async def start(request: Request) -> Response:
    """Starts a class. `root` in the message: the app's address in the lecturer's browser; `planned`: the number of
    questions in the plan, if there is one."""
    message = await read_message(request, PHONE_BYTES)
    root = message.get("root")
    if not isinstance(root, str) or not re.fullmatch(r"https?://[\w.:\[\]-]+/[\w./~-]{0,40}", root, re.ASCII):
        raise Refused("The address of the app is not readable: open it under a shorter one.")
    root, reachable_command = await _phone_address(root, (request.scope.get("server") or ("", 0))[1] or 0)
    group = classes.classes().start(*_with_key(request), request.cookies.get(SEAT_COOKIE, ""))
    group.root, group.reachable_command = root, reachable_command
    group.planned = planned if _is_whole(planned := message.get("planned"), 0, classes.MOST_QUESTIONS) else 0
    return Response(json.dumps({"secret": group.secret, **_lecturer_state(group)}), headers=NEWS_HEADERS)


async def _phone_address(root: str, port: int) -> tuple[str, str]:
    """(the app's address for phones, the command that makes the app reachable for phones; "" if it is reachable)"""
    host = urlsplit(root).hostname or ""
    if host not in ("localhost", "::1") and not host.startswith("127."):
        return root, ""
    own_address = await asyncio.to_thread(_own_address)
    is_reached = bool(own_address) and await asyncio.to_thread(_listens, own_address, port)
    if is_reached:
        host = f"[{own_address}]" if ":" in own_address else own_address
        return f"http://{host}:{port}{urlsplit(root).path}", ""
    return root, REACHABLE_COMMAND


def _own_address() -> str:
    """This machine's address in its network. No packet is sent: the system only chooses the interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return ""
        return probe.getsockname()[0]


def _listens(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=0.5).close()
    except OSError:
        return False
    return True


async def _class_of_lecturer(request: Request) -> Class:
    group = classes.classes().of_secret(request.headers.get(SECRET_HEADER, ""))
    if group is None:
        await _class_of(request)
        raise refusal("otherLecturer", 403)
    group.heard_at = classes.clock()
    return group


@_answering_refusals
async def lecture(request: Request) -> Response:
    """Answers with the lecturer's state as soon as it differs from the state that the page has."""
    known_version = _known_version(request)
    group = await _class_of_lecturer(request)
    if group.lecturer_version == known_version and not group.ended:
        await _wait(group.next_lecturer_news())
    return Response(json.dumps(_lecturer_state(group)), headers=NEWS_HEADERS)


def _lecturer_state(group: Class) -> dict:
    """The lecturer's state. It contains no guesses until the lecturer shows them."""
    question = group.question
    question_record = _question_record(group)
    if question and question_record:
        question_record["answered"] = [len(guesses) for guesses in question.rounds]
    return {
        "count": group.lecturer_version,
        "code": group.code,
        "address": group.address,
        "trouble": group.reachable_command,
        "ended": group.ended,
        "open": group.door_is_open,
        "phones": len(group.phones),
        "networks": len({household(address) for address in group.crowd.holdings.by_address}),
        "largest": len(group.crowd.of_fullest_network()),
        "asked": len(group.questions),
        "planned": group.planned,
        "scene": group.scene,
        "question": question_record,
        "qr": ["".join(map(str, row)) for row in segno.make_qr(group.address).matrix],
        "minutes": max(0, round((classes.LONGEST_LIFE - classes.clock() + group.begun_at) / 60)),
    }


@_answering_refusals
async def counts(request: Request) -> Response:
    language = request.query_params.get("language", "en")
    table = counts_table(await _class_of_lecturer(request), language)
    return Response(table.encode("utf-8-sig"), media_type="text/csv", headers={"Cache-Control": "no-store"})


@own_pages_only
@_answering_refusals
async def act(request: Request) -> Response:
    group = await _class_of_lecturer(request)
    message = await read_message(request, LECTURER_BYTES)
    action = str(message.get("do"))
    actions: dict[str, Callable[[], None]] = {
        "again": group.ask_again,
        "show": group.show,
        "away": group.send_largest_away,
        "code": lambda: classes.classes().renew_code(group),
        "end": lambda: classes.classes().end(group),
    }
    if action in actions:
        actions[action]()
    elif action == "go":
        group.go_to(_checked_scene(message.get("scene")))
    elif action == "ask":
        _ask(group, request, message)
    elif action == "truth":
        group.say_truth(message.get("truth"), message.get("after"), message.get("heat"), message.get("grades"))
    elif action == "door":
        group.set_door(message.get("open") is True)
    else:
        raise Refused(
            "A class can go, ask, ask again, show, tell the truth, close its door, send phones away, take a new code "
            "and end."
        )
    return Response(json.dumps(_lecturer_state(group)), headers=NEWS_HEADERS)


def _checked_scene(scene: object) -> dict:
    if not isinstance(scene, dict) or not re.fullmatch(r"\w{1,40}", str(scene.get("name", "")), re.ASCII):
        raise Refused("A scene has a name of letters, digits and underscores.")
    return scene


def _is_number(value: object, low: float, high: float) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def _is_whole(value: object, low: int, high: int) -> TypeGuard[int]:
    return isinstance(value, int) and _is_number(value, low, high)


def _ask(group: Class, request: Request, message: dict) -> None:
    group.go_to(_checked_scene(message.get("scene")))
    question = message.get("question")
    if not isinstance(question, dict) or not isinstance(guess := question.get("guess"), dict):
        raise Refused("A question says how it is guessed.")
    low: Any = 0.0
    high: Any = 0.0
    values, whole, kind = (), True, guess.get("kind")
    if kind == "Choice":
        options = guess.get("options")
        if not isinstance(options, list) or not 2 <= len(options) <= 12 or not all(map(_is_option, options)):
            raise Refused("A question with options has 2 to 12 of them, each with a key and its words.")
        values = tuple(option[0] for option in options)
    elif kind == "Number":
        low, high, step = guess.get("low"), guess.get("high"), guess.get("step", 1)
        if not (_is_number(low, -LARGEST, LARGEST) and _is_number(high, low, LARGEST) and _is_number(step, 0, LARGEST)):
            raise Refused(f"A number is asked between two numbers, of {LARGEST:g} at most.")
        whole = all(float(number).is_integer() for number in (low, step))
    elif kind == "Place":
        rows, columns = guess.get("rows"), guess.get("columns")
        if not (_is_whole(rows, 1, classes.MOST_SQUARES) and _is_whole(columns, 1, classes.MOST_SQUARES // rows)):
            raise Refused(f"A picture has rows and columns, at most {classes.MOST_SQUARES} squares.")
        high = rows * columns - 1
    else:
        raise Refused("A class guesses a Choice, a Number or a Place.")
    about = str(question.get("of", ""))[:200]
    for_phones = {"asks": question.get("asks"), "guess": {name: guess[name] for name in GUESS_FIELDS if name in guess}}
    picture, own_picture = _question_picture(group, request, question)
    if picture:
        for_phones["picture"] = picture
    name = str(group.scene["name"])
    group.ask(Question(0, name, kind, low, high, values, for_phones, whole, own_picture, about))


def _is_option(option: object) -> bool:
    return isinstance(option, list) and len(option) == 2 and isinstance(option[0], str) and 0 < len(option[0]) <= 40


def _question_picture(group: Class, request: Request, question: dict) -> tuple[str, str]:
    """The picture of a question: a sample's address, or the id of the lecturer's own picture, which is kept for the
    class and shown on phones only with the lecturer's consent."""
    if isinstance(address := question.get("picture"), str) and SAMPLE_ADDRESS.fullmatch(address):
        return address, ""
    if question.get("mine") and question.get("yes") is True:
        person = people.person_of(request)
        photograph = person.pictures.get(str(question["mine"])) if person else None
        if photograph is None:
            raise refusal("photographGone", 404)
        group.pictures = {photograph.id: photograph.jpeg}
        return "", photograph.id
    if question["guess"]["kind"] == "Place":
        raise refusal("sendPhotograph", 409)
    return "", ""


ROUTES = [
    Route("/c", page),
    Route("/c/{code}", page),
    Route("/api/classes", start, methods=["POST"]),
    Route("/api/classes/{code}", listen),
    Route("/api/classes/{code}/guesses", guess, methods=["POST"]),
    Route("/api/classes/{code}/pictures/{id}.jpg", picture),
    Route("/api/classes/{code}/lecturer", lecture, methods=["GET"]),
    Route("/api/classes/{code}/lecturer/counts.csv", counts),
    Route("/api/classes/{code}/lecturer", act, methods=["POST"]),
]
