import assert from "node:assert/strict";
import { test } from "node:test";

import { aServer, goTo, json } from "./browser.mjs";
import { page, until } from "./page.mjs";

globalThis.Image = page.Image;
const { mountWall } = await import("../../../playground/microscope/shell/wall.js");

const LEFT_EYE = { kind: "eye", box: [0, 0, 0.5, 0.25] };
const RIGHT_EYE = { kind: "eye", box: [0.5, 0.75, 1, 1] };
const MOMENT = {
  words: { sample: "tabby", layer: "6", head: "5", query: "0,0", face: "see" },
  row: {
    told: { kind: "one", places: [{ share: 0.64, own: false, part: RIGHT_EYE, brightest: 7 }] },
    ...{ fromPart: LEFT_EYE, most: 0.125, even: false, off: false, alike: null, token: "" },
  },
  ...{ title: "Tabby", model: "DINOv2", picture: "api/moments/1/0.jpg", size: [40, 20] },
};

test("a tile shows its moment's picture and the share that its sentence names, and opens the moment", async () => {
  goTo("/");
  aServer(() => json([MOMENT]));
  const root = document.createElement("div");
  const opened = [];
  mountWall(root, { link: (name, words) => `/${name}?${words.query}`, go: (...place) => opened.push(place) });
  await until(() => root.querySelector("li"), "the wall has its tile");

  const tile = root.querySelector("li");
  assert.equal(tile.querySelector("b").textContent, "64 %");
  assert.match(tile.querySelector("span").textContent.replaceAll("\u00a0", " "), /64 % .* the other eye/);
  assert.match(tile.querySelector("img").src, /api\/moments\/1\/0\.jpg$/);
  assert.match(tile.querySelector("small").textContent, /^Tabby · .*6.*5/);
  const anchor = tile.querySelector("a");
  assert.match(anchor.href, /microscope\?0,0$/);
  anchor.dispatchEvent(new page.MouseEvent("click", { bubbles: true, cancelable: true }));
  assert.deepEqual(opened, [["microscope", MOMENT.words]]);
});
