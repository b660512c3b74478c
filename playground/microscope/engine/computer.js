// What the worker does, one thing at a time. Each layer leaves as soon as it exists; then it is heard whether more are
// wanted.
//
//   {what: "kernels", compiled}                  a WebAssembly.Module of kernels.c
//   {what: "network", model, weights}            bytes, as models/engine_file.py wrote them
//   {what: "pass", id, model, picture: {id, bitmap}, grid, scale: null | number, cuts: texts}
//     → {id, layer, q, k, features: float16 bits, norms}, one after the other, then {id, done: {logits, ms}}
//   {what: "rollout", id, model, layers: [{q, k: float16 bits}], grid, scale, cuts, query: a token or null}
//     → {id, done: {rollout: float16 bits}}
//   {what: "stop", id}                           → {id, stopped}
// What fails is answered with {id, error: a sentence}.

import { decodeHalves } from "../core/core.js";
import { readCuts } from "../core/cuts.js";
import { displayed } from "./decoding.js";
import { modelInput } from "./images.js";
import { rollout } from "./rollout.js";
import { createTensors } from "./tensors.js";
import { VisionTransformer } from "./vit.js";

const nextTurn = () => new Promise((go) => setTimeout(go)); // messages that have come are heard meanwhile

// `say(message, moved)`: sends it; `moved` are the buffers that go with it. `decode`: see decoding.js.
export function createComputer(say, decode = displayed) {
  const networks = new Map();
  const stopped = new Set();
  let compiled = null;
  let work = Promise.resolve(); // what is done, and what waits behind it
  let input = null; // of the last picture: another pass through it needs no decoding

  const goesOn = async (id) => {
    await nextTurn();
    return !stopped.has(id);
  };

  const does = {
    kernels(message) {
      compiled = message.compiled;
    },
    async network({ model, weights }) {
      networks.set(model, new VisionTransformer(await createTensors(compiled), weights));
    },
    async pass({ id, model, picture, grid, scale, cuts }) {
      const vit = networks.get(model);
      const began = performance.now();
      const image = await inputOf(vit, picture, grid);
      const words = { prefix: vit.config.prefix, columns: grid[1] };
      const layers = vit.layers(image, grid, { scale: scale ?? vit.scale, cuts: readCuts(cuts, words) });
      for (;;) {
        if (!(await goesOn(id))) return say({ id, stopped: true });
        const { value, done } = layers.next();
        if (done) return say({ id, done: { logits: value, ms: performance.now() - began } });
        const { layer, norms } = value;
        const [q, k, features] = [value.q, value.k, value.features].map(vit.t.toHalves);
        say({ id, layer, q, k, norms, features }, [q.buffer, k.buffer, norms.buffer, features.buffer]);
      }
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

  async function inputOf({ t, config }, picture, grid) {
    const key = `${picture.id} ${config.mean} ${config.std} ${config.patch_size} ${grid}`;
    if (input?.key !== key) {
      const [height, width] = grid.map((patches) => patches * config.patch_size);
      input = { key, numbers: modelInput(await decode(t, picture.bitmap, height, width), config) };
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
