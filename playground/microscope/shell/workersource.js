// The lens's source if the browser computes: a worker (engine/worker.js) runs pictures through a network and sends each
// layer as soon as it is computed. No picture leaves this machine. No request that needs a server is offered.
//
// createWorkerSource takes `worker`; compiled(), which promises the kernels; `models` as `cards` of
// serving/site_files.py makes them; weightsOf(name), which promises a model's bytes; pictureOf(words), which promises
// {id, title, credit, hint, start, width, height, file(), opens} for the words of an address.

import { toContainer } from "../core/container.js";
import { decodeHalves, FORMAT, MOST_CUTS, readCuts } from "../core/core.js";
import { gridFor } from "../core/grid.js";
import { tokenOf, upperLayer } from "../core/view.js";
import { rowsOf, toBitmap } from "./readable.js";

const MOST_PASSES = 3;
const MOST_PASS_BYTES = 8e6; // most bytes of stored passes, without the latest; a dropped pass runs again when needed
const LEAST_CHANGE = 0.02; // smallest reported change of a label's probability
const MOST_SCALE_OF_PASS = 1e9; // as in playground/tracing.py: a larger scale may make scores infinite
const CUT_PATTERN = /^([^>@]+>[^>@]+(@[^.@]+(\.[^.@]+)?)?|(zero|mean)@([^.@*]+|[^.@]+\.[^.@*]+))$/;
const UNREADABLE_NOW = "This browser can't open that picture any more.";
const LEAST_LENGTH = 1e-12; // feature vectors shorter than this count as this long

// An error with a sentence that the stage shows.
class RequestError extends Error {
  constructor(sentence, status = 400) {
    super(sentence);
    Object.assign(this, { says: sentence, status, body: null });
  }
}

