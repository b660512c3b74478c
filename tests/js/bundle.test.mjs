import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { openContainer } from "../../playground/microscope/core.js";
import { MICROSCOPE, withBundle } from "./support.mjs";

test("the bundle is one module whose only export is the component", async () => {
  const source = withBundle("sys.stdout.buffer.write(bundle.bundle().encode())").toString();
  assert.doesNotMatch(source, /^import /m);
  assert.equal(source.match(/^export /gm).length, 1);
  const module = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
  assert.equal(typeof module.default, "function");
});

test("without the Streamlit entry nothing is exported and createLens is there", async () => {
  const source = withBundle('sys.stdout.buffer.write(bundle.bundle("lens.js").encode())').toString();
  assert.doesNotMatch(source, /^export |setStateValue/m);
  const tail = "\nexport { createLens };";
  const module = await import(`data:text/javascript;base64,${Buffer.from(source + tail).toString("base64")}`);
  assert.equal(typeof module.createLens, "function");
});

test("every module is in the bundle", () => {
  const source = withBundle("sys.stdout.buffer.write(bundle.bundle().encode())").toString();
  for (const name of readdirSync(MICROSCOPE).filter((name) => name.endsWith(".js"))) assert.ok(source.includes(`// ---- ${name}\n`), name);
});

test("nothing in the microscope names another host", () => {
  for (const name of readdirSync(MICROSCOPE)) {
    const text = readFileSync(join(MICROSCOPE, name), "utf8").replaceAll("https://…", "");
    assert.doesNotMatch(text, /https?:\/\/|@import|url\(/, name);
  }
});

test("what blob() writes, openContainer reads", () => {
  const bytes = withBundle(`
import numpy as np
sections = {"half": np.arange(6, dtype=np.float16).reshape(2, 3), "text": b"abc", "none": b"", "single": np.linspace(0, 1, 5, dtype=np.float32)}
sys.stdout.buffer.write(bundle.blob({"title": "grüße"}, sections))`);
  const { header, section } = openContainer(new Uint8Array(bytes));
  assert.equal(header.title, "grüße");
  assert.deepEqual(header.sections.half.shape, [2, 3]);
  assert.deepEqual([...section("half")], [0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500]);
  assert.equal(Buffer.from(section("text")).toString(), "abc");
  assert.equal(section("none").length, 0);
  assert.deepEqual([...section("single")], [0, 0.25, 0.5, 0.75, 1]);
  assert.equal(section("nothing"), null);
});
