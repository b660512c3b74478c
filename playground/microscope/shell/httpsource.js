// Creates the lens's source of numbers on a server, where each array has an address. The browser caches the arrays of
// samples.

import { openContainer } from "../core/core.js";
import { openInside } from "../core/inside.js";
import { WAYS } from "../core/ways.js";
import { addressOf, askAgain, Refusal } from "./http.js";
import { ownPictures } from "./own.js";

const MOST_TRACES = 60; // number of trace descriptions

// bringAgain(id): sends an own picture again if the server has forgotten it.
export function createHttpSource({ bringAgain }) {
  const knownTraces = new Map(); // address parameters → trace, for samples

  /** @param {string} path @param {Options} [options] */
  const request = (path, { signal } = {}) => askAgain(bringAgain, path, { signal });
  const partAddress = (trace, name, query = {}) =>
    `api/trace/${trace.digest}/${name}?${new URLSearchParams({ ...trace.words, ...query })}`;
  // A sample's usual layers have a short address, the only one at which deploy/nginx.conf caches layers.
  const layersAddress = ({ usual, picture, ...trace }, query) =>
    partAddress(usual ? { ...trace, words: { sample: picture.sample } } : trace, "layers", query);
  const bytesOf = async (response) => new Uint8Array(await response.arrayBuffer());
  const requestPart = (trace, name, query, options) => request(partAddress(trace, name, query), options);
  const fetchJson = async (...part) => (await requestPart(...part)).json();
  // A part of the trace: {matrix, and each field of the container's header}.
  async function fetchWithHeader(...part) {
    const { header, section } = openContainer(await bytesOf(await requestPart(...part)));
    return { ...header, matrix: section("matrix") };
  }
  const fetchMatrix = async (...part) => (await fetchWithHeader(...part)).matrix;

  /** @type {Source} */
  const source = {
    offers: [
      ...new Set(Object.values(WAYS).map(({ offer }) => offer)),
      ...["layers", "labels", "puts", "whole", "cuts", "names", "heads", "inside", "ran"],
    ],

    // words: address parameters of the picture, the model, the grid and the scale of the pass.
    async open(words, options = {}) {
      const text = new URLSearchParams(words).toString();
      if (knownTraces.has(text)) return knownTraces.get(text);
      const record = await (await request(`api/trace?${text}`, options)).json();
      const trace = Object.freeze({ ...record, words: { ...words, model: record.model } });
      if (!trace.private) knownTraces.set(text, trace);
      for (const oldestText of knownTraces.keys()) if (knownTraces.size > MOST_TRACES) knownTraces.delete(oldestText);
      return trace;
    },
    forget: () => knownTraces.clear(),

    async layers(trace, layers, { heads, signal } = {}) {
      const words = { ...(layers && { layers: layers.join(",") }), ...(heads && { heads: heads.join(",") }) };
      return bytesOf(await request(layersAddress(trace, words), { signal }));
    },
    picture: async (trace, options) => createImageBitmap(await (await request(trace.picture.address, options)).blob()),
    features: (trace, layer, options) => fetchMatrix(trace, "features", { layer }, options),
    values: (trace, layer, options) => fetchMatrix(trace, "values", { layer }, options),
    flows: (trace, options) => fetchMatrix(trace, "flows", {}, options),
    relevance: (trace, question, options) => fetchMatrix(trace, "relevance", question, options),
    label: (trace, question, options) => fetchMatrix(trace, "answers", question, options),
    text: (trace, question, options) => fetchMatrix(trace, "text", question, options),
    occlusion: (trace, question, options) => fetchWithHeader(trace, "occluded", question, options),
    labels: async (trace, options) => (await fetchJson(trace, "labels", {}, options)).labels,
    rollout: (trace, query, options) => fetchMatrix(trace, "flows", { query }, options),
    names: async (trace, layer, options) => (await fetchJson(trace, "names", { layer }, options)).heads,
    // The numbers of all heads, see core/measures.js. scale: of their rows, if it is not the trained one.
    heads: (trace, scale, options) =>
      fetchJson(trace, "heads", scale === undefined ? {} : { at: String(scale) }, options),
    // scale: null for the trained scale; cut: "" for none; from: the sample whose pass gives the values for the cut.
    async whole(trace, { scale, cut, from: otherTrace }, options) {
      const changedWords = {
        ...(scale !== null && { scale: String(scale) }),
        ...(cut && { cut }),
        ...(otherTrace && { with: otherTrace }),
      };
      const changedTrace = await source.open({ ...trace.words, ...changedWords }, options);
      const { labels } = await fetchJson(changedTrace, "verdict", {}, options);
      return { ...changedTrace, verdict: labels };
    },
    moved: (trace, query, options) => fetchJson(trace, "moved", { query }, options),
    // question: {layer, head, query}
    inside: async (trace, question, options) =>
      openInside(await bytesOf(await requestPart(trace, "inside", question, options))),
    ran: (trace, question, options) => fetchJson(trace, "ran", question, options),
    // The bytes at an address of the server or at a data: address.
    bytes: async (address, options) =>
      address.startsWith("data:")
        ? Uint8Array.from(atob(address.split(",")[1]), (letter) => letter.charCodeAt(0))
        : bytesOf(await request(address, options)),
    addressOf,
  };
  return source;
}

