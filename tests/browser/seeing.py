"""A visitor of See, and scripts that detect whether anything on the page jumps."""

from browser.visitor import Visitor

RECORD_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    if (!entry.hadRecentInput) window.shifts.push([entry.value, entry.startTime, ...entry.sources.map(
      ({ node, previousRect: was, currentRect: is }) =>
        [node?.className ?? node?.nodeName, was.toJSON(), is.toJSON()])]);
}).observe({ type: "layout-shift", buffered: true });
"""
STANDS_STILL = """async (element) => {
  for (let still = 0, was = ""; still < 5; ) {
    await new Promise(requestAnimationFrame);
    const now = element.checkVisibility({ opacityProperty: true }) + JSON.stringify(element.getBoundingClientRect());
    still = now === was ? still + 1 : 0;
    was = now;
  }
}"""


class SeeVisitor(Visitor):
    remembers_lab = False

    def box(self, part: str) -> dict:
        return self.part(part).bounding_box()

    def sentence(self) -> str:
        return self.page.locator(".see-says").inner_text()

    def until_says(self, pattern: str) -> str:
        script = """(pattern) => {
          const text = document.querySelector(".see-says")?.innerText ?? "";
          return new RegExp(pattern).test(text) ? text : null;
        }"""
        return self.page.wait_for_function(script, arg=pattern).json_value()

    def point(self, x_share: float, y_share: float) -> None:
        box = self.box("picture")
        self.page.mouse.move(box["x"] + x_share * box["width"] - 3, box["y"] + y_share * box["height"])
        self.page.mouse.move(box["x"] + x_share * box["width"], box["y"] + y_share * box["height"])

    def opacity(self) -> float:
        return float(self.part("picture").evaluate("(canvas) => getComputedStyle(canvas).opacity"))
