import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { MICROSCOPE, ROOT, withBundle } from "./support.mjs";

const COMPONENT_ENTRIES = readdirSync(MICROSCOPE, { recursive: true })
  .filter((name) => name.endsWith(".js"))
  .filter((name) => /^export default /m.test(readFileSync(join(MICROSCOPE, name), "utf8")))
  .map((name) => [name, ""]);
const ENTRIES_OF_SEVERAL_MOUNTS = JSON.parse(
  withBundle(
    "import json; from playground.serving.lesson_scripts import SCRIPTS; " +
      "print(json.dumps([[one.file, one.mounts] for one in SCRIPTS.values() if one.mounts]))",
  ),
);

test("every bundle is the program of its sources: no string, template or regular expression lost a letter", () => {
  const names = readdirSync(MICROSCOPE, { recursive: true }).filter((name) => name.endsWith(".js"));
  const modules = Object.fromEntries(names.map((name) => [name, readFileSync(join(MICROSCOPE, name), "utf8")]));
  const bundles = JSON.parse(
    withBundle(
      "import json; sys.stdout.buffer.write(json.dumps({name: bundle.bundle(name) for name in sys.argv[1:]}).encode())",
      ...names,
    ),
  );
  const judge = ["--expose-internals", "--no-warnings", join(ROOT, "tests", "js", "sametree.cjs")];
  const options = { input: JSON.stringify({ modules, bundles }), maxBuffer: 1 << 26, encoding: "utf8" };
  assert.deepEqual(JSON.parse(execFileSync(process.execPath, judge, options)), []);
});

test("every module is in a bundle", () => {
  const names = readdirSync(MICROSCOPE, { recursive: true }).filter((name) => name.endsWith(".js"));
  const entries = JSON.stringify([
    "shell/alone.js",
    "shell/attentionlens.js",
    "shell/begin.js",
    "shell/lecture.js",
    "shell/served.js",
    "shell/site.js",
    "shell/lost.js",
    "shell/phone.js",
    "shell/serviceworker.js",
    "lessons/slides.js",
    "shell/widget.js",
    "engine/worker.js",
    ...[...COMPONENT_ENTRIES, ...ENTRIES_OF_SEVERAL_MOUNTS].map(([name]) => name),
  ]);
  const source = withBundle(`for name in ${entries}: sys.stdout.buffer.write(bundle.bundle(name).encode())`).toString();
  for (const name of names) assert.ok(source.includes(`// ---- ${name}\n`), name);
});

test("nothing in the microscope names another host", () => {
  for (const name of readdirSync(MICROSCOPE, { recursive: true }).filter((name) => /\.(js|css)$/.test(name))) {
    // Allowed: an ellipsis, XML namespaces, fonts beside the page, and a reference within a figure
    const allowedAddresses =
      /https:\/\/…|http:\/\/www\.w3\.org\/2000\/svg|url\((?:"\$\{font\.href\}"|\$\{fileHere\(font\)\}|#colours)\)/g;
    const text = readFileSync(join(MICROSCOPE, name), "utf8")
      .replaceAll(allowedAddresses, "")
      .replaceAll("http://www.imsglobal.org/xsd/", "");
    assert.doesNotMatch(text, /https?:\/\/|@import|url\(/, name);
  }
});
