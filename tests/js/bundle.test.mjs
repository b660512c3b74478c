import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { MICROSCOPE, withBundle } from "./support.mjs";

test("the bundle is one module whose only export is the component", async () => {
  const source = withBundle("sys.stdout.buffer.write(bundle.bundle().encode())").toString();
  assert.doesNotMatch(source, /^import /m);
  assert.equal(source.match(/^export /gm).length, 1);
  const module = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
  assert.equal(typeof module.default, "function");
});

test("without the Streamlit entry nothing is exported and createLens is there", async () => {
  const source = withBundle('sys.stdout.buffer.write(bundle.bundle("lens/lens.js").encode())').toString();
  assert.doesNotMatch(source, /^export |setStateValue/m);
  const tail = "\nexport { createLens };";
  const module = await import(`data:text/javascript;base64,${Buffer.from(source + tail).toString("base64")}`);
  assert.equal(typeof module.createLens, "function");
});

const COMPONENTS = readdirSync(MICROSCOPE, { recursive: true })
  .filter((name) => name.endsWith(".js"))
  .filter((name) => /^export default /m.test(readFileSync(join(MICROSCOPE, name), "utf8")));

for (const name of COMPONENTS) {
  test(`no two modules of the bundle of ${name} declare the same name`, async () => {
    const source = withBundle(`sys.stdout.buffer.write(bundle.bundle("${name}").encode())`).toString();
    await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`); // a SyntaxError names it
  });
}

test("every module is in a bundle", () => {
  const names = readdirSync(MICROSCOPE, { recursive: true }).filter((name) => name.endsWith(".js"));
  const entries = JSON.stringify(["shell/alone.js", ...COMPONENTS]);
  const source = withBundle(`for name in ${entries}: sys.stdout.buffer.write(bundle.bundle(name).encode())`).toString();
  for (const name of names) assert.ok(source.includes(`// ---- ${name}\n`), name);
});

test("nothing in the microscope names another host", () => {
  for (const name of readdirSync(MICROSCOPE, { recursive: true }).filter((name) => /\.(js|css)$/.test(name))) {
    const names = /https:\/\/…|http:\/\/www\.w3\.org\/2000\/svg/g; // an ellipsis, and a namespace that nobody fetches
    const text = readFileSync(join(MICROSCOPE, name), "utf8").replaceAll(names, "");
    assert.doesNotMatch(text, /https?:\/\/|@import|url\(/, name);
  }
});
