// What the worker does, one thing at a time. Each layer leaves as soon as it exists; then it is heard whether more are
// wanted.
//
//   {what: "kernels", compiled, shared}          a WebAssembly.Module of kernels.c, and whether threads share it
//   {what: "network", model, weights}            bytes, as models/engine_file.py wrote them
//   {what: "pass", id, model, picture: {id, bitmap}, grid, scale: null | number, cuts: texts}
//     → {id, layer, q, k, features: float16 bits, norms, adds, engine: "WebAssembly" or "WebGPU"}, one after the other,
//       then {id, done: {logits, ms}}
//   {what: "rollout", id, model, layers: [{q, k: float16 bits}], grid, scale, cuts, query: a token or null}
//     → {id, done: {rollout: float16 bits}}
//   {what: "forget", model}                      lets go of a network
//   {what: "stop", id}                           → {id, stopped}
// What fails is answered with {id, error: a sentence}.
import { decodeHalves, readCuts } from "../core/core.js";
import { createThreads } from "./faster/threads.js";
import { createGpuPasses } from "./faster/webgpu.js";
import { displayed, modelInput } from "./images.js";
import { createTensors, someColumns, someRows } from "./tensors.js";
import { cutting, SOME, VisionTransformer } from "./vit.js";

// Attention rollout (Abnar & Zuidema, 2020), as in playground/tracing.py: the product of (A + I)/2 over all layers, A
// averaged over heads.

// `layers`: {q, k: (h, N, d)} of all of them; `query`: a token, or null for all. Gives (N,) or (N, N) floats.
// `goesOn()` is asked between layers; null where it says no.
export async function rollout({ t, config }, { layers, grid, scale, cuts, query }, goesOn) {
  const mark = t.mark();
  const tokens = config.prefix.length + grid[0] * grid[1];
  const d = config.width / config.heads;
  const at = cutting({ t, config }, grid, cuts);
  const start = query === null ? Array.from({ length: tokens }, (_, token) => token) : [query];
  const reached = t.put(new Float32Array(start.length * tokens), start.length, tokens);
  start.forEach((token, i) => {
    t.numbers(reached)[i * tokens + token] = 1;
  });
  for (let layer = layers.length - 1; layer >= 0; layer--) {
    const inner = t.mark();
    const heard = at(`layers.${layer}.attention.heard`, null);
    const spread = t.put(new Float32Array(start.length * tokens), start.length, tokens);
    for (let head = 0; head < config.heads; head++) {
      const its = (numbers) => t.put(numbers.subarray(head * tokens * d, (head + 1) * tokens * d), tokens, d);
      const [q, k] = [t.take(its(layers[layer].q), scale), its(layers[layer].k)];
      for (let first = 0; first < tokens; first += SOME) {
        const last = t.mark();
        const rows = t.linear(someRows(q, first, Math.min(SOME, tokens - first)), k); // (SOME, N)
        heard?.(t, rows, first, head);
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

const nextTurn = () => new Promise((go) => setTimeout(go)); // messages that have come are heard meanwhile

// `say(message, moved)`: sends it; `moved` are the buffers that go with it. `decode`: see images.js. `gpu`: see
// faster/webgpu.js.
export function createComputer(say, decode = displayed, gpu = createGpuPasses(globalThis.navigator?.gpu)) {
  const networks = new Map();
  const stopped = new Set();
  let kernels = null;
  let work = Promise.resolve(); // what is done, and what waits behind it
  let input = null; // of the last picture: another pass through it needs no decoding

  const goesOn = async (id) => {
    await nextTurn();
    return !stopped.has(id);
  };

  const does = {
    kernels(message) {
      kernels = message;
    },
    forget({ model }) {
      gpu.forget(networks.get(model));
      networks.get(model)?.t.free();
      networks.delete(model);
    },
    async network({ model, weights }) {
      const { compiled, shared } = kernels;
      const t = await createTensors(compiled, shared ? createThreads(compiled) : undefined);
      networks.set(model, new VisionTransformer(t, weights));
    },
    async pass({ id, model, picture, grid, scale, cuts }) {
      const vit = networks.get(model);
      const began = performance.now();
      const image = await inputOf(vit, picture, grid);
      const words = { prefix: vit.config.prefix, columns: grid[1] };
      const how = { scale: scale ?? vit.scale, at: cutting(vit, grid, readCuts(cuts, words)) };
      const there = cuts.length ? null : await gpu.at(vit).catch(gpu.giveUp); // cuts are made in JavaScript
      const next = { layer: 0 }; // to be said
      const done = (logits) => say({ id, done: { logits, ms: performance.now() - began } });
      if (there)
        try {
          const passed = await walked(id, vit.t, there, [image, grid, how], next);
          return passed && done(passed.logits);
        } catch {
          await gpu.giveUp(); // and the rest comes from here
        }
      const passed = await walked(id, vit.t, vit, [image, grid, how], next);
      if (!passed) return;
      done(passed.logits);
      await gpu.measure(vit, image, grid);
    },
    async rollout({ id, model, layers, grid, scale, cuts, query }) {
      const vit = networks.get(model);
      const words = { prefix: vit.config.prefix, columns: grid[1] };
      const held = layers.map(({ q, k }) => ({ q: decodeHalves(q), k: decodeHalves(k) }));
      const asked = { layers: held, grid, scale: scale ?? vit.scale, cuts: readCuts(cuts, words), query };
      const found = await rollout(vit, asked, () => goesOn(id));
      if (!found) return say({ id, stopped: true });
      const halves = vit.t.toHalves(found);
      say({ id, done: { rollout: halves } }, [halves.buffer]);
    },
  };

  // Says each layer from the next one on; null where it is to stop.
  async function walked(id, { toHalves }, vit, how, next) {
    const layers = vit.layers(...how);
    for (;;) {
      if (!(await goesOn(id))) return void say({ id, stopped: true });
      const { value, done } = await layers.next();
      if (done) return { logits: value };
      const { layer, norms, adds } = value;
      if (layer < next.layer) continue;
      next.layer = layer + 1;
      const [q, k, features] = [value.q, value.k, value.features].map(toHalves);
      const { engine } = vit.t;
      say({ id, layer, q, k, norms, adds, features, engine }, [q.buffer, k.buffer, norms.buffer, features.buffer]);
    }
  }

  async function inputOf({ t, config }, picture, grid) {
    const { mean, std, patch_size: side, interpolation } = config;
    const key = [picture.id, mean, std, side, interpolation, grid].join(" ");
    if (input?.key !== key) {
      const [height, width] = grid.map((patches) => patches * side);
      input = { key, numbers: modelInput(await decode(t, picture.bitmap, height, width, interpolation), config) };
    } else picture.bitmap.close();
    return input.numbers;
  }

  return {
    hear(message) {
      if (message.what === "stop") return stopped.add(message.id);
      work = work
        .then(() => does[message.what](message))
        .catch((error) => say({ id: message.id ?? null, model: message.model, error: String(error?.message ?? error) }))
        .finally(() => stopped.delete(message.id));
    },
  };
}
