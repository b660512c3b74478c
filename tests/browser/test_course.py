"""What a lecturer takes along: the folder as a package for a learning platform."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from xml.etree import ElementTree

import pytest
import waiting

from browser.on_the_site import SiteVisitor
from browser.visitor import finish_exercise
from browser.without_server import plain_server
from playground.lessons.registry import EXERCISES
from playground.ui import site
from playground.ui.site import course


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("course") / "folder"
    return site.write(out, "/", ["bundled"], named_samples=(), lessons=("by_hand",))


@pytest.fixture(scope="module")
def stick(folder, tmp_path_factory):
    copy = tmp_path_factory.mktemp("stick") / "copy of it"
    shutil.copytree(folder, copy)
    course.stick(copy)
    return copy


def test_a_stick_opens_by_a_double_click_without_a_network(arrive, stick):
    visitor = arrive(SiteVisitor, "")
    visitor.context.set_offline(True)
    page, requests = visitor.page, list[str]()
    page.on("request", lambda request: requests.append(request.url))
    page.goto((stick / "START.html").as_uri())
    page.get_by_role("link", name="A photograph").click()
    page.locator("canvas").first.wait_for()
    page.go_back()
    page.get_by_role("link", name="The story").click()
    story = page.frame_locator("iframe")
    story.get_by_text("The story · 1 of 14").wait_for()
    page.keyboard.press("ArrowRight")
    story.get_by_text("The story · 2 of 14").wait_for()
    page.set_viewport_size({"width": 390, "height": 844})  # on a phone the picture covers no words
    words, picture = story.locator(".story-count"), story.locator(".stage")
    waiting.until(lambda: words.bounding_box()["y"] >= sum(map(picture.bounding_box().get, ("y", "height"))), "covered")
    assert [url for url in requests if not url.startswith(("file:", "data:", "about:", "blob:"))] == []


def test_a_stick_s_server_shows_all_of_it_to_this_machine_alone(arrive, stick):
    environment = os.environ | {"BROWSER": "true"}
    command = [sys.executable, "-S", "start.py"]  # without any package
    with subprocess.Popen(command, cwd=stick, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())[0]
            visitor = arrive(SiteVisitor, address)
            visitor.page.goto(f"{address}/#page=by_hand")
            visitor.page.locator("#lesson .lesson-drawing").first.wait_for()
            assert visitor.hosts == {"127.0.0.1"}
        finally:
            server.terminate()


# A small learning platform: SCORM 1.2's API in the window around the course. It keeps what it is told, and notes what
# the standard forbids.
PLATFORM = """<!doctype html><title>A platform</title><script>
const kept = JSON.parse(sessionStorage.kept ?? "{}"), wrong = [];
let open = false, commits = 0;
const rules = [
  [/^cmi\\.suspend_data$/, (text) => text.length <= 4096],
  [/^cmi\\.core\\.lesson_status$/, (text) => ["completed", "incomplete"].includes(text)],
  [/^cmi\\.core\\.exit$/, (text) => text === "suspend"],
  [/^cmi\\.(core|objectives\\.\\d+)\\.score\\.(raw|min|max)$/, (text) => text >= 0 && text <= 100],
  [/^cmi\\.objectives\\.\\d+\\.id$/, (text, name) => {
    const n = Number(name.split(".")[2]);
    return /^\\w{1,255}$/.test(text) && (n === 0 || `cmi.objectives.${n - 1}.id` in kept);
  }],
  [/^cmi\\.objectives\\.\\d+\\.status$/, (text) => ["completed", "not attempted"].includes(text)],
];
window.API = {
  LMSInitialize: () => String((open = true)),
  LMSGetValue: (name) => (open || wrong.push(name), kept[name] ?? ""),
  LMSSetValue(name, text) {
    const rule = rules.find(([pattern]) => pattern.test(name));
    if (!open || typeof text !== "string" || !rule?.[1](text, name)) return wrong.push([name, text]) && "false";
    kept[name] = text;
    return "true";
  },
  LMSCommit() { sessionStorage.kept = JSON.stringify(kept); return String(Boolean(commits++)); },
  LMSFinish: () => String(!(open = false)),
};
</script><iframe src="course/index.html#page=by_hand" style="width: 1200px; height: 700px"></iframe>"""


def test_a_learning_platform_hears_which_exercises_are_done_and_takes_up_where_one_left(arrive, folder, tmp_path):
    package = course.scorm(folder)
    with zipfile.ZipFile(package) as pack:
        pack.extractall(tmp_path / "course")
    manifest = ElementTree.parse(tmp_path / "course" / "imsmanifest.xml").getroot()
    names = [file.get("href") for file in manifest.iter("{http://www.imsproject.org/xsd/imscp_rootv1p1p2}file")]
    assert sorted(names) == sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    (tmp_path / "platform.html").write_text(PLATFORM, encoding="utf-8")

    def reported(kept: dict) -> dict[str, str]:
        ids = {name.split(".")[2]: id for name, id in kept.items() if re.fullmatch(r"cmi\.objectives\.\d+\.id", name)}
        return {id: kept[f"cmi.objectives.{n}.status"] for n, id in ids.items()}

    with plain_server(tmp_path) as url:
        visitor = arrive(SiteVisitor, url, service_workers="block")
        page, kept = visitor.page, "JSON.parse(sessionStorage.kept)"
        page.goto(f"{url}/platform.html")
        frame = page.frames[1]
        frame.get_by_role("button", name="show it without a guess").click()
        frame.get_by_role("button", name="Queries = 0").click()
        finish_exercise(frame, "by_hand_even")
        statuses = reported(page.evaluate(kept))
        assert list(statuses) == [*EXERCISES, "ten_questions_before", "ten_questions_after"]
        assert [id for id, status in statuses.items() if status == "completed"] == ["by_hand_even"]
        frame.goto(f"{url}/course/index.html?again#story=b1")
        frame.get_by_role("button", name="588 numbers; as many as the model is wide").click()
        waiting.until(lambda: '"b1":"a"' in page.evaluate(kept)["cmi.suspend_data"], "the answer is not noted")
        assert page.evaluate(kept)["cmi.core.score.raw"] == str(round(100 / len(EXERCISES)))
        assert page.evaluate(kept)["cmi.core.lesson_status"] == "incomplete"
        # another person has worked in this browser meanwhile
        page.goto(f"{url}/course/about.html")
        page.evaluate("localStorage['attention-playground:exercises'] = JSON.stringify({ scale_one_key: true })")
        page.goto(f"{url}/platform.html")
        page.frames[1].locator("#lesson .guess .lock").wait_for()
        statuses = reported(page.evaluate(kept))
        assert [id for id, status in statuses.items() if status == "completed"] == ["by_hand_even"]
        answers = {f"{when}{n}": "unsure" for when in "ba" for n in range(1, 11)}
        everything = f"({json.dumps([*EXERCISES])}).map((id) => [id, true])"
        page.frames[1].evaluate(
            f"localStorage['attention-playground:exercises'] = JSON.stringify(Object.fromEntries({everything}));"
            f"localStorage['attention-playground-answers'] = JSON.stringify({json.dumps(answers)});"
            "dispatchEvent(new CustomEvent('guess-locked'))"
        )
        assert set(reported(page.evaluate(kept)).values()) == {"completed"}
        assert page.evaluate(kept)["cmi.core.lesson_status"] == "completed"
        assert page.evaluate("wrong") == []
