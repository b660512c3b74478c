"""Measures a visit by a phone on 4G with a slow processor: python benchmarks/phone.py ADDRESS …

A real Chromium, 390 × 844, 9 megabits a second, 170 ms there and back, processor four times slower. For each address:
when picture, story or lesson is drawn, the bytes until then, how far things moved, and how long scripts blocked.
"""

import sys
import time

import harness

PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
LINE = {"offline": False, "latency": 170, "downloadThroughput": 9e6 / 8, "uploadThroughput": 9e6 / 8}
SLOWER, PATIENCE = 4, 60  # times; seconds
WATCH = """(() => {
  Object.assign(window, { shift: 0, blocked: 0, drawn: 0 });
  const each = (type, act) =>
    new PerformanceObserver((list) => list.getEntries().forEach(act)).observe({ type, buffered: true });
  each("layout-shift", (e) => { window.shift += e.hadRecentInput ? 0 : e.value; });
  each("longtask", (e) => { window.blocked += window.drawn ? 0 : e.duration - 50; });
  const all = (root) => [...root.querySelectorAll("*")].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
  const isDrawn = () => {
    const lesson = document.querySelector("#lesson");
    if (lesson && !lesson.hidden)
      return all(lesson).some((e) => ["svg", "canvas"].includes(e.localName) && e.clientWidth > 100);
    const name = /story/.test(location.href) ? ".story" : ".see-says";
    return (document.querySelector(name)?.innerText.length ?? 0) > (name === ".story" ? 100 : 20);
  };
  const look = () => {
    if (!window.drawn && isDrawn()) window.drawn = performance.now();
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()"""


def visit(browser, address: str) -> str:
    context = browser.new_context(**PHONE)
    page = context.new_page()
    line = context.new_cdp_session(page)
    received: list[int] = []
    line.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", LINE)
    line.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.add_init_script(WATCH)
    page.goto(address, wait_until="commit")
    end = time.monotonic() + PATIENCE
    while not (drawn := page.evaluate("window.drawn ?? 0")) and time.monotonic() < end:
        time.sleep(0.05)
    size = sum(received)
    time.sleep(3)  # what comes after the first picture may move it
    shift, blocked = page.evaluate("[window.shift, window.blocked]")
    context.close()
    return (
        f"{drawn / 1000:6.2f} s {size / 1e6:6.2f} MB   shift {shift:.3f}   blocked {blocked / 1000:.2f} s   {address}"
    )


def main() -> None:
    if not sys.argv[1:] or sys.argv[1].startswith("-"):
        return print(__doc__)
    with harness.chromium() as browser:
        for address in sys.argv[1:]:
            print(visit(browser, address), flush=True)


if __name__ == "__main__":
    main()
