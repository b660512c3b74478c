// Converts a patch's number (row · columns + column) into its place and back, and a patch's pixels into a vector.

export const patchText = (patch, columns) => `${Math.floor(patch / columns)},${patch % columns}`;

// The number of the patch at "row,column"; for an empty text, of the middle patch.
export function patchFrom(text, rows, columns) {
  const [row, column] = text ? text.split(",").map(Number) : [rows >> 1, columns >> 1];
  return Math.min(row, rows - 1) * columns + Math.min(column, columns - 1);
}

// The patch at a point whose x and y are shares of width and height, from 0 to 1.
export function patchAt(x, y, rows, columns) {
  const cellOf = (share, count) => Math.min(count - 1, Math.max(0, Math.floor(share * count)));
  return cellOf(y, rows) * columns + cellOf(x, columns);
}

// The distance between two patches in rows or in columns, whichever is larger.
export const patchDistance = (patch, otherPatch, columns) =>
  Math.max(
    Math.abs(Math.floor(patch / columns) - Math.floor(otherPatch / columns)),
    Math.abs((patch % columns) - (otherPatch % columns)),
  );

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// The patch that an arrow key leads to, within the grid; −1 for any other key.
export function patchAfterKey(key, patch, rows, columns) {
  const step = ARROWS[key];
  if (!step) return -1;
  const row = Math.min(rows - 1, Math.max(0, Math.floor(patch / columns) + step[0]));
  const column = Math.min(columns - 1, Math.max(0, (patch % columns) + step[1]));
  return row * columns + column;
}

// What a patch has heard of after layers of attention in windows of window × window patches: a rectangle, [top, left,
// bottom, right]. If they shift, the windows of every second layer begin half a window earlier, cut at the edges.
export function heardInWindows(patch, [rows, columns], window, layers, shifts) {
  const spread = (place, count) => {
    let [from, to] = [place, place + 1];
    for (let layer = layers; layer > 0; layer--) {
      const start = shifts && layer % 2 === 0 ? window / 2 - window : 0;
      from = Math.max(0, from - ((from - start) % window));
      to = Math.min(count, to + window - 1 - ((to - 1 - start) % window));
    }
    return [from, to];
  };
  const [[top, bottom], [left, right]] = [spread(Math.floor(patch / columns), rows), spread(patch % columns, columns)];
  return [top, left, bottom, right];
}

// Below: computes one number of a token from its patch: the patch as a vector, times a learned filter, plus a bias.
// `cut` is a picture in patches: {size: [height, width], patch, grid: [rows, columns], own: the patch side that the
// filters were trained for, pixels, mean, std, filters, stretch, bias}, see lessons/patches.js.

// The patch as the model's input: all red, then all green, then all blue values, normalised by `mean` and `std`.
export function patchVector(cut, place) {
  const { size, patch, grid, pixels, mean, std } = cut;
  const top = Math.floor(place / grid[1]) * patch,
    left = (place % grid[1]) * patch;
  const vector = new Float32Array(3 * patch * patch);
  for (let channel = 0, i = 0; channel < 3; channel++) {
    for (let y = 0; y < patch; y++) {
      for (let x = 0; x < patch; x++, i++)
        vector[i] = (pixels[((top + y) * size[1] + left + x) * 3 + channel] / 255 - mean[channel]) / std[channel];
    }
  }
  return vector;
}

// The filter that computes one number of the token. It was trained on patches of own × own pixels and is resized to
// this patch's side: stretch · filter · stretchᵀ, for each colour.
export function patchFilter(cut, number) {
  const { own: filterSide, patch, stretch, filters } = cut;
  const filter = new Float32Array(3 * patch * patch),
    stretchedRows = new Float32Array(patch * filterSide);
  for (let channel = 0; channel < 3; channel++) {
    const start = (number * 3 + channel) * filterSide * filterSide;
    stretchedRows.fill(0);
    for (let y = 0; y < patch; y++)
      for (let i = 0; i < filterSide; i++)
        for (let j = 0; j < filterSide; j++)
          stretchedRows[y * filterSide + j] += stretch[y * filterSide + i] * filters[start + i * filterSide + j];
    for (let y = 0; y < patch; y++) {
      for (let x = 0; x < patch; x++) {
        let sum = 0;
        for (let j = 0; j < filterSide; j++) sum += stretchedRows[y * filterSide + j] * stretch[x * filterSide + j];
        filter[channel * patch * patch + y * patch + x] = sum;
      }
    }
  }
  return filter;
}

// The grid [rows, columns] for a picture, as `fit` of playground/pictures/images.py computes it. The grid has about the
// picture's aspect, and about as many patches as the native grid but never more.
/** @param {number[]} size */
export function gridFor([width, height], nativeGrid) {
  const patches = Math.max(1, nativeGrid[0]) * Math.max(1, nativeGrid[1]);
  const aspect = Math.min(Math.max(height / width, 1 / patches), patches);
  const countsNear = (side) =>
    Array.from({ length: Math.ceil(side) - Math.floor(side) + 3 }, (_, i) => Math.floor(side) - 1 + i).filter(
      (candidate) => candidate >= 1 && candidate <= patches,
    );
  const [rowCounts, columnCounts] = [countsNear(Math.sqrt(patches * aspect)), countsNear(Math.sqrt(patches / aspect))];
  const grids = [
    ...rowCounts.flatMap((r) => [...columnCounts, Math.floor(patches / r)].map((c) => [r, c])),
    ...columnCounts.map((c) => [Math.floor(patches / c), c]),
  ].filter(([r, c]) => r * c <= patches);
  // the cost: distortion counts more than missing patches
  /** @param {number[]} grid */
  const misfit = ([r, c]) => 2 * Math.abs(Math.log(r / c / aspect)) + Math.abs(Math.log((r * c) / patches));
  return grids.reduce((best, grid) => (misfit(grid) < misfit(best) ? grid : best));
}