export function createWorkerSource({ worker, compiled, models, weightsOf, pictureOf }) {
  const passes = new Map(); // trace.id → its pass, the latest last
  const runningJobs = new Map(); // jobs in the worker: id → {onMessage(message), onFailure(error)}
  const networks = new Map(); // model → a promise, resolved when the worker has the network
  let lastId = 0;
  let kernels = null;

  worker.addEventListener("message", ({ data }) => {
    if (data.lost) return loseAll(data.says);
    if (data.error && data.id === null) networks.delete(data.model);
    const job = runningJobs.get(data.id);
    if (!job) return;
    if (data.rows) return sendRows(data.id, job, data.rows);
    if (data.error || data.stopped || data.done) runningJobs.delete(data.id);
    if (data.error) job.onFailure(new RequestError(data.error, 500));
    else if (data.stopped) job.onFailure(stoppedError());
    else job.onMessage(data);
  });

  // Called when the worker is lost with its networks and passes: all running jobs fail.
  function loseAll(sentence = "What computes here has stopped: try it again.") {
    networks.clear();
    kernels = null;
    for (const { onFailure } of runningJobs.values()) onFailure(new RequestError(sentence, 500));
    runningJobs.clear();
  }

  // file(): promises the picture, of which the worker asks for rows. The page decodes it, because a worker frees the
  // memory of decoded pictures late.
  function startJob(message, onMessage, onFailure, file = null) {
    const id = ++lastId;
    runningJobs.set(id, { onMessage, onFailure, file });
    worker.postMessage({ ...message, id });
    return id;
  }

  async function sendRows(id, { file }, place) {
    try {
      const { pixels, order } = await rowsOf(await file(), ...place);
      worker.postMessage({ what: "rows", id, pixels, order }, [pixels.buffer]);
    } catch (error) {
      worker.postMessage({ what: "rows", id, trouble: error.message || UNREADABLE_NOW });
    }
  }

  // A promise that resolves when the worker has this network. If fetching fails, the next request tries again.
  function bringNetwork(model) {
    if (!networks.has(model)) {
      const networkPromise = (async () => {
        kernels ??= compiled().then((kernelModule) => worker.postMessage({ what: "kernels", compiled: kernelModule }));
        const [weights] = await Promise.all([weightsOf(model), kernels]);
        worker.postMessage({ what: "network", model, weights }, [weights.buffer]);
      })();
      networks.set(model, networkPromise);
      networkPromise.catch(() => networks.delete(model));
    }
    return networks.get(model);
  }

  // ---------------------------------------------------------------------------------------------------------- passes

  // The pass of a trace, running or done. A cancelled pass, or one with dropped layers, runs again.
  function passOf(trace) {
    let pass = passes.get(trace.id);
    if (!pass) pass = { trace, layers: [], questions: new Map(), id: 0, attempt: null, logits: null, running: false };
    passes.delete(trace.id);
    passes.set(trace.id, pass);
    for (const otherPass of passes.values())
      if (otherPass !== pass && otherPass.running && !isAwaited(otherPass)) endPass(otherPass);
    let keptBytes = totalOf([...passes.values()].map((other) => (other === pass ? 0 : bytesOf(other))));
    for (const [id, other] of passes) {
      if (passes.size <= MOST_PASSES && keptBytes <= MOST_PASS_BYTES) break;
      if (other === pass || other.running) continue;
      keptBytes -= bytesOf(other);
      passes.delete(id);
    }
    if (!pass.running && !isWhole(pass)) startPass(pass);
    return pass;
  }

  const bytesOf = ({ layers }) =>
    totalOf(Object.values(layers).flatMap((parts) => Object.values(parts).map(({ byteLength }) => byteLength)));

  const isWhole = ({ trace, layers, logits }) =>
    logits !== null && Object.keys(layers).length === models[trace.model].layers;
  const isAwaited = ({ questions }) => [...questions.values()].some((waiters) => waiters.size > 0);

  async function startPass(pass) {
    const { trace } = pass;
    const attempt = {};
    Object.assign(pass, { attempt, running: true });
    try {
      await bringNetwork(trace.model);
      if (pass.attempt !== attempt) return; // the pass was cancelled meanwhile
      const message = { what: "pass", model: trace.model, picture: sizeAndId(trace), grid: trace.grid };
      const onMessage = (answer) => takeMessage(pass, answer);
      const onFailure = (error) => failPass(pass, error);
      const job = { ...message, scale: trace.scale, cuts: trace.cut };
      pass.id = startJob(job, onMessage, onFailure, trace.private_picture.file);
    } catch (error) {
      failPass(pass, error);
    }
  }

  function endPass(pass) {
    Object.assign(pass, { attempt: null, running: false });
    runningJobs.delete(pass.id);
    worker.postMessage({ what: "stop", id: pass.id });
  }

  function takeMessage(pass, message) {
    if (message.done) {
      pass.running = false;
      pass.logits = message.done.logits ?? [];
      pass.ms = message.done.ms;
      settleQuestions(pass, "done", "resolve", pass);
    } else {
      const { layer, q, k, norms, features } = message;
      pass.layers[layer] = { q, k, norms, features };
      settleQuestions(pass, layer, "resolve", pass.layers[layer]);
    }
  }

  function failPass(pass, error) {
    pass.running = false;
    for (const key of [...pass.questions.keys()]) settleQuestions(pass, key, "reject", error);
  }

  function settleQuestions({ questions }, key, outcome, value) {
    for (const question of questions.get(key) ?? []) question[outcome](value);
    questions.delete(key);
  }

  // A promise of a layer of a pass as soon as it is computed; for key "done", of the whole pass.
  function requestPart(trace, key, signal) {
    const pass = passOf(trace);
    const value = key === "done" ? isWhole(pass) && pass : pass.layers[key];
    if (value) return inNextTask(value);
    return new Promise((resolve, reject) => {
      const question = { resolve, reject };
      const questions = pass.questions.get(key) ?? new Set();
      pass.questions.set(key, questions.add(question));
      signal?.addEventListener("abort", () => {
        questions.delete(question);
        reject(stoppedError());
      });
    });
  }

  function packOf(trace, heldLayers, parts) {
    const { title, layers, heads, head_dim: dim, prefix, patch } = models[trace.model];
    const [rows, columns] = trace.grid;
    const tokens = prefix.length + rows * columns;
    const header = {
      format: FORMAT,
      model: title,
      scale: dim ** -0.5,
      forward_scale: trace.scale,
      layers,
      heads,
      head_dim: dim,
      tokens,
      prefix,
      grid: trace.grid,
      size: [rows * patch, columns * patch],
      patch,
      held: heldLayers,
      ...(trace.cut.length && { cuts: trace.cut }),
      predictions: null,
      engine: "WebAssembly",
    };
    const shape = [heldLayers.length, heads, tokens, dim];
    return toContainer(header, {
      q: [concatenated(parts.map(({ q }) => q)), shape],
      k: [concatenated(parts.map(({ k }) => k)), shape],
      value_norms: [concatenated(parts.map(({ norms }) => norms)), shape.slice(0, 3)],
    });
  }

  async function requestRollout(trace, query, signal) {
    const { layers } = await requestPart(trace, "done", signal);
    return new Promise((resolve, reject) => {
      const layersToSend = layers.map(({ q, k }) => ({ q, k }));
      const message = { what: "rollout", model: trace.model, layers: layersToSend, grid: trace.grid, query };
      const onMessage = ({ done: result }) => resolve(result.rollout);
      const id = startJob({ ...message, scale: trace.scale, cuts: trace.cut }, onMessage, reject);
      signal?.addEventListener("abort", () => {
        worker.postMessage({ what: "stop", id });
        reject(stoppedError());
      });
    });
  }

  /** @returns {any} */
  const shapeOf = ({ model, grid: [rows, columns] }) => {
    const { prefix } = models[model];
    return { prefix, prefixCount: prefix.length, rows, columns };
  };

  async function lookInside(trace, { layer, head, query }, signal) {
    await bringNetwork(trace.model);
    const token = tokenOf(query, shapeOf(trace));
    const message = { what: "inside", model: trace.model, picture: sizeAndId(trace), grid: trace.grid };
    const place = { layer, head, token };
    return new Promise((resolve, reject) => {
      const onMessage = ({ done: { arrays, ...numbers } }) =>
        resolve({
          ...numbers,
          ...Object.fromEntries(Object.entries(arrays).map(([name, x]) => [name, decodeHalves(x)])),
        });
      const whole = { ...message, scale: trace.scale, cuts: trace.cut, place };
      const job = startJob(whole, onMessage, reject, trace.private_picture.file);
      signal?.addEventListener("abort", () => {
        worker.postMessage({ what: "stop", id: job });
        reject(stoppedError());
      });
    });
  }

  /** @type {Source} */
  const source = {
    offers: ["layers", "features", "rollout", "whole", "cuts", "inside"],
    keeps: 0, // bytes of layers that the lens may cache: none, because this source keeps the last passes
    keepsPictures: 2,

    // `words`: address parameters of the picture, the model, the grid and the scale of the pass.
    async open(words, { signal } = {}) {
      const model = models[words.model];
      if (!model) throw new RequestError(`This page has no model called ${words.model}.`);
      const picture = await pictureOf(words);
      if (signal?.aborted) throw stoppedError();
      const gridAt = (detail) =>
        gridFor(
          [picture.width, picture.height],
          model.grid.map((side) => side * detail),
        );
      const detail = model.details.includes(Number(words.detail)) ? Number(words.detail) : 1;
      const scale = scaleIn(words.scale);
      const cut = words.cut ? words.cut.split(";") : [];
      const { id, title, credit, hint, start: startPatch, file } = picture;
      const isCoarse = Boolean(words.mine && model.first && detail === 1 && scale === null && !cut.length);
      const isFirst = isCoarse && Boolean(words.first);
      const digest = [words.model, detail, scale ?? "", words.cut ?? "", isFirst ? "first" : ""].join(" ");
      const size = [picture.width, picture.height];
      const trace = {
        id: `${id} ${digest}`,
        digest,
        model: words.model,
        title: model.title,
        detail,
        scale,
        cut,
        first: isCoarse && !isFirst,
        layers: model.layers,
        grid: isFirst ? gridFor(size, model.first) : gridAt(detail),
        grids: model.details.map((detail) => ({ detail: detail, grid: gridAt(detail) })),
        opens: (detail === 1 && picture.opens?.[words.model]) || {},
        picture: { ...{ id, title, credit, hint, start: startPatch }, ...(words.sample && { sample: words.sample }) },
        private: Boolean(words.mine),
        private_picture: { id, file, width: picture.width, height: picture.height },
        words: { ...words },
      };
      checkCuts(trace, model);
      return Object.freeze(trace);
    },
    forget() {},

    async layers(trace, layers, { signal } = {}) {
      const wantedLayers = layers ?? [upperLayer(models[trace.model])];
      const parts = await Promise.all(wantedLayers.map((layer) => requestPart(trace, layer, signal)));
      return packOf(trace, wantedLayers, parts);
    },
    picture: async ({ private_picture: { file } }) => toBitmap(await file()),
    features: async (trace, layer, { signal } = {}) => (await requestPart(trace, layer, signal)).features,
    flows: (trace, { signal } = {}) => requestRollout(trace, null, signal),
    rollout: (trace, query, { signal } = {}) => requestRollout(trace, tokenOf(query, shapeOf(trace)), signal),
    inside: (trace, question, options) => lookInside(trace, question, options?.signal),
    // `scale`: null for the trained one; `cut`: "" for none.
    async whole(trace, { scale, cut }, { signal } = {}) {
      const passWords = { ...(scale !== null && { scale: String(scale) }), ...(cut && { cut }) };
      const changedTrace = await source.open({ ...trace.words, ...passWords }, { signal });
      const { labels } = models[trace.model];
      if (!labels.length) return { ...changedTrace, verdict: [] };
      const logits = [];
      for (const eachTrace of [trace, changedTrace]) logits.push((await requestPart(eachTrace, "done", signal)).logits);
      return { ...changedTrace, verdict: changedLabels(...logits, models[trace.model]) };
    },
    // [number, name, probability] of the model's labels, the likeliest first
    async labels(trace, options) {
      const { labels, multi_label: isMultiLabel } = models[trace.model];
      const { logits } = await requestPart(trace, "done", options?.signal);
      const shares = labels.length ? (isMultiLabel ? logistic(logits) : softmaxOf(logits)) : [];
      return labels.map((label, i) => [i, label, shares[i]]).sort((a, b) => b[2] - a[2]);
    },
    async moved(cutTrace, query, { signal } = {}) {
      const shape = shapeOf(cutTrace);
      const { layers } = models[cutTrace.model];
      const { scale: _scale, cut: _cut, ...words } = cutTrace.words;
      const plainTrace = await source.open(words, { signal });
      const features = [];
      for (const eachTrace of [plainTrace, cutTrace])
        features.push((await requestPart(eachTrace, layers - 1, signal)).features);
      return { by: movedBy(...features, tokenOf(query, shape), shape.prefixCount + shape.rows * shape.columns) };
    },
  };
  return source;
}

