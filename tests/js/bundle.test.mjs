import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";

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

// {entry: {mounts: source}}, made by one run of Python
const SOURCES = JSON.parse(
  withBundle(
    "import json; sources = {}\nfor entry, mounts in json.loads(sys.argv[1]): " +
      "sources.setdefault(entry, {})[mounts] = bundle.drawing_module(entry, mounts)\n" +
      "sys.stdout.buffer.write(json.dumps(sources).encode())",
    JSON.stringify([...COMPONENT_ENTRIES, ...ENTRIES_OF_SEVERAL_MOUNTS]),
  ),
);

// Writes a script to …/api/app/DIGEST/ENTRY, as on the server: a script finds the app's root by its own address.
const SERVER_FOLDER = mkdtempSync(join(tmpdir(), "bundle-"));
async function importServed(entry, digest, { mounts = "", tail = "" } = {}) {
  const source = SOURCES[entry][mounts];
  const file = join(SERVER_FOLDER, "below", "api", "app", digest, entry);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source + tail);
  writeFileSync(join(dirname(file), "package.json"), '{"type": "module"}');
  return { source, module: await import(pathToFileURL(file)) }; // throws a SyntaxError if a name is declared twice
}

for (const [name, mounts] of [...COMPONENT_ENTRIES, ...ENTRIES_OF_SEVERAL_MOUNTS]) {
  test(`the bundle of ${name} ${mounts} is one module whose only export is the component`, async () => {
    const { source, module } = await importServed(name, `0123456789abcdef${mounts}`, { mounts });
    assert.doesNotMatch(source, /^import /m);
    assert.deepEqual(Object.keys(module), ["default"]);
    assert.equal(source.match(/^export /gm).length, 1);
    assert.equal(typeof module.default, "function");
  });
}

test("a bundle whose entry is no component exports nothing, and declares createLens", async () => {
  const source = withBundle('sys.stdout.buffer.write(bundle.bundle("lens/lens.js").encode())').toString();
  assert.doesNotMatch(source, /^export |fetch\(/m);
  const tail = "\nexport { createLens };";
  const module = await import(`data:text/javascript;base64,${Buffer.from(source + tail).toString("base64")}`);
  assert.equal(typeof module.createLens, "function");
});

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

test("only code loses its spaces and comments", () => {
  const source = `
const n = { a: 1, b: 6 / 2, text: 'x, "y' }; // "a comment"
/* another \` */ const divided = (n.b) / 3 + +n.a - -n.a; const same = /"/ instanceof RegExp;
[n.text, n.b, /[",\`]: /.test("a: ,: "), / \\/\\/ "/.test(' // "'), divided, same,
  \`p: \${n.a ? \`, \${[n.a, { c: 2 }.c].join(
  ", ", // in code
)} = \` : "e"}, \\\`g: // no comment
    indented\`];`;
  const shortened = withBundle("sys.stdout.buffer.write(bundle.shortened(sys.argv[1]).encode())", source).toString();
  const expected = ['x, "y', 3, true, true, 3, true, "p: , 1, 2 = , `g: // no comment\n    indented"];
  assert.deepEqual([...runInNewContext(source)], expected);
  assert.deepEqual([...runInNewContext(shortened)], expected, shortened);
  assert.doesNotMatch(shortened, /a comment|another|in code/);
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
    "engine/worker.js",
    ...[...COMPONENT_ENTRIES, ...ENTRIES_OF_SEVERAL_MOUNTS].map(([name]) => name),
  ]);
  const source = withBundle(`for name in ${entries}: sys.stdout.buffer.write(bundle.bundle(name).encode())`).toString();
  for (const name of names) assert.ok(source.includes(`// ---- ${name}\n`), name);
});

test("nothing in the microscope names another host", () => {
  for (const name of readdirSync(MICROSCOPE, { recursive: true }).filter((name) => /\.(js|css)$/.test(name))) {
    // Allowed: an ellipsis, an XML namespace, fonts beside the page, and a reference within a figure
    const allowedAddresses =
      /https:\/\/…|http:\/\/www\.w3\.org\/2000\/svg|url\((?:"\$\{font\.href\}"|\$\{fileHere\(font\)\}|#colours)\)/g;
    const text = readFileSync(join(MICROSCOPE, name), "utf8").replaceAll(allowedAddresses, "");
    assert.doesNotMatch(text, /https?:\/\/|@import|url\(/, name);
  }
});
