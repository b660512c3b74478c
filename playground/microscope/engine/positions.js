// Position encodings: playground/positions.py in JavaScript, as far as the engine needs it.

import { contributions } from "./images.js";

// Interpolates learned positions (N, D) from one grid to another, like an image; not those of the prefix tokens.
export function stretched(learned, width, old, [rows, columns]) {
  const prefix = learned.length - old[0] * old[1] * width;
  const tall = mixed(learned.subarray(prefix), 1, old[0], old[1] * width, rows); // (rows, old columns, D)
  const patches = mixed(tall, rows, old[1], width, columns); // (rows, columns, D)
  const all = new Float32Array(prefix + patches.length);
  all.set(learned.subarray(0, prefix));
  all.set(patches, prefix);
  return all;
}

// (outer, from, width) → (outer, to, width)
function mixed(values, outer, from, width, to) {
  if (from === to) return values;
  const out = new Float32Array(outer * to * width);
  contributions(from, to).forEach(({ first, weights }, place) => {
    for (let o = 0; o < outer; o++) {
      const at = (o * to + place) * width;
      for (let i = 0; i < weights.length; i++) {
        const source = (o * from + first + i) * width;
        const weight = weights[i];
        for (let x = 0; x < width; x++) out[at + x] += weight * values[source + x];
      }
    }
  });
  return out;
}
