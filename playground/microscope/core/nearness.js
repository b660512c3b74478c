// A filter without a network: what colour and nearness alone would light. The same lines as in
// playground/analysis/colour_nearness.py; tests/analysis/test_colour_nearness.py compares the two. No DOM in here.

const COLOUR_WIDTH = 0.03; // of red, green and blue from 0 to 1
const PLACE_WIDTH = 0.08; // of the picture's longer side
const MUCH = 0.5; // a head's row that has more than this in common with the filter's is called nearly the same

// (patches × 3) from 0 to 1, of a picture's pixels, four bytes each, whose sides the grid divides.
export function meanColours(pixels, width, height, rows, columns) {
  const high = height / rows,
    wide = width / columns;
  const out = new Float32Array(3 * rows * columns);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const patch = Math.floor(y / high) * columns + Math.floor(x / wide);
      for (let c = 0; c < 3; c++) out[3 * patch + c] += pixels[4 * (y * width + x) + c];
    }
  }
  for (let i = 0; i < out.length; i++) out[i] /= 255 * high * wide;
  return out;
}

// Writes weight ∝ exp(−Δcolour² / 2a² − Δplace² / 2b²), the patch itself left out, to out[at …]. It sums to 1.
export function nearnessInto(out, at, colours, rows, columns, patch) {
  const side = Math.max(rows, columns);
  const y = Math.floor(patch / columns),
    x = patch % columns;
  let largest = -Infinity;
  for (let j = 0; j < rows * columns; j++) {
    let colour = 0;
    for (let c = 0; c < 3; c++) colour += (colours[3 * patch + c] - colours[3 * j + c]) ** 2;
    const place = ((Math.floor(j / columns) - y) / side) ** 2 + (((j % columns) - x) / side) ** 2;
    out[at + j] = -colour / (2 * COLOUR_WIDTH ** 2) - place / (2 * PLACE_WIDTH ** 2);
    if (j !== patch && out[at + j] > largest) largest = out[at + j];
  }
  let total = 0;
  for (let j = 0; j < rows * columns; j++) {
    out[at + j] = j === patch ? 0 : Math.exp(out[at + j] - largest);
    total += out[at + j];
  }
  for (let j = 0; j < rows * columns; j++) out[at + j] /= total;
  return out;
}

// What a head's row of patches, the patch itself left out, has in common with the filter's, from 0 to 1.
export function inCommon(row, at, filtered, patch) {
  let total = 0;
  for (let j = 0; j < filtered.length; j++) if (j !== patch) total += row[at + j];
  let shared = 0;
  for (let j = 0; j < filtered.length; j++)
    if (j !== patch) shared += Math.min(row[at + j] / Math.max(total, 1e-12), filtered[j]);
  return shared;
}

export const isMuch = (shared) => shared >= MUCH;
