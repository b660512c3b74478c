// The lens's source if the browser computes: a worker (engine/worker.js) runs pictures through a network and sends each
// layer as soon as it exists. No picture leaves this machine. Questions that need a server are not offered.
//
//   createWorkerSource({
//     worker,                    // a Worker
//     compiled: () => …,         // gives a promise of the kernels, a WebAssembly.Module
//     shared,                    // whether they share their memory: see engine/faster/threads.js
//     models,                    // {name: {title, patch, grid: [rows, columns] of a square picture, first: that of a
//                                //   first look at a person's own or null, details, layers, heads, head_dim, prefix,
//                                //   labels, multi_label, own: somebody has brought it}}
//     weightsOf: (name) => …,    // gives a promise of the bytes of its weights
//     pictureOf: (words) => …,   // gives one of {id, title, credit, hint, start, width, height, file, opens}, by the
//   })                           //   words of an address; opens: {model: {layer, head}} where it shows most; file()
//                                //   gives a promise of its bytes as a Blob

import { toContainer } from "../core/container.js";
import { decodeHalves, FORMAT, MOST_CUTS, readCuts } from "../core/core.js";
import { gridFor } from "../core/grid.js";
import { tokenOf, upperLayer } from "../core/view.js";
import { toBitmap } from "./readable.js";

const SHOWN_SIDE = 1024; // pixels of a picture on the page; the network gets all of them
const KEPT_PASSES = 3;
const KEPT_OF_PASSES = 8e6; // bytes kept of passes other than the latest; a dropped pass runs again when needed
const LEAST_CHANGE = 0.02; // of a label's probability that is reported
const MOST_SCALE_OF_PASS = 1e9; // as in playground/tracing.py: beyond, scores may be infinite
const CUT = /^([^>@]+>[^>@]+(@[^.@]+(\.[^.@]+)?)?|(zero|mean)@([^.@*]+|[^.@]+\.[^.@*]+))$/;
const SMALLEST = 1e-12; // length of a feature

// An error whose sentence the stage shows.
class Unanswered extends Error {
  constructor(says, status = 400) {
    super(says);
    Object.assign(this, { says, status, body: null });
  }
}

