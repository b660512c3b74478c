// Lengths that stand apart. The bound is Tukey's for what is far out: the upper quartile and three times the distance
// between the quartiles. The twin of `bound` in playground/analysis/outliers.py. No DOM in here.

// Of values[from … to].
export function boundOf(values, from, to) {
  const sorted = Float64Array.from(values.subarray(from, to)).sort();
  const quantile = (q) => {
    const at = q * (sorted.length - 1);
    const below = Math.floor(at);
    const above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
  };
  const [low, high] = [quantile(0.25), quantile(0.75)];
  return high + 3 * (high - low);
}

// {bound, count: of those beyond it, domain: the range of the others}
export function withoutOutliers(values, from, to) {
  const bound = boundOf(values, from, to);
  const within = values.subarray(from, to).filter((value) => value <= bound);
  const low = within.reduce((a, b) => Math.min(a, b), Infinity);
  const high = within.reduce((a, b) => Math.max(a, b), -Infinity);
  return {
    bound,
    count: to - from - within.length,
    domain: { low, high: high > low ? high : low + 1, log: false },
  };
}
