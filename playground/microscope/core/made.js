// What the browser makes of a row or a column of weights, for the ways to look that are made of those: one function
// each, called for every head in every frame. No DOM in here.
//   (out, at, weights, count, norms, from, step): weights[at …] become out[at …]; the length of the value of token j of
//   a row is norms[from + step * j], and a column has one length, with a step of 0.

export const MADE_OF_WEIGHTS = {
  value(out, at, weights, count, norms, from, step) {
    for (let j = 0; j < count; j++) out[at + j] = weights[at + j] * norms[from + step * j];
  },
};