// A worker that starts with the first job, and again after it was lost. `silentSentence`: the error if the worker is
// lost before its first message.
export function lateWorker(createWorker, silentSentence) {
  const listeners = [];
  let worker = null;
  const loseWorker = (sentence) => {
    worker?.terminate();
    worker = null;
    for (const listener of listeners) listener({ data: { lost: true, says: sentence } });
  };
  function startWorker() {
    const newWorker = createWorker();
    let sentence = silentSentence;
    newWorker.addEventListener("message", () => {
      sentence = undefined;
    });
    for (const listener of listeners) newWorker.addEventListener("message", listener);
    newWorker.addEventListener("error", () => loseWorker(sentence));
    return newWorker;
  }
  return {
    addEventListener: (_, listener) => listeners.push(listener),
    postMessage(message, transfer) {
      try {
        worker ??= startWorker();
      } catch {
        return setTimeout(() => loseWorker(silentSentence)); // the page's policy forbids workers
      }
      worker.postMessage(message, transfer);
    },
  };
}

const sizeAndId = ({ private_picture: { id, width, height } }) => ({ id, width, height });

// Resolves in the next turn of the event loop, so that repeated requests let frames be drawn in between.
const inNextTask = (value) => new Promise((resolve) => setTimeout(() => resolve(value)));

