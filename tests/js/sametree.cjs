// Prints the bundles that are another program than their sources: [[entry, where they part], …]. Run with
// --expose-internals, because it parses with acorn, the parser of JavaScript that Node brings.
// On standard input: {modules: {name: source}, bundles: {entry: source}}.
const { parse } = require("internal/deps/acorn/acorn/dist/acorn");
const { readFileSync } = require("node:fs");

const { modules, bundles } = JSON.parse(readFileSync(0, "utf8"));
const treeOf = (source) => parse(source, { ecmaVersion: "latest", sourceType: "module" }).body;
const trees = Object.fromEntries(
  Object.entries(modules).map(([name, source]) => [name, treeOf(source).flatMap(within)]),
);

function within(statement) {
  if (statement.type === "ImportDeclaration") return [];
  return [statement.type === "ExportNamedDeclaration" ? statement.declaration : statement];
}

// Places and spelling (`raw`) are left out; the value of a string, a template or a number is not.
const kept = (key, value) => {
  if (["start", "end", "raw"].includes(key)) return undefined;
  return typeof value === "bigint" ? `${value}n` : value;
};
const textOf = (tree) => JSON.stringify(tree, kept);

const differing = Object.entries(bundles).flatMap(([entry, source]) => {
  const names = [...source.matchAll(/^\/\/ ---- (\S+\.js)$/gm)].map(([, name]) => name);
  const [ours, theirs] = [textOf(treeOf(source)), textOf(names.flatMap((name) => trees[name]))];
  if (ours === theirs) return [];
  const place = [...theirs].findIndex((letter, i) => letter !== ours[i]);
  return [[entry, theirs.slice(Math.max(0, place - 80), place + 80), ours.slice(Math.max(0, place - 80), place + 80)]];
});
process.stdout.write(JSON.stringify(differing));