export function createWorkerSource({ worker, compiled, shared = false, models, weightsOf, pictureOf }) {
  const passes = new Map(); // trace.id → its pass, the last one last
  const asked = new Map(); // id → {heard: (message), failed: (error)} of the worker's running jobs
  const networks = new Map(); // model → a promise: the worker has it
  let ids = 0;
  let kernels = null;

  worker.addEventListener("message", ({ data }) => {
    if (data.lost) return loseAll(data.says);
    if (data.error && data.id === null) networks.delete(data.model);
    const question = asked.get(data.id);
    if (!question) return;
    if (data.error || data.stopped || data.done) asked.delete(data.id);
    if (data.error) question.failed(new Unanswered(data.error, 500));
    else if (data.stopped) question.failed(stoppedError());
    else question.heard(data);
  });

  // The worker is gone with all its networks and passes: all running jobs fail.
  function loseAll(says = "What computes here has stopped: try it again.") {
    networks.clear();
    kernels = null;
    for (const { failed } of asked.values()) failed(new Unanswered(says, 500));
    asked.clear();
  }

  function tell(message, heard, failed, moved = []) {
    const id = ++ids;
    asked.set(id, { heard, failed });
    worker.postMessage({ ...message, id }, moved);
    return id;
  }

  // A promise that the worker has this network. If fetching fails, the next request tries again.
  function network(model) {
    if (!networks.has(model)) {
      const coming = (async () => {
        kernels ??= compiled().then((found) => worker.postMessage({ what: "kernels", compiled: found, shared }));
        const [weights] = await Promise.all([weightsOf(model), kernels]);
        worker.postMessage({ what: "network", model, weights }, [weights.buffer]);
      })();
      networks.set(model, coming);
      coming.catch(() => networks.delete(model));
    }
    return networks.get(model);
  }

  // ---------------------------------------------------------------------------------------------------------- passes

  // The pass of a trace, running or done; a cancelled or partly dropped pass runs again.
  function passOf(trace) {
    let pass = passes.get(trace.id);
    if (!pass) pass = { trace, layers: [], wanted: new Map(), id: 0, turn: null, logits: null, running: false };
    passes.delete(trace.id);
    passes.set(trace.id, pass);
    for (const old of passes.values()) if (old !== pass && old.running && !isAwaited(old)) end(old);
    let held = totalOf([...passes.values()].map((old) => (old === pass ? 0 : bytesOf(old))));
    for (const [id, old] of passes) {
      if (passes.size <= KEPT_PASSES && held <= KEPT_OF_PASSES) break;
      if (old === pass || old.running) continue;
      held -= bytesOf(old);
      passes.delete(id);
    }
    if (!pass.running && !isWhole(pass)) start(pass);
    return pass;
  }

  const bytesOf = ({ layers }) =>
    totalOf(Object.values(layers).flatMap((parts) => Object.values(parts).map(({ byteLength }) => byteLength)));

  const isWhole = ({ trace, layers, logits }) =>
    logits !== null && Object.keys(layers).length === models[trace.model].layers;
  const isAwaited = ({ wanted }) => [...wanted.values()].some((waiting) => waiting.size > 0);

  async function start(pass) {
    const { trace } = pass;
    const turn = {};
    Object.assign(pass, { turn, running: true });
    try {
      await network(trace.model);
      if (pass.turn !== turn) return; // ended meanwhile
      const { id, file } = trace.private_picture;
      const bitmap = await decoded(await file());
      if (pass.turn !== turn) return bitmap.close();
      const message = { what: "pass", model: trace.model, picture: { id, bitmap }, grid: trace.grid };
      const heard = (said) => hear(pass, said);
      const failed = (error) => fail(pass, error);
      pass.id = tell({ ...message, scale: trace.scale, cuts: trace.cut }, heard, failed, [bitmap]);
    } catch (error) {
      fail(pass, error);
    }
  }

  function end(pass) {
    Object.assign(pass, { turn: null, running: false });
    asked.delete(pass.id);
    worker.postMessage({ what: "stop", id: pass.id });
  }

  function hear(pass, said) {
    if (said.done) {
      pass.running = false;
      pass.logits = said.done.logits ?? [];
      pass.ms = said.done.ms;
      settle(pass, "done", "kept", pass);
    } else {
      const { layer, q, k, norms, adds, features, engine } = said;
      pass.engine = engine;
      pass.layers[layer] = { q, k, norms, adds, features };
      settle(pass, layer, "kept", pass.layers[layer]);
    }
  }

  function fail(pass, error) {
    pass.running = false;
    for (const what of [...pass.wanted.keys()]) settle(pass, what, "failed", error);
  }

  function settle({ wanted }, what, how, value) {
    for (const question of wanted.get(what) ?? []) question[how](value);
    wanted.delete(what);
  }

  // A layer of a pass as soon as it exists, or "done": the whole of it.
  function part(trace, what, signal) {
    const pass = passOf(trace);
    const there = what === "done" ? isWhole(pass) && pass : pass.layers[what];
    if (there) return soon(there);
    return new Promise((kept, failed) => {
      const question = { kept, failed };
      const waiting = pass.wanted.get(what) ?? new Set();
      pass.wanted.set(what, waiting.add(question));
      signal?.addEventListener("abort", () => {
        waiting.delete(question);
        failed(stoppedError());
      });
    });
  }

  function packed(trace, held, parts) {
    const { title, layers, heads, head_dim: dim, prefix, patch } = models[trace.model];
    const [rows, columns] = trace.grid;
    const tokens = prefix.length + rows * columns;
    const header = {
      ...{ format: FORMAT, model: title, scale: dim ** -0.5, forward_scale: trace.scale, layers, heads },
      ...{ head_dim: dim, tokens, prefix, grid: trace.grid, size: [rows * patch, columns * patch], patch, held },
      ...(trace.cut.length && { cuts: trace.cut }),
      ...{ predictions: null, engine: passes.get(trace.id)?.engine },
      adds: parts.map(({ adds }) => meansOf(adds, heads, prefix.length)), // to a patch, each head of these layers
    };
    const shape = [held.length, heads, tokens, dim];
    return toContainer(header, {
      q: [joined(parts.map(({ q }) => q)), shape],
      k: [joined(parts.map(({ k }) => k)), shape],
      value_norms: [joined(parts.map(({ norms }) => norms)), shape.slice(0, 3)],
    });
  }

  async function rolledOut(trace, query, signal) {
    const { layers } = await part(trace, "done", signal);
    return new Promise((kept, failed) => {
      const held = layers.map(({ q, k }) => ({ q, k }));
      const message = { what: "rollout", model: trace.model, layers: held, grid: trace.grid, query };
      const heard = ({ done }) => kept(done.rollout);
      const id = tell({ ...message, scale: trace.scale, cuts: trace.cut }, heard, failed);
      signal?.addEventListener("abort", () => {
        worker.postMessage({ what: "stop", id });
        failed(stoppedError());
      });
    });
  }

  const source = {
    offers: ["layers", "features", "rollout", "whole", "cuts"],
    keeps: 0, // bytes of layers that the lens keeps: none, as this source keeps the last passes
    keepsPictures: 2,

    // `words`: of the picture, the model, the grid and the scale of the pass, as in an address.
    async open(words, { signal } = {}) {
      const model = models[words.model];
      if (!model) throw new Unanswered(`This page has no model called ${words.model}.`);
      const picture = await pictureOf(words);
      if (signal?.aborted) throw stoppedError();
      const grid = (detail) =>
        gridFor(
          [picture.width, picture.height],
          model.grid.map((side) => side * detail),
        );
      const detail = model.details.includes(Number(words.detail)) ? Number(words.detail) : 1;
      const scale = scaleIn(words.scale);
      const cut = words.cut ? words.cut.split(";") : [];
      const { id, title, credit, hint, start: first, file } = picture;
      const coarse = Boolean(words.mine && model.first && detail === 1 && scale === null && !cut.length);
      const isFirst = coarse && Boolean(words.first);
      const digest = [words.model, detail, scale ?? "", words.cut ?? "", isFirst ? "first" : ""].join(" ");
      const size = [picture.width, picture.height];
      const trace = {
        id: `${id} ${digest}`,
        ...{ digest, model: words.model, title: model.title, detail, scale, cut, first: coarse && !isFirst },
        ...{ layers: model.layers, own: Boolean(model.own) },
        grid: isFirst ? gridFor(size, model.first) : grid(detail),
        grids: model.details.map((finer) => ({ detail: finer, grid: grid(finer) })),
        opens: (detail === 1 && picture.opens?.[words.model]) || {},
        picture: {
          ...{ id, title, credit, hint, start: first },
          ...(words.sample && { sample: words.sample }),
          ...(picture.film && { film: picture.film }),
        },
        private: Boolean(words.mine),
        private_picture: { id, file, width: picture.width, height: picture.height },
        words: { ...words },
      };
      checkCuts(trace, model);
      return Object.freeze(trace);
    },
    forget() {},
    // Makes the worker drop a network and its passes.
    forgetNetwork(model) {
      networks.delete(model);
      for (const [id, { trace }] of passes) if (trace.model === model) passes.delete(id);
      worker.postMessage({ what: "forget", model });
    },

    async layers(trace, layers, { signal } = {}) {
      const held = layers ?? [upperLayer(models[trace.model])];
      const parts = await Promise.all(held.map((layer) => part(trace, layer, signal)));
      return packed(trace, held, parts);
    },
    picture: async ({ private_picture: { file, width, height } }) => {
      const side = Math.min(1, SHOWN_SIDE / Math.max(width, height));
      const [resizeWidth, resizeHeight] = [width, height].map((pixels) => Math.max(1, Math.round(pixels * side)));
      const smaller = side < 1 ? { resizeWidth, resizeHeight, resizeQuality: "high" } : {};
      return toBitmap(await file(), smaller);
    },
    features: async (trace, layer, { signal } = {}) => (await part(trace, layer, signal)).features,
    // [label, its probability] of each label
    async answer(trace, { signal } = {}) {
      const { labels, multi_label: several } = models[trace.model];
      const { logits } = await part(trace, "done", signal);
      const all = (several ? logistic : shares)(logits);
      return labels.map((label, i) => [label, all[i]]);
    },
    flows: (trace, { signal } = {}) => rolledOut(trace, null, signal),
    rollout(trace, query, { signal } = {}) {
      const { prefix } = models[trace.model];
      const [rows, columns] = trace.grid;
      return rolledOut(trace, tokenOf(query, { prefix, prefixCount: prefix.length, rows, columns }), signal);
    },
    // `scale`: null where it is the trained one; `cut`: "" where nothing is cut.
    async whole(trace, { scale, cut }, { signal } = {}) {
      const wanted = { ...(scale !== null && { scale: String(scale) }), ...(cut && { cut }) };
      const other = await source.open({ ...trace.words, ...wanted }, { signal });
      const { labels } = models[trace.model];
      if (!labels.length) return { ...other, verdict: [] };
      const logits = [];
      for (const one of [trace, other]) logits.push((await part(one, "done", signal)).logits);
      return { ...other, verdict: changedLabels(...logits, models[trace.model]) };
    },
    async moved(whole, query, { signal } = {}) {
      const { prefix, layers } = models[whole.model];
      const [rows, columns] = whole.grid;
      const token = tokenOf(query, { prefix, prefixCount: prefix.length, rows, columns });
      const { scale: _scale, cut: _cut, ...words } = whole.words;
      const plain = await source.open(words, { signal });
      const found = [];
      for (const one of [plain, whole]) found.push((await part(one, layers - 1, signal)).features);
      return { by: movedBy(...found, token, prefix.length + rows * columns) };
    },
  };
  return source;
}

