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

// A declaration whose name is nowhere in the bundle.
const isUnused = ({ id, declarations }, code) => {
  const { name } = id ?? declarations?.[0].id ?? {};
  return Boolean(name) && !code.includes(`"name":"${name}"`);
};

const differing = Object.entries(bundles).flatMap(([entry, source]) => {
  const names = [...source.matchAll(/^\/\/ ---- (\S+\.js)$/gm)].map(([, name]) => name);
  const ours = treeOf(source).map(textOf);
  const [theirs, code] = [names.flatMap((name) => trees[name]), ours.join()];
  let at = 0;
  for (const statement of theirs) {
    const text = textOf(statement);
    if (text === ours[at]) at++;
    else if (!isUnused(statement, code)) return [[entry, text.slice(0, 160), String(ours[at]).slice(0, 160)]];
  }
  return at === ours.length ? [] : [[entry, "", ours[at].slice(0, 160)]];
});
process.stdout.write(JSON.stringify(differing));
