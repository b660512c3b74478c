"""A class over HTTP: a light page for phones, requests that wait for news, and what the lecturer's page tells.

Nothing here takes a thread. A phone waits in one request, which is answered when something has changed, or after
WAIT_SECONDS with what is known; then it asks again.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import socket
from collections.abc import Awaitable, Callable
from functools import wraps
from html import escape
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from playground.figures.bundle import stylesheet
from playground.serving import classes, people, qr, scripts
from playground.serving.answering import Refused, changes, said, who
from playground.serving.classes import ASKS, KINDS, TELLS, Class, Question, refusal

WAIT_SECONDS = 20.0
BODY_SECONDS = 10.0
SMALL, LARGE = 1024, 8192  # bytes of a phone's body, of the lecturer's
SLOW_SECONDS, MOST_SLOW = 2.0, 200  # of tries from a network that has made many
LECTURER = "x-playground-lecturer"  # the header with the secret
SEAT = "playground_seat"  # the cookie of deploy/nginx.conf
CODE = re.compile(rf"[A-Za-z]{{{classes.CODE_LENGTH}}}")
SAMPLE = re.compile(r"api/samples/[\w.-]{1,60}/[0-9a-f]{1,64}\.jpg")
NEWS = {"Cache-Control": "no-store", "Content-Type": "application/json"}
STYLES = "classroom/classroom.css"
OPENS = "python -m playground --host 0.0.0.0"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex"><title>Attention Playground</title><link rel="icon" href="data:,">
<style>{styles}</style>
<script type="module" src="{script}"></script>
</head><body><main class="phone" data-phone><noscript>This page needs JavaScript.</noscript></main></body></html>
"""
_slow = 0  # tries that take their time at the moment


