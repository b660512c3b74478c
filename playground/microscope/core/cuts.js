// Cuts: who did not hear whom in the pass that a pack is of. The twin of playground/cuts.py, whose texts it reads:
// "7,5>3,2", "*>cls@4.1", "*>3x3", "zero@4.1". Here a text has been read by Python before. No DOM in here.

export const MOST_CUTS = 16; // as in playground/cuts.py

const ALL = "*";
const KERNEL = /^([357])x\1$/;

// What each text says, in token numbers: {hearers, unheard, layers, heads: a Set, or null for all, kernel, kept, to:
// what ablated heads give, "zero" or "mean"}.
export function readCuts(texts, { prefix, columns }) {
  const token = (word) => {
    const [row, column] = word.split(",").map(Number);
    return column === undefined ? prefix.indexOf(word) : prefix.length + row * columns + column;
  };
  const some = (text, of) => (text === undefined || text === ALL ? null : new Set(text.split("+").map(of)));
  return texts.map((text) => {
    const [edge, place] = text.split("@");
    const [who, whom = ALL] = edge.split(">");
    const to = edge === who ? who : "";
    const [first, ...more] = whom.split("+");
    const kernel = Number(KERNEL.exec(first)?.[1] ?? 0);
    const [layers, heads] = place?.split(".") ?? [];
    return {
      hearers: to ? null : some(who, token),
      unheard: kernel ? null : some(whom, token),
      kernel,
      kept: new Set(kernel ? more.map(token) : []),
      layers: some(layers, Number),
      heads: some(heads, Number),
      to,
    };
  });
}

// Whether `query` did not hear `key` in this layer and head. Everybody hears themselves.
export function isCut(pack, layer, head, query, key) {
  if (query === key) return false;
  const number = pack.headNumbers[head];
  return pack.cuts.some(
    (cut) =>
      !cut.to &&
      (cut.layers?.has(layer) ?? true) &&
      (cut.heads?.has(number) ?? true) &&
      (cut.hearers?.has(query) ?? true) &&
      (cut.kernel ? isFar(pack, cut, query, key) : (cut.unheard?.has(key) ?? true)),
  );
}

// With a kernel, patches hear those around them; the prefix has no place, and is heard where it is kept.
function isFar({ prefixCount, columns }, { kernel, kept }, query, key) {
  if (query < prefixCount || kept.has(key)) return false;
  if (key < prefixCount) return true;
  const [a, b] = [query - prefixCount, key - prefixCount];
  const rows = Math.abs(Math.floor(a / columns) - Math.floor(b / columns));
  return Math.max(rows, Math.abs((a % columns) - (b % columns))) > kernel >> 1;
}

// What is cut has a score of −∞. Gives the largest score that is left.
export function silence(scores, at, pack, layer, head, query, largest) {
  if (!pack.cuts?.length) return largest;
  let left = -Infinity;
  let any = false;
  for (let key = 0; key < pack.tokens; key++) {
    if (isCut(pack, layer, head, query, key)) {
      scores[at + key] = -Infinity;
      any = true;
    } else if (scores[at + key] > left) left = scores[at + key];
  }
  return any ? left : largest;
}

// What all heads of a layer mixed, (N, D), where some of them give nothing, or their mean over the tokens. In place.
export function ablate(mixed, { cuts, tokens, headNumbers }, layer) {
  const width = mixed.length / tokens;
  const head = (column) => Math.floor((column * headNumbers.length) / width);
  for (const { to, layers, heads } of cuts) {
    if (!to || !(layers?.has(layer) ?? true)) continue;
    for (let column = 0; column < width; column++) {
      if (!(heads?.has(head(column)) ?? true)) continue;
      let sum = 0;
      if (to === "mean") for (let at = column; at < mixed.length; at += width) sum += mixed[at];
      for (let at = column; at < mixed.length; at += width) mixed[at] = sum / tokens;
    }
  }
}
