// Tests that toolbar and microscope appear before Streamlit, and then move into the elements that Streamlit makes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { endEarly, mountEarly, moveToStreamlit, storeMessage } from "../../../playground/microscope/shell/early.js";
import "./page.mjs";

const box = () => document.querySelector(".attention-early");

// An element with a root for this part, as Streamlit mounts it.
function streamlitsPlace(part) {
  const parentElement = document.createElement("div");
  parentElement.innerHTML = `<style data-ours></style><div class="${part}" data-${part}></div>`;
  document.body.append(parentElement);
  const calls = [];
  return { parentElement, calls, setTriggerValue: (...args) => calls.push(args) };
}

test("early parts move as they are and send their stored calls, and the box goes with the last part", () => {
  document.body.replaceChildren();
  const places = mountEarly("p {}");
  assert.deepEqual(Object.keys(places), ["toolbar", "stage"]);
  assert.equal(places.stage.getAttribute("role"), "main", "a page without Streamlit has a main part");
  const root = places.stage.querySelector("[data-stage]");
  root.append(document.createElement("canvas"));
  const state = (places.stage.__stage = { root });
  places.toolbar.append(document.createElement("aside")); // the line that announces a download
  storeMessage("go", { page: "heads" });

  const toolbar = streamlitsPlace("toolbar");
  moveToStreamlit("toolbar", toolbar);
  assert.deepEqual(toolbar.calls, [["go", { page: "heads" }]]);
  assert.ok(toolbar.parentElement.querySelector("[data-toolbar] + aside"));
  assert.ok(toolbar.parentElement.querySelector("style[data-ours]"), "its styles stay");
  assert.ok(box(), "the microscope still stands in it");

  const stage = streamlitsPlace("stage");
  moveToStreamlit("stage", stage);
  assert.equal(stage.parentElement.__stage, state);
  assert.equal(stage.parentElement.querySelector("[data-stage]"), root);
  assert.ok(root.querySelector("canvas"));
  assert.deepEqual(stage.calls, [], "a wish is said once");
  assert.equal(box(), null);

  moveToStreamlit("stage", streamlitsPlace("stage")); // a second visit to the page
  storeMessage("go", { page: "scale" });
});

test("nothing stands early where Streamlit was faster", () => {
  document.body.innerHTML = '<div class="st-key-toolbar"></div>';
  assert.equal(mountEarly("p {}"), null);
  assert.equal(box(), null);
});

test("a microscope for which the page has no place ends, and covers nothing", () => {
  document.body.replaceChildren();
  const places = mountEarly("p {}");
  let endCount = 0;
  places.stage.__stage = { end: () => endCount++ };
  moveToStreamlit("toolbar", streamlitsPlace("toolbar"));
  assert.ok(box());
  endEarly();
  endEarly();
  assert.equal(endCount, 1);
  assert.equal(box(), null);
});
