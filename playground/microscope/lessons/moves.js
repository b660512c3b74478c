// Points of charts that follow a drawing's settings (playground/lessons/parts.py, Moves). A rule takes the settings and
// the numbers of chart and drawing, and gives what the point's trace has.

import { softmaxRow } from "../core/nine.js";

const THREE_DIGITS = { deviation: 2, entropy: 2, peak: 3 };
const QUANTITY_SAYS = {
  deviation: (value) => `scores lie ${value} apart`,
  entropy: (value) => `the row has an entropy of ${value} bits`,
  peak: (value) => `the largest weight is ${value}`,
  gradient: (value) => `the derivative by q·k has a norm of ${value}`,
};

export const MOVES = {
  row_of_bars({ dk, power }, { widths, scores, quantity }) {
    const value = softmaxRow(scores[widths.indexOf(dk)], dk ** -power)[quantity];
    const digits = THREE_DIGITS[quantity];
    const text = digits ? value.toFixed(digits) : value.toPrecision(2);
    const hovertemplate = `the row of the bars: ${QUANTITY_SAYS[quantity](text)}<extra></extra>`;
    return { x: [dk], y: [value], hovertemplate };
  },
};
