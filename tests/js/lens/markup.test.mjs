import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { WAYS } from "../../../playground/microscope/core/ways.js";
import { MARKUP } from "../../../playground/microscope/lens/markup.js";
import { MICROSCOPE } from "../support.mjs";

test("every way to look has its button, in its order; those that few need stand apart", () => {
  const menus = MARKUP.split('data-choice="what"').slice(1);
  const buttons = menus.map((menu) =>
    Array.from(menu.split("</div>")[0].matchAll(/<button data-value="(\w+)"/g), ([, name]) => name),
  );
  const waysWhereExtra = (extra) => Object.keys(WAYS).filter((name) => WAYS[name].extra === extra);
  assert.deepEqual(buttons, [waysWhereExtra(false), waysWhereExtra(true)]);
});

test("every part that the code names is there, once", () => {
  const parts = Array.from(MARKUP.matchAll(/data-ref="(\w+)"/g), ([, name]) => name);
  assert.deepEqual(parts, [...new Set(parts)]);
  const folder = join(MICROSCOPE, "lens");
  const partsUsed = readdirSync(folder)
    .filter((name) => name.endsWith(".js"))
    .flatMap((name) =>
      Array.from(readFileSync(join(folder, name), "utf8").matchAll(/\brefs\.(\w+)/g), ([, part]) => part),
    );
  assert.deepEqual(
    [...new Set(partsUsed)].filter((part) => !parts.includes(part)),
    [],
  );
});
