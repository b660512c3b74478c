// Attention rollout (Abnar & Zuidema, 2020), as in playground/tracing.py: the product of (A + I)/2 over all layers, A
// averaged over heads.

import { someColumns, someRows } from "./tensors.js";
import { hearing, SOME } from "./vit.js";

// `layers`: {q, k: (h, N, d)} of all of them; `query`: a token, or null for all. Gives (N,) or (N, N) floats.
// `goesOn()` is asked between layers; null where it says no.
export async function rollout({ t, config }, { layers, grid, scale, cuts, query }, goesOn) {
  const mark = t.mark();
  const tokens = config.prefix.length + grid[0] * grid[1];
  const d = config.width / config.heads;
  const heard = cuts.length ? hearing(config, grid, cuts) : null;
  const start = query === null ? Array.from({ length: tokens }, (_, token) => token) : [query];
  const reached = t.put(new Float32Array(start.length * tokens), start.length, tokens);
  start.forEach((token, i) => {
    t.numbers(reached)[i * tokens + token] = 1;
  });
  for (let layer = layers.length - 1; layer >= 0; layer--) {
    const inner = t.mark();
    const spread = t.put(new Float32Array(start.length * tokens), start.length, tokens);
    for (let head = 0; head < config.heads; head++) {
      const its = (numbers) => t.put(numbers.subarray(head * tokens * d, (head + 1) * tokens * d), tokens, d);
      const [q, k] = [t.take(its(layers[layer].q), scale), its(layers[layer].k)];
      for (let first = 0; first < tokens; first += SOME) {
        const last = t.mark();
        const rows = t.linear(someRows(q, first, Math.min(SOME, tokens - first)), k); // (SOME, N)
        heard?.(t, rows, first, layer, head);
        t.softmax(rows);
        t.add(spread, t.product(someColumns(reached, first, rows.rows), rows));
        t.backTo(last);
      }
    }
    const [now, more] = [t.numbers(reached), t.numbers(spread)];
    for (let i = 0; i < now.length; i++) now[i] = now[i] / 2 + more[i] / (2 * config.heads);
    t.backTo(inner);
    if (!(await goesOn())) return null;
  }
  const found = t.numbers(reached).slice();
  t.backTo(mark);
  return found;
}
