// What the story says of one patch in one head, in numbers, all of it from the pack of the picture on view. No DOM.
import { pairOf, scoreOf } from "../core/answers.js";
import { holdsAll, layerOf, rowInto, wholeLayers } from "../core/core.js";
import { outsideNine } from "../see/says.js";

const RING = 1; // squares: where a 3×3 convolution looks
const SAME_PLACE = 2; // squares
export const TOLD = 5; // tokens that are told one by one
export const PRODUCTS = 16; // of a score, drawn

export function rowOfPatch(pack, layer, head, patch, scale = pack.scale) {
  const row = new Float32Array(pack.tokens);
  rowInto(row, 0, pack, layer, head, pack.prefixCount + patch, scale);
  return row;
}

export function distanceOf(one, other, { columns }) {
  const down = Math.abs(Math.floor(one / columns) - Math.floor(other / columns));
  return Math.max(down, Math.abs((one % columns) - (other % columns)));
}

// The patch beyond the 3×3 neighbourhood that gets most: the story asks how that came about.
export function partnerOf(row, patch, pack) {
  let best = -1;
  for (let other = 0; other < pack.patches; other++) {
    if (distanceOf(patch, other, pack) <= RING) continue;
    if (best < 0 || row[pack.prefixCount + other] > row[pack.prefixCount + best]) best = other;
  }
  return best;
}

// Null while the story's layer is on its way; `layers` is null while another one is. `side`: pixels of a patch, null
// where nobody says it.
export function factsOfStory(pack, { layer, head, patch }, side) {
  if (!holdsAll(pack, layer)) return null;
  const whole = wholeLayers(pack);
  const row = rowOfPatch(pack, layer, head, patch);
  const partner = partnerOf(row, patch, pack);
  const share = row[pack.prefixCount + partner];
  const [asks, hears] = [pack.prefixCount + patch, pack.prefixCount + partner];
  const pair = pairOf(pack, layer, head, asks, hears, pack.scale);
  const beside = patch % pack.columns ? patch - 1 : patch + 1;
  const loud = rowOfPatch(pack, layer, head, patch, 1);
  const placed = [...row.keys()].filter((token) => token >= pack.prefixCount);
  const best = placed.reduce((most, token) => (row[token] > row[most] ? token : most)) - pack.prefixCount;
  return {
    ...{ pack, layer, head, patch, partner, row, share, pair, beside, loud, side, best },
    distance: distanceOf(patch, partner, pack),
    leads: best === partner, // it is the strongest of all patches
    besideScore: scoreOf(pack, layer, head, asks, pack.prefixCount + beside, pack.scale),
    outside: outsideNine(row, 0, pack, patch),
    loudest: Math.max(...loud),
    largest: Math.max(...row),
    handed: handedOver(pack, layer, head, row),
    heads: Array.from({ length: pack.heads }, (_, one) => headOf(pack, layer, one, patch, partner)),
    layers: whole.length < pack.layers ? null : whole.map((one) => mostInLayer(pack, one, patch, partner)),
    pairs: pack.tokens ** 2,
    twice: ((4 * pack.patches + pack.prefixCount) / pack.tokens) ** 2,
  };
}

// [{token, share, length, product}] of the tokens that get most; lengths as shares of the longest of all.
function handedOver(pack, layer, head, row) {
  const { norms } = layerOf(pack, layer);
  if (!norms) return [];
  const lengths = norms.subarray(head * pack.tokens, (head + 1) * pack.tokens);
  const longest = Math.max(...lengths);
  const order = [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, TOLD);
  return order.map((token) => {
    const length = lengths[token] / longest;
    return { token, share: row[token], length, product: row[token] * length };
  });
}

// Whether this head of the layer gives most of what it gives to patches to about the same place.
function headOf(pack, layer, head, patch, partner) {
  const row = rowOfPatch(pack, layer, head, patch);
  let best = 0;
  for (let other = 1; other < pack.patches; other++)
    if (row[pack.prefixCount + other] > row[pack.prefixCount + best]) best = other;
  return { head, row, best, agrees: distanceOf(best, partner, pack) <= SAME_PLACE };
}

// The most that any head of a layer gives to the partner.
function mostInLayer(pack, layer, patch, partner) {
  let most = 0;
  for (let head = 0; head < pack.heads; head++)
    most = Math.max(most, rowOfPatch(pack, layer, head, patch)[pack.prefixCount + partner]);
  return most;
}

// The first layer in which a head gives the partner at least half as much as the story's own head does.
export const firstLayer = ({ layers, share }) => layers.findIndex((most) => most >= share / 2);

// How many patches stacked 3×3 convolutions hear after so many layers, where the picture has room.
export const heardAfter = (layers) => (2 * layers + 1) ** 2;
