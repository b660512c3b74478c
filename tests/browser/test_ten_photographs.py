"""Ten photographs are dropped on a slow server, some before the former one is done. Whatever the order of the answers,
nothing that is said of one photograph stands beside another one."""

import colorsys
import json
from contextlib import suppress

import numpy as np
from playwright.sync_api import Error
from waiting import until

from browser.own_picture import as_jpeg, hand_over
from browser.seeing import SeeVisitor
from playground.serving.pictures import digest

COUNT = 10
COLOURS = [colorsys.hsv_to_rgb(n / COUNT, 0.9, 0.7) for n in range(COUNT)]

# After each painted frame in which something changed, window.seen gets {shown, says, saysOf, row, chips}. `shown` is
# the number of the photograph that is seen, known by its colour; `saysOf`, `row` and `chips` are the photographs to
# which sentence, row and moments belong; null and [] where there are none in sight. `colours`: RGB of each photograph;
# `ids`: the names of their traces. Read when all callbacks of a frame are over, so that nothing half done is recorded.
RECORD = """({ colours, ids, noClaim }) => {
  const root = window.lensRoot;
  const find = (name) => root.querySelector(name);
  const inSight = (element) => element?.checkVisibility({ visibilityProperty: true }) ?? false;
  const seen = (window.seen = []);
  const ownerOfChip = new WeakMap();
  let says = "";
  let saysOf = null;
  const photographIn = (canvas) => {
    const [r, g, b] = canvas.getContext("2d").getImageData(3, 3, 1, 1).data;
    return colours.findIndex((colour) => Math.hypot(r - colour[0], g - colour[1], b - colour[2]) < 30);
  };
  const record = () => {
    const isComing = root.classList.contains("expects");
    const shown = photographIn(find(isComing ? ".expected" : ".plain"));
    const owner = ids.indexOf(theLens().read().picture);
    const text = find(".see-says").textContent;
    if (text !== says) [says, saysOf] = [text, new RegExp(noClaim).test(text) ? null : owner];
    const chips = [...find(".see-moments").children].filter(inSight);
    for (const chip of chips) if (!ownerOfChip.has(chip)) ownerOfChip.set(chip, owner);
    const hasRow = !isComing && !root.classList.contains("untouched") && !root.classList.contains("waits");
    const now = { shown, says, saysOf, row: hasRow ? owner : null, chips: chips.map((chip) => ownerOfChip.get(chip)) };
    if (JSON.stringify(now) !== JSON.stringify(seen.at(-1))) seen.push(now);
  };
  let callbacks = [];
  const native = window.requestAnimationFrame.bind(window);
  const frame = (time) => {
    const due = callbacks;
    callbacks = [];
    for (const callback of due) callback(time);
    record();
  };
  window.requestAnimationFrame = (callback) => {
    if (!callbacks.length) native(frame);
    return callbacks.push(callback);
  };
  const options = { attributes: true, characterData: true, childList: true, subtree: true };
  new MutationObserver(() => callbacks.length || requestAnimationFrame(() => {})).observe(root, options);
}"""
NO_CLAIM = "^(Reading…|(Point at|Touch) any place.*)?$"
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def photograph(colour: tuple[float, float, float], shift: float) -> bytes:
    y, x = np.meshgrid(np.linspace(-0.75, 0.75, 240), np.linspace(-1, 1, 320), indexing="ij")
    distances = (abs(x) - 0.45 - shift) ** 2 + (y - shift) ** 2
    pixels = np.broadcast_to(colour, (240, 320, 3)).copy()
    pixels[distances < 0.06] = 1
    pixels[distances < 0.015] = 0.1
    return as_jpeg(pixels)


class SlowServer:
    """Holds each request of the page until let_go(), and the page paints before the next answer comes."""

    def __init__(self, visitor: SeeVisitor):
        self.page = visitor.page
        self.held: list = []
        self.page.route("**/api/**", lambda route: self.held.append(route))

    def let_go(self, newest_first: bool) -> None:
        self.page.evaluate(TWO_FRAMES)
        if self.held:
            with suppress(Error):  # the page no longer waits for this answer
                self.held.pop(-1 if newest_first else 0).continue_()
        self.page.evaluate(TWO_FRAMES)


def test_nothing_that_is_said_of_a_photograph_ever_stands_beside_another_one(arrive, server):
    person = arrive(SeeVisitor, server.url).open()
    person.page.locator(".see-moments button").nth(1).wait_for()
    dropped = [photograph(colour, 0.01 * n) for n, colour in enumerate(COLOURS)]
    colours = [[round(255 * share) for share in colour] for colour in COLOURS]
    ids = [digest(data) for data in dropped]
    person.page.evaluate(RECORD, {"colours": colours, "ids": ids, "noClaim": NO_CLAIM})
    slow_server = SlowServer(person)

    def is_done(number: int) -> bool:
        slow_server.let_go(newest_first=number % 3 == 2)  # answers about the former one come late
        last = person.page.evaluate("seen.at(-1)") or {}
        return last.get("row") == number and len(last["chips"]) > 1

    for number, data in enumerate(dropped):
        hand_over(person, "drop", data, title=f"{number}.jpg")
        until(lambda number=number: person.page.evaluate("seen.at(-1)?.shown") == number, f"{number}.jpg is seen")
        if number % 3 == 1:  # the next one is dropped before this one is done
            for _ in range(number // 3):
                slow_server.let_go(newest_first=False)
        else:
            until(lambda number=number: is_done(number), f"{number}.jpg is done, with its row and its moments")

    records = person.page.evaluate("seen")
    strays = [
        record
        for record in records
        if not {record["saysOf"], record["row"], *record["chips"]} <= {None, record["shown"]}
    ]
    assert not strays, json.dumps(strays, indent=1)
    done = {record["shown"] for record in records if len(record["chips"]) > 1 and record["saysOf"] is not None}
    assert done >= {number for number in range(COUNT) if number % 3 != 1}, done
