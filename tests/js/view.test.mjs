import assert from "node:assert/strict";
import { test } from "node:test";

import {
  answerCell,
  answerLayer,
  createAnswers,
  prepareColumns,
  sharedDomain,
} from "../../playground/microscope/core/answers.js";
import {
  colourIndex,
  heatPixels,
  niceNumber,
  ownDomain,
  paintInto,
  sharedCeiling,
} from "../../playground/microscope/core/colours.js";
import { unpack } from "../../playground/microscope/core/core.js";
import { MAGMA } from "../../playground/microscope/core/magma.js";
import * as view from "../../playground/microscope/core/view.js";
import { fixture } from "./support.mjs";

const { bytes, cases } = fixture();
const pack = unpack(bytes);
const near = (a, b, tolerance = 1e-6) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

test("a query is a patch or a prefix token, and nothing off the grid", () => {
  assert.equal(view.tokenOf("cls", pack), 0);
  assert.equal(view.tokenOf("reg0", pack), 1);
  assert.equal(view.tokenOf("0,0", pack), 2);
  assert.equal(view.tokenOf("2,3", pack), 13);
  for (const query of ["3,0", "0,4", "-1,0", "dist", "", null, undefined, "1,2,3", "a,b"])
    assert.equal(view.tokenOf(query, pack), -1);
  for (let token = 0; token < pack.tokens; token++) assert.equal(view.tokenOf(view.queryOf(token, pack), pack), token);
});

test("the same place in a finer picture", () => {
  const finer = { ...pack, prefix: ["cls"], prefixCount: 1, rows: 6, columns: 8, patches: 48, tokens: 49 };
  assert.equal(view.queryOf(view.sameToken(view.tokenOf("2,3", pack), pack, finer), finer), "5,7");
  assert.equal(view.queryOf(view.sameToken(view.tokenOf("0,0", pack), pack, finer), finer), "1,1");
  assert.equal(view.sameToken(1, pack, finer), -1);
  assert.equal(view.sameLayer(3, { layers: 12 }, { layers: 24 }), 6);
});

test("whatever a link says becomes a view that fits the pack", () => {
  const tidy = view.tidyView(
    {
      layer: "99",
      head: "-3",
      query: "9,9",
      locked: "true",
      scale: "banana",
      opacity: "7",
      k: "4",
      what: "<b>",
      evil: 1,
    },
    pack,
  );
  assert.deepEqual(tidy, { ...view.DEFAULT_VIEW, layer: 3, head: 0, query: "1,2", opacity: 1 });
  assert.equal(view.tidyView({ scale: "0" }, pack).scale, 0);
  assert.equal(view.tidyView({ layer: "0" }, pack).layer, 0);
  assert.equal(view.tidyView({}, pack).query, `${pack.rows >> 1},${pack.columns >> 1}`);
  assert.equal(view.tidyView({}, pack, [0.99, 0]).query, `${pack.rows - 1},0`); // where the picture says
  assert.equal(view.tidyView({}, pack).layer, 1); // two thirds up is layer 2, which this pack does not hold: the nearest one that it does
});

test("a view travels through a link and comes back", () => {
  const chosen = view.tidyView(
    {
      layer: 1,
      head: 2,
      query: "cls",
      locked: true,
      scale: 0.25,
      log: true,
      k: 5,
      depth: 4,
      beside: "wall",
      ceiling: 0.5,
    },
    pack,
  );
  assert.deepEqual(view.tidyView(view.viewFromQuery(`#${view.viewToQuery(chosen)}`), pack), chosen);
  assert.equal(view.viewToQuery({ ...view.DEFAULT_VIEW }), "");
});

test("the dial has 0 at the left, the trained scale in the middle and 1 at the right", () => {
  for (const own of [0.125, 0.0884, 0.25]) {
    near(view.dialToScale(0, own), 0);
    near(view.dialToScale(0.5, own), own);
    near(view.dialToScale(1, own), 1);
    for (const t of [0, 0.1, 0.4, 0.5, 0.6, 0.9, 1]) near(view.scaleToDial(view.dialToScale(t, own), own), t);
  }
});