const stoppedError = () => new DOMException("Something else was asked for.", "AbortError");

const totalOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

function concatenated(arrays) {
  if (arrays.length === 1) return arrays[0];
  const result = new arrays[0].constructor(arrays.reduce((count, { length }) => count + length, 0));
  let offset = 0;
  for (const array of arrays) {
    result.set(array, offset);
    offset += array.length;
  }
  return result;
}

// The scale of a whole pass; null: the trained one.
function scaleIn(word) {
  if (word === undefined) return null;
  const scale = word === "off" ? 1 : Number(word);
  if (scale >= 0 && scale <= MOST_SCALE_OF_PASS) return scale;
  throw new RequestError(`The scale of a pass is off or a number from 0 to ${MOST_SCALE_OF_PASS}; asked was ${word}.`);
}

// Checks cuts, which may come from a hostile link, by the rules of playground/cuts.py.
/** @param {any} trace @param {any} model */
function checkCuts({ cut, grid: [rows, columns] }, { prefix, layers, heads }) {
  const tokens = prefix.length + rows * columns;
  const areAllBelow = (numbers, count) =>
    !numbers || [...numbers].every((n) => Number.isInteger(n) && n >= 0 && n < count);
  const isKnown = (text) => {
    if (!CUT_PATTERN.test(text)) return false;
    const [parsedCut] = readCuts([text], { prefix, columns });
    const { hearers, unheard, kept } = parsedCut;
    return [hearers, unheard, kept].every((numbers) => areAllBelow(numbers, tokens)) && isInModel(parsedCut);
  };
  const isInModel = (parsedCut) => areAllBelow(parsedCut.layers, layers) && areAllBelow(parsedCut.heads, heads);
  const unknownCut = cut.length > MOST_CUTS ? cut[MOST_CUTS] : cut.find((text) => !isKnown(text));
  if (unknownCut !== undefined)
    throw new RequestError(`This picture and this model have no cut ${unknownCut.slice(0, 80)}.`);
}

