import assert from "node:assert/strict";
import { test } from "node:test";

import * as scenes from "../../../playground/microscope/core/view.js";
import { tidyView } from "../../../playground/microscope/core/view.js";

const scene = (name, address = `sample=${name}`) => ({ name, address });

test("a scene is the address of a view, and opens as the same picture, model and view", () => {
  const view = tidyView({ layer: 6, head: 5, query: "9,13", locked: true, scale: 0.5, draw: "light" });
  const openedScene = scenes.readSceneAddress(scenes.sceneAddress("model=dinov2-small&sample=chelsea", view));
  assert.equal(openedScene.place, "model=dinov2-small&sample=chelsea");
  assert.deepEqual(tidyView({ ...openedScene.view, layer: 6, head: 5 }), view);
});

test("a text that is no list of scenes gives none, and a list is cut to its bounds", () => {
  for (const text of [null, "", "{", "7", '{"a":1}', "[null,3]"]) assert.deepEqual(scenes.readScenes(text), []);
  const manyScenes = Array.from({ length: 99 }, () => scene("x".repeat(99)));
  const sceneList = scenes.readScenes(JSON.stringify([scene("long", "y".repeat(501)), ...manyScenes]));
  assert.equal(sceneList.length, 60);
  assert.ok(sceneList.every(({ name }) => name.length === 60));
  assert.deepEqual(scenes.readScenes(scenes.writeScenes(sceneList)), sceneList);
});

test("scenes move, those of a link come after one's own, and steps stop at both ends", () => {
  const [a, b, c] = ["a", "b", "c"].map((name) => scene(name));
  assert.deepEqual(scenes.moveScene([a, b, c], 2, -1), [a, c, b]);
  assert.deepEqual(scenes.moveScene([a, b, c], 0, -1), [a, b, c]);
  assert.deepEqual(scenes.joinScenes([a, b], [b, c]), [a, b, c]);
  assert.deepEqual(
    [
      [-1, 1],
      [-1, -1],
      [2, 1],
      [0, -1],
      [0, 1],
    ].map(([index, steps]) => scenes.sceneAfter(index, steps, 3)),
    [0, 2, 2, 0, 1],
  );
});