test("a layer answers with rows for all heads", () => {
  const answers = createAnswers(pack);
  for (const { layer, head, token, scale, row, entropy } of cases) {
    assert.ok(answerLayer(answers, layer, token, scale, "weight", "row"));
    row.forEach((x, j) => near(answers.weights[head * pack.tokens + j], x));
    near(answers.entropies[head], entropy);
  }
  assert.equal(answerLayer(answers, 0, 0, 1, "weight", "row"), false);
});

test("columns come when their sums are there, and again after the scale changed", () => {
  const answers = createAnswers(pack);
  for (const { layer, head, token, scale, column } of cases) {
    answerLayer(answers, layer, token, scale, "weight", "column");
    while (prepareColumns(answers, [layer], head, scale, 5) < 1);
    answerLayer(answers, layer, token, scale, "weight", "column");
    assert.equal(answers.ready[head], 1);
    column.forEach((x, i) => near(answers.weights[head * pack.tokens + i], x, 2e-6));
    const cell = answerCell(answers, layer, head, token, scale, "weight", "column");
    column.forEach((x, i) => near(cell[i], x, 2e-6));
  }
});

test("raw scores and value weights are drawn while the numbers stay weights", () => {
  const answers = createAnswers(pack);
  for (const { layer, head, token, scale, row, scores, weighted } of cases) {
    const at = head * pack.tokens;
    answerLayer(answers, layer, token, scale, "score", "row");
    scores.forEach((x, j) => near(answers.drawn[at + j], x, 1e-5 * Math.max(1, Math.abs(x))));
    row.forEach((x, j) => near(answers.weights[at + j], x));
    answerLayer(answers, layer, token, scale, "value", "row");
    weighted.forEach((x, j) => near(answers.drawn[at + j], x));
  }
});

test("shared colours depend on the number of tokens alone", () => {
  assert.equal(sharedCeiling(201), 0.1);
  assert.equal(sharedCeiling(257), 0.1);
  near(sharedCeiling(4097), 0.005);
  assert.equal(sharedCeiling(10), 1);
  assert.deepEqual([0.013, 0.02, 0.04, 0.9, 7].map(niceNumber), [0.01, 0.02, 0.05, 1, 5]);
  const answers = createAnswers(pack);
  assert.deepEqual(
    sharedDomain(answers, 1, 0.3, "weight", "auto", false),
    sharedDomain(answers, 3, 1, "weight", "auto", false),
  );
  assert.ok(sharedDomain(answers, 1, 0, "score", "auto", false).high > 0);
});

test("magma is matplotlib's: its ends, its middle, its length", () => {
  assert.equal(MAGMA.length, 768);
  assert.deepEqual([...MAGMA.subarray(0, 3)], [0, 0, 4]);
  assert.deepEqual([...MAGMA.subarray(384, 387)], [183, 55, 121]);
  assert.deepEqual([...MAGMA.subarray(765)], [252, 253, 191]);
});

test("painting puts each value's colour in its place", () => {
  const palette = heatPixels(1);
  const domain = { low: 0, high: 1, log: false };
  const pixels = new Uint32Array(12);
  paintInto(pixels, 5, 4, Float32Array.from([9, 0, 1, 2, 0.5]), 1, 2, 2, palette, domain);
  assert.deepEqual([...pixels], [0, 0, 0, 0, 0, palette[0], palette[255], 0, 0, palette[255], palette[128], 0]);
  assert.equal(palette[255] >>> 24, 255);
  assert.equal(palette[0] >>> 24, 255); // at full opacity nothing of the image is left
  assert.equal(heatPixels(0)[255] >>> 24, 0);
  const log = { low: 0.001, high: 1, log: true };
  assert.deepEqual(
    [0, 0.001, 0.0316228, 1, 5].map((x) => colourIndex(x, log)),
    [0, 0, 128, 255, 255],
  );
  assert.deepEqual(ownDomain(Float32Array.from([9, -1, 0.25]), 1, 3, false, false), { low: 0, high: 0.25, log: false });
});
