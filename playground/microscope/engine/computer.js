// Runs jobs one at a time. After each layer it reads the waiting messages, which may stop the job.
// Messages and their answers:
//
//   {what: "kernels", compiled}                  a WebAssembly.Module of kernels.c
//   {what: "network", model, weights}            weights: bytes that models/engine_file.py wrote
//   {what: "pass", id, model, picture: {id, width, height}, grid, scale: null | number, cuts: texts}
//     → {id, layer, q, k, features: float16 bits, norms}, one after the other, then {id, done: {logits, ms}}
//   {what: "rollout", id, model, layers: [{q, k: float16 bits}], grid, scale, cuts, query: a token or null}
//     → {id, done: {rollout: float16 bits}}
//   {what: "inside", id, model, picture, grid, scale, cuts, place: {layer, head, token}}
//     → {id, done: {bias, number, arrays: {name: float16 bits}}}, see inside.js
//   {what: "stop", id}                           → {id, stopped}
//   → {id, rows: [y, count, used]} asks for rows of a job's picture, see shell/readable.js; the answer is
//   {what: "rows", id, pixels, order} or {what: "rows", id, trouble: a sentence}
// A job that fails is answered with {id, error: a sentence}.
import { decodeHalves, readCuts } from "../core/core.js";
import { modelInput, resizedPicture } from "./images.js";
import { inside } from "./inside.js";
import { createTensors, someColumns, someRows } from "./tensors.js";
import { cutting, MOST_QUERIES, VisionTransformer } from "./vit.js";

// Attention rollout (Abnar & Zuidema, 2020), as in playground/tracing.py: the product of (A + I)/2 over all layers, A
// averaged over heads.

// `layers`: {q, k: (h, N, d)} of all layers; `query`: a token, or null for all. Returns (N,) or (N, N) floats, or null
// once `mayContinue()`, called between layers, is false.
export async function rollout({ t, config }, { layers, grid, scale, cuts, query }, mayContinue) {
  const mark = t.mark();
  const tokens = config.prefix.length + grid[0] * grid[1];
  const d = config.width / config.heads;
  const changeAt = cutting({ t, config }, grid, cuts);
  const queries = query === null ? Array.from({ length: tokens }, (_, token) => token) : [query];
  const flows = t.put(new Float32Array(queries.length * tokens), queries.length, tokens);
  queries.forEach((token, i) => {
    t.numbers(flows)[i * tokens + token] = 1;
  });
  for (let layer = layers.length - 1; layer >= 0; layer--) {
    const layerMark = t.mark();
    const silenceScores = changeAt(`layers.${layer}.attention.heard`, null);
    const nextFlows = t.put(new Float32Array(queries.length * tokens), queries.length, tokens);
    for (let head = 0; head < config.heads; head++) {
      const rowsOfHead = (numbers) => t.put(numbers.subarray(head * tokens * d, (head + 1) * tokens * d), tokens, d);
      const [q, k] = [t.take(rowsOfHead(layers[layer].q), scale), rowsOfHead(layers[layer].k)];
      for (let first = 0; first < tokens; first += MOST_QUERIES) {
        const mark = t.mark();
        const rows = t.linear(someRows(q, first, Math.min(MOST_QUERIES, tokens - first)), k);
        silenceScores?.(t, rows, first, head);
        t.softmax(rows);
        t.add(nextFlows, t.product(someColumns(flows, first, rows.rows), rows));
        t.backTo(mark);
      }
    }
    const [current, added] = [t.numbers(flows), t.numbers(nextFlows)];
    for (let i = 0; i < current.length; i++) current[i] = current[i] / 2 + added[i] / (2 * config.heads);
    t.backTo(layerMark);
    if (!(await mayContinue())) return null;
  }
  const result = t.numbers(flows).slice();
  t.backTo(mark);
  return result;
}

const nextTurn = () => new Promise((resolve) => setTimeout(resolve)); // lets messages arrive

