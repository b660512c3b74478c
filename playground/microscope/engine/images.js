// A picture as a model's input: the end of playground/pictures/images.py in JavaScript.

// As `fit` there. The grid [rows, columns] for a picture: its aspect in whole patches, about as many as the native
// grid has, never more, and at least one along each side.
export function gridFor([width, height], native) {
  const patches = Math.max(1, native[0]) * Math.max(1, native[1]);
  const aspect = Math.min(Math.max(height / width, 1 / patches), patches);
  const near = (side) =>
    Array.from({ length: Math.ceil(side) - Math.floor(side) + 3 }, (_, i) => Math.floor(side) - 1 + i).filter(
      (step) => step >= 1 && step <= patches,
    );
  const [tall, wide] = [near(Math.sqrt(patches * aspect)), near(Math.sqrt(patches / aspect))];
  const grids = [
    ...tall.flatMap((r) => [...wide, Math.floor(patches / r)].map((c) => [r, c])),
    ...wide.map((c) => [Math.floor(patches / c), c]),
  ].filter(([r, c]) => r * c <= patches);
  // distortion costs more than fewer patches
  const misfit = ([r, c]) => 2 * Math.abs(Math.log(r / c / aspect)) + Math.abs(Math.log((r * c) / patches));
  return grids.reduce((best, grid) => (misfit(grid) < misfit(best) ? grid : best));
}

// (H, W, 4) bytes of the displayed picture → (3, H, W) floats, normalised by `mean` and `std`.
export function modelInput(pixels, { mean, std }) {
  const count = pixels.length / 4;
  const out = new Float32Array(3 * count);
  for (let c = 0; c < 3; c++) {
    for (let i = 0; i < count; i++) out[c * count + i] = (pixels[4 * i + c] / 255 - mean[c]) / std[c];
  }
  return out;
}
