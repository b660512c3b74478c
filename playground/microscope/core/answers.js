// Computes the rows of all heads of a pack, for one layer, query, scale and way to look (see ways.js). Buffers are
// allocated once, so that moving the cursor allocates nothing. No DOM.
import { ownDomain } from "./colours.js";
import {
  columnInto,
  columnScoresInto,
  dot,
  holds,
  holdsAll,
  holdsHead,
  layerOf,
  normalisersInto,
  rowInto,
  rowOf,
  scoresInto,
  silence,
  softmaxInPlace,
} from "./core.js";
import { exposure, exposureOfAll } from "./light.js";
import { MADE_OF_WEIGHTS, WAYS } from "./ways.js";

/** @param {Pack} pack */
export function createAnswers(pack) {
  const size = pack.heads * pack.tokens;
  const weights = new Float32Array(size);
  return {
    pack,
    weights, // all printed numbers are read from these
    values: weights, // the values on the picture: `weights`, `weighted` or `scores`
    weighted: new Float32Array(size),
    scores: new Float32Array(size),
    entropies: new Float32Array(pack.heads), // the entropy of the head's row, in bits
    totals: new Float32Array(pack.heads), // the sum of the token's column
    ready: new Uint8Array(pack.heads), // 1 once the head is computed; a column needs the layer's normalisers first
    normalisers: new Map(), //               layer → {values, done}
    normalisersScale: NaN,
    ranges: new Map(), //                    layer → {low, high} of its raw scores at scale 1
    scratch: new Float32Array(pack.tokens),
    cell: new Float32Array(pack.tokens),
  };
}

// Computes weights, values and entropies (or, for a column, totals) of every head, or of one. Returns false while the
// layer is missing.
export function answerLayer(answers, layer, token, scale, way, direction, onlyHead = null) {
  const { pack, weights, weighted, scores } = answers;
  if (!holds(pack, layer)) return false;
  const { norms } = layerOf(pack, layer);
  const { raw: isRaw } = WAYS[way];
  const makeFromWeights = makerOf(way, norms);
  answers.values = makeFromWeights ? weighted : isRaw ? scores : weights;
  for (let head = onlyHead ?? 0; head <= (onlyHead ?? pack.heads - 1); head++) {
    const offset = head * pack.tokens;
    if (!holdsHead(pack, layer, head)) {
      for (const values of [weights, weighted, scores]) values.fill(0, offset, offset + pack.tokens);
      answers.ready[head] = 0;
      continue;
    }
    if (direction === "row") {
      const largest = scoresInto(weights, offset, pack, layer, head, token, scale);
      if (isRaw) for (let j = offset; j < offset + pack.tokens; j++) scores[j] = weights[j];
      const largestHeard = silence(weights, offset, pack, layer, head, token, largest);
      answers.entropies[head] = softmaxInPlace(weights, offset, pack.tokens, largestHeard);
      answers.ready[head] = 1;
      makeFromWeights?.(weighted, offset, weights, pack.tokens, norms, offset, 1);
    } else {
      const sums = normalisersOf(answers, layer, scale);
      answers.ready[head] = sums.done[head] === pack.tokens ? 1 : 0;
      if (isRaw) columnScoresInto(scores, offset, pack, layer, head, token, scale);
      if (!answers.ready[head]) {
        weights.fill(0, offset, offset + pack.tokens);
        weighted.fill(0, offset, offset + pack.tokens);
        continue;
      }
      answers.totals[head] = columnInto(weights, offset, pack, layer, head, token, scale, sums.values, offset);
      makeFromWeights?.(weighted, offset, weights, pack.tokens, norms, offset + token, 0);
    }
  }
  return true;
}

// The function that computes this way's values from weights; null if there is none, or if the pack lacks the norms.
const makerOf = (way, norms) => (WAYS[way].pack && !norms ? null : MADE_OF_WEIGHTS[way]);

