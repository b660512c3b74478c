"""The page around the microscope does not scroll or flicker, and is readable in dark mode."""

import re

import pytest

# For each element: by how many pixels its content is wider, and higher, than itself
OVERFLOWS = """() => [...document.querySelectorAll("html, body")]
  .map((e) => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight])"""
WATCH_LENS = """() => {
  window.trail = [];
  const place = document.querySelector(".lens");
  const seen = () => {
    let opacity = 1;
    for (let e = place; e; e = e.parentElement) opacity *= Number(getComputedStyle(e).opacity);
    const box = place.getBoundingClientRect();
    window.trail.push([place.isConnected, opacity, Math.round(box.top), Math.round(box.left)].join(" "));
    window.watching = requestAnimationFrame(seen);
  };
  seen();
}"""


def luminance(colour: str) -> float:
    """The relative luminance of a CSS colour as WCAG defines it, from 0 to 1."""
    channels = [float(n) for n in re.findall(r"[\d.]+", colour)[:3]]
    if not colour.startswith("color("):
        channels = [n / 255 for n in channels]
    linear = [n / 12.92 if n <= 0.04045 else ((n + 0.055) / 1.055) ** 2.4 for n in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    brighter, darker = sorted((luminance(a), luminance(b)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_are_readable_in_both_themes(visit, scheme):
    page = visit(color_scheme=scheme).page
    read_colour = "(e, name) => getComputedStyle(e)[name]"
    lens = page.locator(".lens")
    paper_colour = lens.evaluate(read_colour, "backgroundColor")
    assert (luminance(paper_colour) < 0.05) == (scheme == "dark")
    for element in (lens, page.locator(".lens .soft").first, page.locator(".lens .tabs button").nth(1)):
        assert contrast(element.evaluate(read_colour, "color"), paper_colour) > 4.5


def test_another_sample_neither_fades_nor_moves_the_microscope(go):
    visitor = go()
    assert max(max(pair) for pair in visitor.page.evaluate(OVERFLOWS)) <= 0, "the page scrolls"
    visitor.page.evaluate(WATCH_LENS)
    for sample in ("flock", "portrait", "meadow"):
        row_before = visitor.read()["row"]
        visitor.pick(sample)
        visitor.until(f"r => Math.abs(r.row[0] - {row_before[0]}) + Math.abs(r.peak - {max(row_before)}) > 1e-9")
    assert len(visitor.page.evaluate("[...new Set(window.trail)]")) == 1


def test_a_sheet_opened_while_another_choice_loads_is_not_empty(go):
    visitor = go("model=bundled")
    visitor.rest()
    sample = visitor.strip().locator("[data-sample=flock]").element_handle()
    opener = visitor.opener("more").element_handle()
    visitor.page.evaluate("both => both.forEach((button) => button.click())", [sample, opener])
    visitor.page.locator('.toolbar .sheet[data-kind="more"] button.wide').filter(has_text="Model").click()
    visitor.page.get_by_role("searchbox", name="Search all plain Vision Transformers").wait_for()
    visitor.page.locator('.sheet [aria-current="true"]').filter(has_text="our small ViT").wait_for()
    visitor.shows("flock")
    visitor.page.wait_for_url("**sample=flock**")
