import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, posix, sep } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { MICROSCOPE, ROOT } from "./support.mjs";

const files = (folder, endings) =>
  readdirSync(folder, { recursive: true })
    .map((name) => name.split(sep).join("/"))
    .filter((name) => endings.test(name));

// Which rooms a room may import from, besides itself.
const MAY = { core: [], drawing: ["core"], lens: ["core", "drawing"], lessons: ["core", "drawing"] };
MAY.shell = ["core", "drawing", "lens", "lessons"];

test("imports point from the shell to the core, and no room knows the rooms above it", () => {
  for (const name of files(MICROSCOPE, /\.js$/)) {
    const room = name.split("/")[0];
    for (const [, from] of readFileSync(join(MICROSCOPE, name), "utf8").matchAll(/^import [^;]* from "([^"]*)";/gm)) {
      const other = posix.join(posix.dirname(name), from).split("/")[0];
      assert.ok(other === room || MAY[room].includes(other), `${name} imports ${from}`);
    }
  }
});

test("what a module imports is exported where it says", async () => {
  for (const name of files(MICROSCOPE, /\.js$/)) {
    const text = readFileSync(join(MICROSCOPE, name), "utf8");
    for (const [, names, from] of text.matchAll(/^import \{([^}]*)\} from "([^"]*)";/gm)) {
      const other = await import(pathToFileURL(join(MICROSCOPE, posix.dirname(name), from)));
      const missing = names.split(",").filter((wanted) => wanted.trim() && !(wanted.trim() in other));
      assert.deepEqual(missing, [], `${name} imports from ${from}`);
    }
  }
});

test("no line is longer than 120 characters", () => {
  for (const folder of [MICROSCOPE, join(ROOT, "tests", "js")]) {
    for (const name of files(folder, /\.(m?js|css)$/)) {
      readFileSync(join(folder, name), "utf8")
        .split("\n")
        .forEach((line, i) => assert.ok(line.length <= 120, `${name}:${i + 1} has ${line.length} characters`));
    }
  }
});