def _refuses(endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    @wraps(endpoint)
    async def refusing(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Refused as refused:
            return said(str(refused), refused.status, **refused.more)
        except ClientDisconnect:
            return Response(status_code=499)

    return refusing


async def page(request: Request) -> Response:
    """The same for every code: the script asks whether there is such a class."""
    back = "../" if "code" in request.path_params else ""
    script, styles = escape(back + scripts.address("shell/phone.js")), stylesheet(STYLES)
    return HTMLResponse(PAGE.format(script=script, styles=styles), headers={"Cache-Control": "no-cache"})


# What a request brings


async def body(request: Request, most: int) -> dict:
    data = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                data += piece
                if len(data) > most:
                    raise refusal("large", 413, most=most)
    except TimeoutError:
        raise refusal("slow", 408) from None
    try:
        told = json.loads(bytes(data), parse_constant=float)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise Refused("What was sent is no JSON object: nothing was kept.")
    return told


def _after(request: Request) -> int:
    text = request.query_params.get("after", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else -1


async def _class_of(request: Request) -> Class:
    global _slow
    code, asker = request.path_params["code"], who(request)
    if not CODE.fullmatch(code):
        raise refusal("letters", 404, count=classes.CODE_LENGTH)
    one = classes.named(code)
    if one is not None and (asker.person in one.phones or _has_secret(request, one)):
        return one
    if classes.of_keys.too_many(asker.person or asker.address):
        raise refusal("manyCodes", 429)
    if classes.of_networks.too_many(asker.address):
        if _slow >= MOST_SLOW:
            raise refusal("manyTries", 503)
        _slow += 1
        try:
            await asyncio.sleep(SLOW_SECONDS)
        finally:
            _slow -= 1
        one = classes.named(code)
    if one is None:
        classes.of_keys.add(asker.person or asker.address)
        classes.of_networks.add(asker.address)
        raise refusal("noClass", 404, code=code.upper())
    return one


def _key(request: Request) -> str:
    key = people.key_of(request)
    if key is None:
        raise refusal("key", 403)
    return key


# Phones


@_refuses
async def listen(request: Request) -> Response:
    """What a phone shows, as soon as it is not what it has."""
    after, key = _after(request), _key(request)
    one = await _class_of(request)
    phone = one.enter(key)
    _not_too_often(phone)
    if one.version == after and not one.ended:
        await _wait(phone.waits())
    else:
        phone.wake()
    return Response(b'{"mine": %s, %s' % (_mine(one, key), _shared(one)[1:]), headers=NEWS)


async def _wait(news: asyncio.Future[None]) -> None:
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            await news
    except TimeoutError:
        pass


def _not_too_often(phone: classes.Phone) -> None:
    if not phone.may_ask():
        raise refusal("often", 429)


def _mine(one: Class, key: str) -> bytes:
    question = one.question
    return json.dumps([guesses.get(key) for guesses in question.rounds] if question else []).encode()


def _shared(one: Class) -> bytes:
    """The same for all phones, and made once for each change."""
    if one.kept is None or one.kept[0] != one.version:
        told = {"version": one.version, "ended": one.ended, "scene": one.scene, "question": _question(one.question)}
        one.kept = (one.version, json.dumps(told).encode())
    return one.kept[1]


def _question(question: Question | None) -> dict | None:
    if question is None:
        return None
    told = {
        **{"number": question.number, "turn": len(question.rounds), "kind": question.kind, "phase": question.phase},
        **{"low": question.low, "high": question.high, "of": question.of, **question.told},
    }
    if question.phase != ASKS:
        told["counts"] = question.counts()
    if question.phase == TELLS:
        told |= {"truth": question.truth, "after": question.after, "heat": question.heat}
    return told


@changes
@_refuses
async def guess(request: Request) -> Response:
    one, key = await _class_of(request), _key(request)
    phone = one.enter(key)
    _not_too_often(phone)
    told = await body(request, SMALL)
    kept = one.take(key, told.get("question"), told.get("turn"), told.get("guess"))
    return Response(json.dumps({"guess": kept}), headers=NEWS)


@_refuses
async def picture(request: Request) -> Response:
    """The lecturer's own, for phones that are in their class."""
    one, key = await _class_of(request), _key(request)
    jpeg = one.pictures.get(request.path_params["id"]) if key in one.phones else None
    if jpeg is None:
        raise refusal("noPicture", 404)
    return Response(jpeg, media_type="image/jpeg", headers={"Cache-Control": "no-store"})


# The lecturer


@changes
@_refuses
async def start(request: Request) -> Response:
    """`root`: where the lecturer's browser has the app."""
    told = await body(request, SMALL)
    root = told.get("root")
    if not isinstance(root, str) or not re.fullmatch(r"https?://[\w.:\[\]-]+/[\w./~-]{0,40}", root, re.ASCII):
        raise refusal("address")
    root, trouble = await _reached(root, (request.scope.get("server") or ("", 0))[1] or 0)
    one = classes.start(_key(request), who(request).address, request.cookies.get(SEAT, ""))
    one.address, one.trouble = f"{root}c/{one.code}", trouble
    return Response(json.dumps({"secret": one.secret, **_lecture(one)}), headers=NEWS)


async def _reached(root: str, port: int) -> tuple[str, str]:
    """(the address of the app for phones, the command that opens it to them, where they can't reach it)"""
    if not _is_loopback(urlsplit(root).hostname or ""):
        return root, ""
    here = await asyncio.to_thread(_own_address)
    if here and await asyncio.to_thread(_listens, here, port):
        shown = f"[{here}]" if ":" in here else here
        return f"http://{shown}:{port}{urlsplit(root).path}", ""
    return root, OPENS


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _own_address() -> str:
    """In the network that this machine is in. Nothing is sent: the system only says which way it would take."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(("192.0.2.1", 9))
        except OSError:
            return ""
        return way.getsockname()[0]


def _listens(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=0.5).close()
    except OSError:
        return False
    return True


def _has_secret(request: Request, one: Class) -> bool:
    return secrets.compare_digest(request.headers.get(LECTURER, "").encode(), one.secret.encode())


async def _lecturer_s(request: Request) -> Class:
    one = await _class_of(request)
    if not _has_secret(request, one):
        raise refusal("otherLecturer", 403)
    one.heard = classes.clock()
    return one


@_refuses
async def lecture(request: Request) -> Response:
    """How many have answered, as soon as it is not what the lecturer's page has."""
    after = _after(request)
    one = await _lecturer_s(request)
    if one.count == after and not one.ended:
        await _wait(one.screen_waits())
    return Response(json.dumps(_lecture(one)), headers=NEWS)


def _lecture(one: Class) -> dict:
    """Nothing that was guessed, before it is shown."""
    question = one.question
    told = _question(question)
    if question and told:
        told |= {"answered": [len(guesses) for guesses in question.rounds], "hands": question.hands}
    return {
        **{"count": one.count, "code": one.code, "address": one.address, "trouble": one.trouble, "ended": one.ended},
        **{"open": one.open, "phones": len(one.phones), "asked": one.asked, "scene": one.scene, "question": told},
        "qr": qr.rows(one.address),
        "minutes": max(0, round((classes.LONGEST_LIFE - classes.clock() + one.begun) / 60)),
    }


@changes
@_refuses
async def act(request: Request) -> Response:
    one = await _lecturer_s(request)
    told = await body(request, LARGE)
    action = told.get("do")
    if action == "go":
        one.go(_scene(told.get("scene")))
    elif action == "ask":
        _ask(one, request, told)
    elif action == "again":
        one.again()
    elif action == "show":
        one.show()
    elif action == "truth":
        one.say_truth(told.get("truth"), told.get("after"), told.get("heat"))
    elif action == "hands" and isinstance(told.get("hands"), dict):
        one.count_hands(told["hands"])
    elif action == "door":
        one.set_door(told.get("open") is True)
    elif action == "end":
        classes.end(one)
    else:
        raise Refused("A class can go, ask, ask again, show, tell the truth, count hands, close its door and end.")
    return Response(json.dumps(_lecture(one)), headers=NEWS)


def _scene(told: object) -> dict:
    if not isinstance(told, dict) or not _is_number(told.get("n"), 0, 99):
        raise Refused("A scene has a number from 0 to 99.")
    return told


def _is_number(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _ask(one: Class, request: Request, told: dict) -> None:
    one.go(_scene(told.get("scene")))
    asked = told.get("question")
    if not isinstance(asked, dict) or asked.get("kind") not in KINDS:
        raise Refused(f"A question's kind is {', '.join(KINDS)}.")
    low, high, values = 0, 0, ()
    if asked["kind"] == "choice":
        options = asked.get("options")
        if not isinstance(options, list) or not 2 <= len(options) <= 12 or not all(map(_is_option, options)):
            raise Refused("A choice has 2 to 12 options, each a value and its words.")
        values = tuple(option[0] for option in options)
    elif asked["kind"] == "number":
        low, high = asked.get("low"), asked.get("high")
        if not (_is_number(low, -10_000, 10_000) and _is_number(high, low, low + 10_000)):
            raise Refused("A number is asked between two whole numbers, at most 10,000 apart.")
    else:
        rows, columns = asked.get("rows"), asked.get("columns")
        if not (_is_number(rows, 1, classes.MOST_SQUARES) and _is_number(columns, 1, classes.MOST_SQUARES // rows)):
            raise Refused(f"A picture has rows and columns, at most {classes.MOST_SQUARES} squares.")
        high = rows * columns - 1
    of = str(asked.get("of", ""))[:200]
    shown = {
        name: asked[name] for name in ("asks", "unit", "options", "rows", "columns", "mark", "aspect") if name in asked
    }
    shown |= _picture(one, request, asked)
    one.ask(Question(0, int(str(one.scene["n"])), asked["kind"], low, high, values, shown, of))


def _is_option(option: object) -> bool:
    return isinstance(option, list) and len(option) == 2 and isinstance(option[0], str) and 0 < len(option[0]) <= 40


def _picture(one: Class, request: Request, asked: dict) -> dict:
    """A sample by its address. The lecturer's own goes to phones only where they have said yes, and stays with the
    class."""
    if isinstance(address := asked.get("picture"), str) and SAMPLE.fullmatch(address):
        return {"picture": address}
    if asked.get("mine") and asked.get("yes") is True:
        person = people.of(request)
        mine = person.pictures.get(str(asked["mine"])) if person else None
        if mine is None:
            raise refusal("photographGone", 404)
        one.pictures = {mine.id: mine.jpeg}
        return {"picture": f"api/classes/{one.code}/pictures/{mine.id}.jpg", "own": True}
    if asked["kind"] == "place":
        raise refusal("sendPhotograph", 409)
    return {}


ROUTES = [
    Route("/c", page),
    Route("/c/{code}", page),
    Route("/api/classes", start, methods=["POST"]),
    Route("/api/classes/{code}", listen),
    Route("/api/classes/{code}/guesses", guess, methods=["POST"]),
    Route("/api/classes/{code}/pictures/{id}.jpg", picture),
    Route("/api/classes/{code}/lecturer", lecture, methods=["GET"]),
    Route("/api/classes/{code}/lecturer", act, methods=["POST"]),
]
