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

test("every name that a module imports is exported by the module that it names", async () => {
  for (const name of files(MICROSCOPE, /\.js$/)) {
    const text = readFileSync(join(MICROSCOPE, name), "utf8");
    for (const [, names, source] of text.matchAll(/^import \{([^}]*)\} from "([^"]*)";/gm)) {
      const module = await import(pathToFileURL(join(MICROSCOPE, posix.dirname(name), source)));
      const missingNames = names
        .split(",")
        .filter((importedName) => importedName.trim() && !(importedName.trim() in module));
      assert.deepEqual(missingNames, [], `${name} imports from ${source}`);
    }
  }
});

test("no line is longer than 120 characters", () => {
  const longLines = [];
  for (const folder of [MICROSCOPE, join(ROOT, "tests", "js")]) {
    for (const name of files(folder, /\.(m?js|css)$/)) {
      readFileSync(join(folder, name), "utf8")
        .split("\n")
        .forEach((line, i) => line.length > 120 && longLines.push(`${name}:${i + 1} has ${line.length} characters`));
    }
  }
  assert.deepEqual(longLines, []);
});
