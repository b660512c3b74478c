// What the page Teach says of the people on the server.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.mjs";

const { peopleSentence } = await import("../../../playground/microscope/shell/teachpage.js");

for (const [people, waiting, sentence] of [
  [28, 0, "28 people on this server, nobody waits."],
  [1, 0, "1 person on this server, nobody waits."],
  [28, 1, "28 people on this server, 1 person waits."],
  [300, 12, "300 people on this server, 12 people wait."],
])
  test(`the line says how many are there and how many wait: ${sentence}`, () => {
    assert.equal(peopleSentence(people, waiting), sentence);
  });