// send(message, transfer): `transfer` lists buffers to hand over. `resize`: see images.js.
export function createComputer(send, resize = resizedPicture) {
  const networks = new Map();
  const stoppedIds = new Set();
  let awaitedRows = null; // {id, resolve, reject} of the running job
  let kernels = null;
  let queue = Promise.resolve(); // the running job, and those waiting behind it
  let input = null; // the model's input for the last picture, for further passes

  const mayContinue = async (id) => {
    await nextTurn();
    return !stoppedIds.has(id);
  };

  const rowsFor = (id) => (y, count, used) =>
    new Promise((resolve, reject) => {
      if (stoppedIds.has(id)) return reject(new Error("stopped"));
      awaitedRows = { id, resolve, reject };
      send({ id, rows: [y, count, used] }, used && [used]);
    });

  const handlers = {
    kernels({ compiled }) {
      kernels = compiled;
    },
    async network({ model, weights }) {
      networks.set(model, new VisionTransformer(await createTensors(kernels), weights));
    },
    async pass({ id, model, picture, grid, scale, cuts }) {
      const startTime = performance.now();
      const { vit, passOf } = await passFor({ id, model, picture, grid, scale, cuts });
      const layers = passOf();
      for (;;) {
        if (!(await mayContinue(id))) return send({ id, stopped: true });
        const { value, done } = layers.next();
        if (done) return send({ id, done: { logits: value, ms: performance.now() - startTime } });
        const { layer, norms } = value;
        const [q, k, features] = [value.q, value.k, value.features].map(vit.t.toHalves);
        send({ id, layer, q, k, norms, features }, [q.buffer, k.buffer, norms.buffer, features.buffer]);
      }
    },
    async inside({ id, place, model, picture, grid, scale, cuts }) {
      const { vit, passOf } = await passFor({ id, model, picture, grid, scale, cuts });
      const { arrays, ...numbers } = inside(vit, passOf, place);
      const halves = Object.fromEntries(Object.entries(arrays).map(([name, x]) => [name, vit.t.toHalves(x)]));
      send({ id, done: { ...numbers, arrays: halves } });
    },
    async rollout({ id, model, layers, grid, scale, cuts, query }) {
      const vit = networks.get(model);
      const layout = { prefix: vit.config.prefix, columns: grid[1] };
      const decoded = layers.map(({ q, k }) => ({ q: decodeHalves(q), k: decodeHalves(k) }));
      const request = { layers: decoded, grid, scale: scale ?? vit.scale, cuts: readCuts(cuts, layout), query };
      const flows = await rollout(vit, request, () => mayContinue(id));
      if (!flows) return send({ id, stopped: true });
      const halves = vit.t.toHalves(flows);
      send({ id, done: { rollout: halves } }, [halves.buffer]);
    },
  };

  // The network, and a function that starts a pass with the cuts and, after them, `at`.
  async function passFor({ id, model, picture, grid, scale, cuts }) {
    const vit = networks.get(model);
    const image = await inputOf(vit, id, picture, grid);
    const cutAt = cutting(vit, grid, readCuts(cuts, { prefix: vit.config.prefix, columns: grid[1] }));
    const passOf = (at = (_, x) => x) =>
      vit.layers(image, grid, { scale: scale ?? vit.scale, at: (point, x) => at(point, cutAt(point, x)) });
    return { vit, passOf };
  }

  async function inputOf({ t, config }, id, picture, grid) {
    const { mean, std, patch_size: side } = config;
    const key = [picture.id, mean, std, side, grid].join(" ");
    if (input?.key !== key) {
      const [height, width] = grid.map((patches) => patches * side);
      input = { key, numbers: modelInput(await resize(t, picture, rowsFor(id), height, width), config) };
    }
    return input.numbers;
  }

  return {
    hear(message) {
      const isAwaited = awaitedRows?.id === message.id;
      if (message.what === "stop") {
        stoppedIds.add(message.id);
        return isAwaited && awaitedRows.reject(new Error("stopped"));
      }
      if (message.what === "rows") {
        if (!isAwaited) return;
        return message.trouble ? awaitedRows.reject(new Error(message.trouble)) : awaitedRows.resolve(message);
      }
      queue = queue
        .then(() => handlers[message.what](message))
        .catch((error) =>
          send({ id: message.id ?? null, model: message.model, error: String(error?.message ?? error) }),
        )
        .finally(() => stoppedIds.delete(message.id));
    },
  };
}