// The document's source. It uses HTTP and sends own pictures again if the server forgot them. A folder without a server
// replaces its methods.

const NOT_HERE = "This browser does not have that photograph: it was forgotten, or it is somebody else's.";

export const source = createHttpSource({
  bringAgain: async (id, options) => {
    if (await ownPictures.bringAgain(id, options)) return true;
    throw new Refusal(404, NOT_HERE);
  },
});

// The source of a site without a server. Layers of samples come from prepared files; this browser computes all else,
// once it has the network's weights.

const MISSING_NETWORK = "This page was written without the network that would compute that.";

// preparedOf(words): the record of a sample's files (`_write_layers` of serving/site_files.py), or null; read(file): a
// promise of a file's bytes; isKept(model): of whether the weights are in this browser; without: the sentence about a
// missing network; knows(model): whether the page was written with this model, even if its weights are missing.
export function createPreparedSource({ computing, models, isKept, preparedOf, read, pictureFile, ...texts }) {
  const { without: missingWords = MISSING_NETWORK, knows: isKnown = () => true } = texts;
  const isHere = (model) => Boolean(models[model]);

  // Rejects with instructions if the model must be downloaded first; small models are downloaded without asking.
  async function requireModel(model) {
    const { title, megabytes, asked: mustAsk } = models[model] ?? {};
    if (!title)
      throw new Refusal(404, isKnown(model) ? missingWords : `This page has no model called ${model.slice(0, 80)}.`);
    if (!mustAsk || (await isKept(model))) return;
    const missingModel = { model, title, megabytes, may_fetch: true };
    throw new Refusal(404, `${title} is not in this browser yet: ${megabytes} MB, once.`, { missing: missingModel });
  }

  const computedBy =
    (name) =>
    async (trace, ...args) => {
      await requireModel(trace.model);
      return computing[name](trace, ...args);
    };

  return {
    ...computing,
    async open(words, options) {
      const prepared = preparedOf(words);
      if (!prepared) await requireModel(words.model);
      const trace = await computing.open(words, options);
      if (!prepared) return Object.freeze({ ...trace, offers: computing.offers });
      const offers = [
        ...(isHere(words.model) ? computing.offers : ["layers"]),
        ...["names", "inside"].filter((kind) => prepared[kind]),
      ];
      return Object.freeze({ ...trace, prepared, offers, sparing: true });
    },
    async layers(trace, numbers, options = {}) {
      const { prepared } = trace;
      if (!prepared) return computing.layers(trace, numbers, options);
      const { opening, upper: upperLayer, layers } = prepared;
      const layer = numbers?.[0] ?? upperLayer; // the lens requests one layer at a time
      const [head, ...otherHeads] = options.heads ?? [];
      const isOpening = opening?.layer === layer && opening.head === head && !otherHeads.length;
      if (!isOpening && !layers[layer]) throw new Refusal(400, `There is no layer ${layer}.`);
      const file = isOpening ? opening.file : layers[layer];
      return read(file, options).catch(async (error) => {
        if (options.signal?.aborted || !isHere(trace.model) || !(await isKept(trace.model))) throw error;
        return computing.layers(trace, numbers, options); // the layer is computed if its file is missing
      });
    },
    async inside(trace, question, options) {
      const { inside } = trace.prepared ?? {};
      const isPrepared = inside && Object.entries(question).every(([name, value]) => inside[name] === value);
      if (isPrepared) return openInside(await read(inside.file, options));
      return computedBy("inside")(trace, question, options);
    },
    picture: (trace, options) => (trace.prepared ? pictureFile(trace, options) : computing.picture(trace, options)),
    features: computedBy("features"),
    flows: computedBy("flows"),
    rollout: computedBy("rollout"),
    whole: computedBy("whole"),
    moved: computedBy("moved"),
    labels: computedBy("labels"),
    async names({ prepared }, layer, options) {
      const bytes = await read(prepared.names, options);
      return JSON.parse(new TextDecoder().decode(bytes))[layer];
    },
    addressOf: computing.addressOf,
  };
}
