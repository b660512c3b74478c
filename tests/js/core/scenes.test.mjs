import assert from "node:assert/strict";
import { test } from "node:test";

import * as scenes from "../../../playground/microscope/core/view.js";

const scene = (name, address = `sample=${name}`) => ({ name, address });

test("a text that is no list of scenes gives none, and a list is cut to its bounds", () => {
  for (const text of [null, "", "{", "7", '{"a":1}', "[null,3]"]) assert.deepEqual(scenes.readScenes(text), []);
  const manyScenes = Array.from({ length: 99 }, () => scene("x".repeat(99)));
  const sceneList = scenes.readScenes(JSON.stringify([scene("long", "y".repeat(501)), ...manyScenes]));
  assert.equal(sceneList.length, 60);
  assert.ok(sceneList.every(({ name }) => name.length === 60));
  assert.deepEqual(scenes.readScenes(scenes.writeScenes(sceneList)), sceneList);
});