// Computes one head of any layer, for the wall. Returns the buffer with its values, or null while they are missing.
export function answerCell(answers, layer, head, token, scale, way, direction) {
  const { pack, cell } = answers;
  if (!holdsHead(pack, layer, head)) return null;
  const { norms } = layerOf(pack, layer);
  const offset = head * pack.tokens;
  if (WAYS[way].raw) {
    if (direction === "row") scoresInto(cell, 0, pack, layer, head, token, scale);
    else columnScoresInto(cell, 0, pack, layer, head, token, scale);
    return cell;
  }
  if (direction === "row") rowInto(cell, 0, pack, layer, head, token, scale);
  else {
    const sums = normalisersOf(answers, layer, scale);
    if (sums.done[head] < pack.tokens) return null;
    columnInto(cell, 0, pack, layer, head, token, scale, sums.values, offset);
  }
  const isRow = direction === "row";
  makerOf(way, norms)?.(cell, 0, cell, pack.tokens, norms, isRow ? offset : offset + token, isRow ? 1 : 0);
  return cell;
}

// -------------------------------------------------------------------------------------- columns need every row's sum

function normalisersOf(answers, layer, scale) {
  if (answers.normalisersScale !== scale) {
    answers.normalisers.clear();
    answers.normalisersScale = scale;
  }
  let sums = answers.normalisers.get(layer);
  if (!sums) {
    const { heads, tokens } = answers.pack;
    sums = { values: new Float64Array(heads * tokens), done: new Int32Array(heads) };
    answers.normalisers.set(layer, sums);
  }
  return sums;
}

// Computes normalisers of these layers, those of head `firstHead` first. Stops after `milliseconds`, because the N²
// scores of a head take 3 ms at 197 tokens and a second at 4,097. Returns the finished share, 1 for all.
export function prepareColumns(answers, layers, firstHead, scale, milliseconds) {
  const { pack, scratch } = answers;
  const deadline = performance.now() + milliseconds;
  const step = Math.max(1, Math.round(40000 / pack.tokens));
  let rowsDone = 0,
    rowsToDo = 0;
  for (const layer of layers) {
    if (!holds(pack, layer)) continue;
    const sums = normalisersOf(answers, layer, scale);
    for (let n = 0; n < pack.heads; n++) {
      const head = n === 0 ? firstHead : n <= firstHead ? n - 1 : n;
      if (!holdsHead(pack, layer, head)) continue;
      while (sums.done[head] < pack.tokens && performance.now() < deadline) {
        const from = sums.done[head];
        const to = Math.min(pack.tokens, from + step);
        normalisersInto(sums.values, head * pack.tokens, pack, layer, head, scale, from, to, scratch);
        sums.done[head] = to;
      }
      rowsDone += sums.done[head];
      rowsToDo += pack.tokens;
    }
  }
  return rowsToDo ? rowsDone / rowsToDo : 1;
}

// ----------------------------------------------------------------------------------------------------- colour domains

// The range of a layer's raw scores at scale 1, estimated from two dozen queries; the colours of all heads cover this
// range.
function scoreRange(answers, layer) {
  if (answers.ranges.has(layer)) return answers.ranges.get(layer);
  if (!holdsAll(answers.pack, layer)) return { low: -1, high: 1 }; // arbitrary, until all heads have arrived
  const { pack, scratch } = answers;
  let low = Infinity,
    high = -Infinity;
  const stride = Math.max(1, Math.floor(pack.tokens / 24));
  for (let head = 0; head < pack.heads; head++) {
    for (let token = 0; token < pack.tokens; token += stride) {
      high = Math.max(high, scoresInto(scratch, 0, pack, layer, head, token, 1));
      for (let j = 0; j < pack.tokens; j++) low = Math.min(low, scratch[j]);
    }
  }
  answers.ranges.set(layer, { low, high });
  return answers.ranges.get(layer);
}

// The colour domain that compared pictures share. pictures: [{values, from, to}]; values[from … to) belong to patches.
export function comparedDomain(pictures, way, ceiling) {
  if (WAYS[way].spread) return domainOfBoth(pictures);
  if (ceiling !== "auto") return domainTo(ceiling);
  const joinedValues = new Float32Array(pictures.reduce((count, { from, to }) => count + to - from, 0));
  let offset = 0;
  for (const { values, from, to } of pictures) {
    joinedValues.set(values.subarray(from, to), offset);
    offset += to - from;
  }
  return domainTo(exposure(joinedValues, 0, joinedValues.length));
}

