// Counts the costs of a layer as analysis/cost.py does, for N tokens of width D. A FLOP is one multiplication or one
// addition; a number takes four bytes. No DOM.

const FLOAT_BYTES = 4; // bytes

// The sizes and memory of a ViT on a square image, from the dials' values.
export function caseOf({ image, patch, width, heads, layers, kernel }) {
  const side = Math.floor(image / patch);
  const tokens = side ** 2;
  const entries = tokens ** 2; // numbers in one head's score matrix
  const allEntries = entries * heads * layers;
  return {
    image,
    patch,
    width,
    heads,
    layers,
    kernel,
    side,
    tokens,
    entries,
    allEntries,
    rest: image % patch, // pixels of a side that remain after the last whole patch
    matricesBytes: FLOAT_BYTES * allEntries,
    keptBytes: FLOAT_BYTES * 2 * tokens * width * layers, // queries and keys
  };
}

// FLOPs of one layer with n tokens, width d and kernel size k.
export const FLOPS = {
  attention: (n, d) => 8 * n * d ** 2 + FLOPS.pairs(n, d),
  pairs: (n, d) => 4 * n ** 2 * d, // QKᵀ and A·V
  scores: (n, d) => 2 * n ** 2 * d, // QKᵀ alone
  mlp: (n, d) => 16 * n * d ** 2,
  dense: (n, d, k) => 2 * k ** 2 * n * d ** 2,
  depthwise: (n, d, k) => 2 * k ** 2 * n * d,
};

// FLOPs of the entry `part` of FLOPS, plus those of the MLP if `mlp` is "yes".
export const countedFlops = (part, mlp, n, { width, kernel }) =>
  FLOPS[part](n, width, kernel) + (mlp === "yes" ? FLOPS.mlp(n, width) : 0);

// The smallest number of tokens N at which attention costs more than the other part; each cost is a·N + b·N².
export function crossingOf(part, otherPart, { width, kernel }) {
  const [linear, square] = part === "attention" ? [8 * width ** 2, 4 * width] : [0, 2 * width];
  return Math.max(0, Math.floor((FLOPS[otherPart](1, width, kernel) - linear) / square)) + 1;
}

// Bytes that training stores for one layer.
export const BYTES = {
  attention: (n, { width, heads }) => BYTES.fused(n, { width }) + FLOAT_BYTES * heads * n ** 2,
  fused: (n, { width }) => FLOAT_BYTES * 6 * n * width, // a fused kernel never stores the weights
  convolution: (n, { width }) => FLOAT_BYTES * 2 * n * width,
};

const withUnit = (n, units) => {
  let place = 0;
  for (; n >= 1000 && place < units.length - 1; place++) n /= 1000;
  return `${place ? threeDigits(n) : Math.round(n)}${units[place]}`;
};

export const threeDigits = (x) => (x >= 1000 ? Math.round(x).toLocaleString("en") : String(Number(x.toPrecision(3))));
export const flopsText = (n) => withUnit(n, ["", " K", " M", " G", " T", " P"]);
export const bytesText = (n) => withUnit(n, [" B", " KB", " MB", " GB", " TB"]);
