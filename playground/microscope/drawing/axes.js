// Axes of the lessons' charts: positions of numbers, numbers at ticks, and lines as paths of an SVG. No DOM.

// An axis, which converts numbers to pixels and back. The ends of a logarithmic axis must be positive.
export function axis(low, high, from, to, log = false) {
  const [lowEnd, highEnd] = log ? [Math.log10(low), Math.log10(high)] : [low, high];
  return {
    at: (x) => from + (((log ? Math.log10(Math.max(x, low)) : x) - lowEnd) / (highEnd - lowEnd)) * (to - from),
    value: (pixel) => {
      const x = lowEnd + (Math.min(1, Math.max(0, (pixel - from) / (to - from))) || 0) * (highEnd - lowEnd);
      return log ? 10 ** x : x;
    },
  };
}

export function ticks(low, high, log = false, maximum = 6) {
  if (log) {
    const marks = [];
    for (let p = Math.ceil(Math.log10(low) - 1e-9); p <= Math.log10(high) + 1e-9; p++) marks.push(10 ** p);
    return marks.length > maximum ? marks.filter((_, i) => i % Math.ceil(marks.length / maximum) === 0) : marks;
  }
  const roughStep = (high - low) / maximum,
    power = 10 ** Math.floor(Math.log10(roughStep)),
    step = [1, 2, 5, 10].find((n) => n * power >= roughStep) * power,
    marks = [];
  for (let x = Math.ceil(low / step) * step; x <= high + 1e-9 * step; x += step) marks.push(Number(x.toPrecision(12)));
  return marks;
}

export const pathOf = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