// A worker that starts with the first job and is restarted if it is lost. `never`: the error if it is lost before its
// first message.
export function lateWorker(begin, never) {
  const listeners = [];
  let worker = null;
  const lose = (says) => {
    worker?.terminate();
    worker = null;
    for (const listener of listeners) listener({ data: { lost: true, says } });
  };
  function started() {
    const starting = begin();
    let says = never;
    starting.addEventListener("message", () => {
      says = undefined;
    });
    for (const listener of listeners) starting.addEventListener("message", listener);
    starting.addEventListener("error", () => lose(says));
    return starting;
  }
  return {
    addEventListener: (_, listener) => listeners.push(listener),
    postMessage(message, moved) {
      try {
        worker ??= started();
      } catch {
        return setTimeout(() => lose(never)); // the page's policy forbids workers
      }
      worker.postMessage(message, moved);
    },
  };
}

// The page decodes it: a worker frees the memory of decoded pictures late.
const decoded = (file) =>
  toBitmap(file).catch((error) => {
    throw new Unanswered(error.message, 500);
  });

// Resolves in the next turn of the event loop, so that repeated requests let frames be drawn in between.
const soon = (value) => new Promise((kept) => setTimeout(() => kept(value)));

const stoppedError = () => new DOMException("Something else was asked for.", "AbortError");

const totalOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

function joined(arrays) {
  if (arrays.length === 1) return arrays[0];
  const all = new arrays[0].constructor(arrays.reduce((count, { length }) => count + length, 0));
  let at = 0;
  for (const array of arrays) {
    all.set(array, at);
    at += array.length;
  }
  return all;
}

// The scale of a whole pass; null: the trained one.
function scaleIn(word) {
  if (word === undefined) return null;
  const scale = word === "off" ? 1 : Number(word);
  if (scale >= 0 && scale <= MOST_SCALE_OF_PASS) return scale;
  throw new Unanswered(`The scale of a pass is off or a number from 0 to ${MOST_SCALE_OF_PASS}; asked was ${word}.`);
}

// Checks cuts, which may come from a hostile link, by the rules of playground/cuts.py.
function checkCuts({ cut, grid: [rows, columns] }, { prefix, layers, heads }) {
  const tokens = prefix.length + rows * columns;
  const allBelow = (numbers, count) =>
    !numbers || [...numbers].every((n) => Number.isInteger(n) && n >= 0 && n < count);
  const isKnown = (text) => {
    if (!CUT.test(text)) return false;
    const [read] = readCuts([text], { prefix, columns });
    const { hearers, unheard, kept } = read;
    return [hearers, unheard, kept].every((numbers) => allBelow(numbers, tokens)) && isThere(read);
  };
  const isThere = (read) => allBelow(read.layers, layers) && allBelow(read.heads, heads);
  const wrong = cut.length > MOST_CUTS ? cut[MOST_CUTS] : cut.find((text) => !isKnown(text));
  if (wrong !== undefined) throw new Unanswered(`This picture and this model have no cut ${wrong.slice(0, 80)}.`);
}

// [label, before, after] of each that changes, the largest change first; where none does, the likeliest. As
// playground/analysis/scale.py::changed.
export function changedLabels(on, off, { labels, multi_label: several }) {
  const [before, after] = [on, off].map((logits) => (several ? logistic(logits) : shares(logits)));
  const change = (i) => Math.abs(after[i] - before[i]);
  const order = labels.map((_, i) => i).sort((a, b) => change(b) - change(a));
  const told = order.filter((i) => change(i) >= LEAST_CHANGE);
  const likeliest = before.indexOf(Math.max(...before));
  return (told.length ? told : [likeliest]).map((i) => [labels[i], before[i], after[i]]);
}

// (heads × tokens) → the mean over the patches, of each head.
function meansOf(numbers, heads, first) {
  const tokens = numbers.length / heads;
  return Array.from({ length: heads }, (_, head) => {
    const its = numbers.subarray(head * tokens + first, (head + 1) * tokens);
    return its.reduce((sum, one) => sum + one, 0) / its.length;
  });
}

const logistic = (logits) => Array.from(logits, (x) => 1 / (1 + Math.exp(-x)));
function shares(logits) {
  const largest = Math.max(...logits);
  const e = Array.from(logits, (x) => Math.exp(x - largest));
  const total = e.reduce((sum, x) => sum + x, 0);
  return e.map((x) => x / total);
}

// ‖x' − x‖ / ‖x‖ of a token's feature: as playground/analysis/cutting.py::moved.
function movedBy(before, after, token, tokens) {
  const width = before.length / tokens;
  const [old, now] = [before, after].map((halves) => decodeHalves(halves.subarray(token * width, (token + 1) * width)));
  const length = (values) => Math.hypot(...values);
  return length(now.map((x, i) => x - old[i])) / Math.max(length(old), SMALLEST);
}