// A domain from the smallest to the largest value of both pictures.
export function domainOfBoth(pictures) {
  const domains = pictures.map(({ values, from, to }) => ownDomain(values, from, to, true));
  return { low: Math.min(...domains.map(({ low }) => low)), high: Math.max(...domains.map(({ high }) => high)) };
}

const domainTo = (high) => ({ low: 0, high });

// One exposure for all heads of a layer, so that their colours can be compared.
export function sharedDomain(answers, layer, scale, way, ceiling) {
  const { pack, values } = answers;
  if (WAYS[way].raw && holds(pack, layer)) {
    const range = scoreRange(answers, layer);
    // At scale 0 all scores are 0; the range stays above 0, because values are divided by it.
    return { low: Math.min(range.low * scale, -1e-6), high: Math.max(range.high * scale, 1e-6) };
  }
  const patchStarts = Array.from({ length: pack.heads }, (_, head) => head * pack.tokens + pack.prefixCount);
  if (WAYS[way].spread) return domainOfBoth(patchStarts.map((from) => ({ values, from, to: from + pack.patches })));
  return domainTo(ceiling === "auto" ? exposureOfAll(values, patchStarts, pack.patches) : ceiling);
}

// The colour domain of one picture: its highest value is this picture's exposure, or the view's `ceiling`.
/** @param {any} values @param {number} offset @param {Pick<Pack, "prefixCount" | "tokens">} pack */
export function pictureDomain(values, offset, pack, way, ceiling) {
  const from = offset + pack.prefixCount,
    to = offset + pack.tokens;
  if (WAYS[way].spread) return ownDomain(values, from, to, true);
  return domainTo(ceiling === "auto" ? exposure(values, from, to) : ceiling);
}

// Below: computes one weight step by step, from q and k to the key's share of the row.

// Returns {q, k, products: `dim` numbers each; dot: q·k, score: dot × scale, exponential: e^(score − the row's largest
// score), total: the sum of all tokens' exponentials, weight, rank: 1 for the row's largest weight, of: tokens}
/** @param {Pack} pack */
export function pairOf(pack, layer, head, query, key, scale) {
  const layerData = layerOf(pack, layer);
  const { dim, tokens } = pack;
  const vector = (values, token) => values.slice((head * tokens + token) * dim, (head * tokens + token + 1) * dim);
  const q = vector(layerData.q, query),
    k = vector(layerData.k, key);
  const products = q.map((x, i) => x * k[i]);
  const product = dotOf(layerData, head, query, key, pack);
  let largest = -Infinity;
  for (let j = 0; j < tokens; j++) largest = Math.max(largest, dotOf(layerData, head, query, j, pack) * scale);
  let total = 0;
  for (let j = 0; j < tokens; j++) total += Math.exp(dotOf(layerData, head, query, j, pack) * scale - largest);
  const score = product * scale;
  const exponential = Math.exp(score - largest);
  return {
    q,
    k,
    products,
    dot: product,
    score,
    largest,
    exponential,
    total,
    weight: exponential / total,
    rank: rankOf(rowOf(pack, layer, head, query, scale), key),
    of: tokens,
  };
}

const dotOf = ({ q, k }, head, query, key, { dim, tokens }) =>
  dot(q, (head * tokens + query) * dim, k, (head * tokens + key) * dim, dim);

// scale · q·k of one pair.
/** @param {Pack} pack */
export const scoreOf = (pack, layer, head, query, key, scale) =>
  dotOf(layerOf(pack, layer), head, query, key, pack) * scale;

// The rank of a token's weight in a row: 1 for the largest. Equal weights share the better rank.
export function rankOf(row, token, offset = 0, count = row.length - offset) {
  let rank = 1;
  for (let j = offset; j < offset + count; j++) if (row[j] > row[offset + token]) rank++;
  return rank;
}