// [label, before, after] for each label whose probability changes, the largest change first; if none changes, for the
// likeliest label alone. The same as playground/analysis/scale.py::changed_verdicts.
export function changedLabels(formerLogits, newLogits, { labels, multi_label: isMultiLabel }) {
  const [before, after] = [formerLogits, newLogits].map((logits) =>
    isMultiLabel ? logistic(logits) : softmaxOf(logits),
  );
  const change = (i) => Math.abs(after[i] - before[i]);
  const order = labels.map((_, i) => i).sort((a, b) => change(b) - change(a));
  const changedIndices = order.filter((i) => change(i) >= LEAST_CHANGE);
  const largestLabel = before.indexOf(Math.max(...before));
  return (changedIndices.length ? changedIndices : [largestLabel]).map((i) => [labels[i], before[i], after[i]]);
}

const logistic = (logits) => Array.from(logits, (x) => 1 / (1 + Math.exp(-x)));
function softmaxOf(logits) {
  const largest = Math.max(...logits);
  const powers = Array.from(logits, (x) => Math.exp(x - largest));
  const total = powers.reduce((sum, x) => sum + x, 0);
  return powers.map((x) => x / total);
}

// ‖x' − x‖ / ‖x‖ of a token's feature x, as in playground/analysis/cutting.py::feature_move.
function movedBy(before, after, token, tokens) {
  const width = before.length / tokens;
  const [formerFeature, newFeature] = [before, after].map((halves) =>
    decodeHalves(halves.subarray(token * width, (token + 1) * width)),
  );
  const lengthOf = (values) => Math.hypot(...values);
  return lengthOf(newFeature.map((x, i) => x - formerFeature[i])) / Math.max(lengthOf(formerFeature), LEAST_LENGTH);
}
