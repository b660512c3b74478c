"""Compares what a move of the pointer costs in two builds: python benchmarks/hover.py BEFORE NOW

BEFORE and NOW are addresses of two running servers, such as http://127.0.0.1:8651/ and http://127.0.0.1:8650/. Each
page is open in a Chromium of its own (in one, the page that is opened second is slower, whichever it is), and the
pointer wanders over one after the other, over the same patches. The processor time of the page's main thread counts, so
that other programs disturb little; for each build the lowest of all rounds.
"""

import argparse
import os
import statistics

import harness
from browser.seeing import SeeVisitor
from browser.visitor import Visitor
from playwright.sync_api import Browser, CDPSession

PARTS = {"all": "TaskDuration", "scripts": "ScriptDuration", "layout": "LayoutDuration", "style": "RecalcStyleDuration"}


def open_see(chromium: Browser, address: str, options: argparse.Namespace) -> tuple[Visitor, CDPSession]:
    visitor = (Visitor if options.lab else SeeVisitor)(chromium, address)
    visitor.page.goto(f"{address}?sample={options.sample}&model={options.model}")
    visitor.until()
    visitor.page.wait_for_load_state("networkidle")
    session = visitor.context.new_cdp_session(visitor.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return visitor, session


def wander(visitor: Visitor, session: CDPSession, moves: int) -> dict[str, float]:
    """Milliseconds of the main thread per move of the pointer, from patch to patch."""
    rows, columns = visitor.read()["grid"]
    box = visitor.part("picture").bounding_box()
    visitor.page.bring_to_front()
    for step in (3, 0):  # one report may be of a resting mouse
        visitor.page.mouse.move(box["x"] + box["width"] / 2 - step, box["y"] + box["height"] / 2)
    visitor.page.evaluate("new Promise((done) => setTimeout(done, 300))")  # an animation of the former move ends
    before = metrics(session)
    for i in range(1, moves + 1):
        row, column = divmod((i * 37) % (rows * columns), columns)
        x = box["x"] + (column + 0.5) * box["width"] / columns
        y = box["y"] + (row + 0.5) * box["height"] / rows
        visitor.page.mouse.move(x, y)
        visitor.page.evaluate("new Promise(requestAnimationFrame)")
    after = metrics(session)
    return {part: 1000 * (after[name] - before[name]) / moves for part, name in PARTS.items()}


def metrics(session: CDPSession) -> dict[str, float]:
    return {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before")
    parser.add_argument("now")
    parser.add_argument("--sample", default="chelsea")
    parser.add_argument("--model", default="dinov2-small")
    parser.add_argument("--lab", action="store_true", help="Lab instead of See")
    parser.add_argument("--moves", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    with harness.chromiums(2) as browsers:
        addresses = (options.before, options.now)
        pages = [open_see(chromium, address, options) for chromium, address in zip(browsers, addresses, strict=True)]
        rounds: list[list[dict[str, float]]] = [[], []]
        for turn in range(options.rounds + 1):
            for build in (0, 1) if turn % 2 else (1, 0):
                rounds[build].append(wander(*pages[build], options.moves))
        print(f"load {os.getloadavg()[0]:.1f}; ms of the main thread per move, lowest and median of {options.rounds}")
        for part in PARTS:
            # The first round fills caches.
            before, now = ([measured[part] for measured in build[1:]] for build in rounds)
            print(
                f"{part:8} before {min(before):6.3f} {statistics.median(before):6.3f}   now {min(now):6.3f} "
                f"{statistics.median(now):6.3f}   {min(now) / min(before) - 1:+.1%} "
                f"{statistics.median(now) / statistics.median(before) - 1:+.1%}"
            )


if __name__ == "__main__":
    main()
