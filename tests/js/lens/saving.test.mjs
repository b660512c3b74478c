import assert from "node:assert/strict";
import { test } from "node:test";

import { mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"], head_numbers: [0, 2, 5] };
const VIEW = { layer: 1, head: 1, query: "3,3", locked: true };

test("a compared picture stands beside the picture in the file", async () => {
  const [single, pair] = [
    await mountLens({ pack: GRID, view: VIEW }),
    await mountLens({ pack: GRID, view: { ...VIEW, beside: "compare" }, other: "dog" }),
  ].map(({ lens }) => lens.picture());
  assert.ok(pair.width > 1.8 * single.width, `${pair.width} ${single.width}`);
});

test("the caption of a saved picture says all that is needed to make it again", async () => {
  const microscope = await mountLens({ pack: GRID, view: { ...VIEW, scale: "off", direction: "column" } });
  const writtenText = microscope.lens
    .picture()
    .getContext("2d")
    .drawn.filter(([name]) => name === "fillText");
  const caption = writtenText.map(([, text]) => text).join(" ");
  for (const part of ["layer 1, head 2", "row 3, column 3", "without 1/√4, this layer only", "who looks at it"])
    assert.ok(caption.includes(part), `${part}: ${caption}`);
});

const openLink = (microscope) => {
  microscope.click(microscope.part("sending"));
  microscope.click(microscope.find('[data-share="link"]'));
};

test("before a link to an own picture is copied, a line says that the picture does not travel in it", async () => {
  const copiedTexts = [];
  const microscope = await mountLens({
    pack: GRID,
    view: VIEW,
    host: { link: () => "https://playground.test/#x" },
    trace: { private: true },
  });
  navigator.clipboard.writeText = async (text) => copiedTexts.push(text);
  openLink(microscope);
  await new Promise(setImmediate);
  assert.equal(microscope.part("sendingSheet").hidden, false);
  assert.match(microscope.words("shareStatus"), /does not travel in a link/);
  assert.deepEqual(copiedTexts, []);
  microscope.click(microscope.part("shareSave"));
  await new Promise(setImmediate);
  assert.deepEqual(copiedTexts, ["https://playground.test/#x"]);
  assert.equal(microscope.words("shareStatus"), "Link copied.");
});
