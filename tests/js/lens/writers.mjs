// Lists the properties of choice, data and frame that each module writes, by the sources of lens/ and by the table at
// the top of lens.js. Writes are assignments, Object.assign, and methods that change an array, a set or a map. The
// property may have an alias in the function, or be an argument of the function.

const GROUPS = ["choice", "data", "frame"];
// Patterns: the methods that change an array, a set or a map; what follows the name of a property that is written.
const CHANGES = "set|delete|clear|add|push|pop|shift|unshift|splice|fill|sort|reverse";
const WRITES = String.raw`(?:\.\w+|\[[^\]]*\])* *(?:(?:[-+*/|&?]{1,2})?=(?![=>])|\+\+|--)|(?:\.\w+)*\.(?:${CHANGES})\(`;

// Returns a Map from each file to the Set of properties that the file writes: "lens.js" → "choice.view", …
// sources: {"lens.js": its text, …}; properties: the property names of each object, {choice: ["view", …], …}.
export function writersIn(sources, properties) {
  const parts = Object.entries(sources).flatMap(([file, text]) =>
    declarations(text).map((part) => ({ file, ...part })),
  );
  const writtenArguments = new Map(parts.map(({ name, text }) => [name, writtenParameters(text)]));
  const propertiesByFile = new Map(Object.keys(sources).map((file) => [file, new Set()]));
  for (const { file, text } of parts)
    for (const property of writesOf(text, properties, writtenArguments)) propertiesByFile.get(file).add(property);
  return propertiesByFile;
}

// The same map as writersIn, from a table with lines such as "// lens.js choice: view hover; frame: shown".
export function writersInTable(text) {
  const table = text.slice(text.indexOf("// What each file writes")).split(/\n(?!\/\/)|\n\/\/\n(?!\/\/ {3})/)[0];
  const lines = table.replaceAll(/\n\/\/ {5,}/g, " ").matchAll(/^\/\/ {3}(\w+\.js) +(.*)$/gm);
  return new Map(Array.from(lines, ([, file, words]) => [file, new Set(words.split("; ").flatMap(propertiesIn))]));
}

function propertiesIn(words) {
  const [group, names] = words.split(": ");
  return names
    .trim()
    .split(/ +/)
    .map((name) => `${group}.${name}`);
}

// A source's functions and constants, without comments.
function declarations(source) {
  const text = source.replaceAll(/(^|\s)\/\/ .*$/gm, "");
  return text.split(/^(?=(?:export )?(?:async )?(?:function\*?|const|let) )/m).map((part) => ({
    name: /^(?:export )?(?:async )?(?:function\*?|const|let) (\w+)/.exec(part)?.[1] ?? "",
    text: part,
  }));
}

// The parameters in the first parentheses, such as ["choice", "{ view }"].
function parametersOf(text) {
  const head = /^(?:export )?(?:async )?(?:function\*? \w+|const \w+ = (?:async )?)\(/.exec(text);
  return head ? parametersIn(text.slice(head[0].length)) : [];
}

// "a, { b, c }, d) …" → ["a", "{ b, c }", "d"]
function parametersIn(text) {
  const parameters = [""];
  let depth = 0;
  for (const letter of text) {
    if ("([{".includes(letter)) depth++;
    if (")]}".includes(letter) && depth-- === 0) break;
    if (letter === "," && depth === 0) parameters.push("");
    else parameters[parameters.length - 1] += letter;
  }
  return parameters.map((item) => item.trim());
}

// The places of the parameters that a function writes to.
function writtenParameters(text) {
  const body = text.slice(text.indexOf(")"));
  const isWritten = (name) =>
    new RegExp(
      `(?<![\\w.])${name}(?:${WRITES.replaceAll("(?:\\.\\w+|\\[[^\\]]*\\])* ", "(?:\\.\\w+|\\[[^\\]]*\\])+ ")})`,
    ).test(body);
  return parametersOf(text).flatMap((name, place) => (/^\w+$/.test(name) && isWritten(name) ? [place] : []));
}

function writesOf(text, properties, writtenArguments) {
  const aliases = aliasesIn(text, properties);
  const writtenPaths = new Set();
  // "frame.live.key" and "live.key" → "frame.live"
  const propertyOf = (path) => {
    const [first, second] = path.replace(/^lens\./, "").split(/[.[]/);
    return GROUPS.includes(first) ? second && `${first}.${second}` : aliases.get(first);
  };
  const note = (path) => propertyOf(path) && writtenPaths.add(propertyOf(path));
  const names = [...GROUPS.map((group) => `(?:lens\\.)?${group}\\.\\w+`), ...aliases.keys()].join("|");
  for (const [, path, write] of text.matchAll(new RegExp(`(?<![\\w.])(${names})(${WRITES})`, "g")))
    if (path.includes(".") || /^[.[]/.test(write)) note(path); // an assignment to a variable writes no property
  for (const [, path] of text.matchAll(/(?<![\w.])(?:delete |\+\+|--)([\w.]+)/g)) note(path);
  for (const { 0: callStart, 1: name, index } of text.matchAll(/(?<![\w.])(Object\.assign|\w+)\(/g)) {
    const args = parametersIn(text.slice(index + callStart.length));
    if (name !== "Object.assign") for (const place of writtenArguments.get(name) ?? []) note(args[place] ?? "");
    else if (GROUPS.includes(args[0].replace("lens.", "")))
      for (const key of keysOf(args[1])) note(`${args[0]}.${key}`);
    else note(args[0]);
  }
  return writtenPaths;
}

// The names in a pattern or an object: [["view", "view"], ["list", "kept"]] of "{ view, list: kept }".
const entriesOf = (pattern) =>
  parametersIn(pattern.slice(1))
    .filter(Boolean)
    .map((entry) =>
      entry
        .split(/ *[:=] */)
        .concat(entry)
        .slice(0, 2),
    );
const keysOf = (object) => entriesOf(object).map(([key]) => key);

// A function's aliases of a property or of its part: "shown" → "frame.shown".
function aliasesIn(text, properties) {
  const aliasesFound = new Map();
  const addAliases = (pattern, group) => {
    for (const [key, name] of entriesOf(pattern))
      if (properties[group].includes(key)) aliasesFound.set(name, `${group}.${key}`);
  };
  const addAliasesOf = (pattern) => {
    const groups = GROUPS.filter((group) => new RegExp(`\\b${group}: \\{`).test(pattern));
    for (const group of groups) addAliases(new RegExp(`\\b${group}: (\\{[^}]*\\})`).exec(pattern)[1], group);
    const keys = keysOf(pattern);
    for (const group of GROUPS)
      if (!groups.length && keys.every((key) => properties[group].includes(key))) addAliases(pattern, group);
  };
  for (const parameter of parametersOf(text)) if (parameter.startsWith("{")) addAliasesOf(parameter);
  for (const [, pattern, group, property] of text.matchAll(
    /(\{[^{}]*\}) = (?:lens\.)?(choice|data|frame)(?:\.(\w+))?[;,\n]/g,
  ))
    if (property) for (const [, name] of entriesOf(pattern)) aliasesFound.set(name, `${group}.${property}`);
    else addAliases(pattern, group);
  for (const [, name, group, property] of text.matchAll(/(\w+) = (?:lens\.)?(choice|data|frame)\.(\w+)[;,\n]/g))
    aliasesFound.set(name, `${group}.${property}`);
  for (const [, name] of text.matchAll(/(\w+) = resolve\(/g)) aliasesFound.set(name, "frame.shown"); // its result
  return aliasesFound;
}
