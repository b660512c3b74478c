import assert from "node:assert/strict";
import { test } from "node:test";

import { Window } from "happy-dom";

import { drawChart } from "../../../playground/microscope/lessons/chart.js";

const page = new Window();
globalThis.document = /** @type {any} */ (page.document);
for (const [name, value] of Object.entries({ clientWidth: 400, clientHeight: 200 }))
  Object.defineProperty(page.SVGElement.prototype, name, { get: () => value });

function drawn(trace, layout = {}) {
  const place = page.document.createElement("div");
  drawChart(place, { data: [trace], layout });
  const numbersOf = (selector, name) => [...place.querySelectorAll(selector)].map((e) => Number(e.getAttribute(name)));
  return { place, numbersOf };
}

const steps = (numbers) => numbers.slice(1).map((number, i) => Math.round(10 * (number - numbers[i])) / 10);

test("marks lie as far apart as their numbers, on a logarithmic axis as their powers", () => {
  const { numbersOf } = drawn({ type: "scatter", x: [1, 10, 100], y: [1, 2, 4] }, { xaxis: { type: "log" } });
  const places = numbersOf("circle", "cx");
  const [across, up] = [steps(places), steps(numbersOf("circle", "cy"))];
  assert.ok(places.at(-1) - places[0] > 200, String(places)); // they fill the chart
  assert.ok(across[0] > 0 && Math.abs(across[0] - across[1]) < 0.2, across);
  assert.ok(up[0] < 0 && Math.abs(up[1] - 2 * up[0]) < 0.2, up);
});

test("bars are as high as their numbers, which Python may have packed, and hang from zero", () => {
  const bdata = Buffer.from(Float32Array.of(1, -2, 0.5).buffer).toString("base64");
  const { numbersOf } = drawn({ type: "bar", y: { dtype: "f4", bdata } });
  const [heights, tops] = [numbersOf("rect", "height"), numbersOf("rect", "y")];
  assert.ok(Math.abs(heights[1] - 2 * heights[0]) < 0.2 && Math.abs(heights[0] - 2 * heights[2]) < 0.2, heights);
  assert.ok(Math.abs(tops[1] - (tops[0] + heights[0])) < 0.2, tops);
});
