// The lens's source if a server has the numbers: each is a resource with an address. The browser's cache keeps those of
// samples.

import { openContainer } from "../core/core.js";
import { WAYS } from "../core/ways.js";
import { addressOf, ask, Refusal, sayWaiting } from "./http.js";
import { ownPictures } from "./own.js";

const KEPT_TRACES = 60; // descriptions of traces

// `bringAgain(id)`: brings a picture of one's own that the server has forgotten. `onWait`: see http.js.
export function createHttpSource({ bringAgain, onWait }) {
  const known = new Map(); // words → trace, for samples

  // If the server has forgotten a person's picture, sends it again, once.
  async function get(path, { signal } = {}) {
    const askedAt = performance.now();
    try {
      return await ask(path, { signal, onWait });
    } catch (error) {
      if (!error.body?.forgotten || !(await bringAgain(error.body.forgotten, { signal, onWait, asked: askedAt })))
        throw error;
      return ask(path, { signal, onWait });
    }
  }
  // Requests sent ahead of need; the first one who needs the answer takes it.
  const ahead = new Map(); // path → its answer
  function bring(path, read, how) {
    const early = ahead.get(path);
    ahead.delete(path);
    return early ?? get(path, how).then(read);
  }
  function begin(path, read) {
    const answer = get(path).then(read);
    answer.catch(() => ahead.delete(path)); // whoever needs it asks again and gets the error
    ahead.set(path, answer);
    return answer;
  }
  const asJson = (response) => response.json();
  const asImage = async (response) => createImageBitmap(await response.blob());
  const part = (trace, name, more = {}) =>
    `api/trace/${trace.digest}/${name}?${new URLSearchParams({ ...trace.words, ...more })}`;
  const bytesOf = async (response) => new Uint8Array(await response.arrayBuffer());
  const matrix = async (trace, name, more, how) =>
    openContainer(await bytesOf(await get(part(trace, name, more), how))).section("matrix");

  // The matrix, with the fields of the answer's header.
  async function withHeader(trace, name, more, how) {
    const { header, section } = openContainer(await bytesOf(await get(part(trace, name, more), how)));
    return { ...header, matrix: section("matrix") };
  }

  const traceOf = (record, words) => Object.freeze({ ...record, words: { ...words, model: record.model } });

  const source = {
    offers: [
      ...new Set(Object.values(WAYS).map(({ offer }) => offer)),
      ...["layers", "labels", "patched", "whole", "cuts", "names", "ran"],
    ],

    // `words`: of the picture, the model, the grid and the scale of the pass, as in an address.
    async open(words, how = {}) {
      const text = new URLSearchParams(words).toString();
      if (known.has(text)) return known.get(text);
      const trace = traceOf(await bring(`api/trace?${text}`, asJson, how), words);
      if (!trace.private) known.set(text, trace);
      for (const old of known.keys()) if (known.size > KEPT_TRACES) known.delete(old);
      return trace;
    },
    forget: () => known.clear(),

    rounds: true,
    async layers(trace, layers, { heads, rounded, signal } = {}) {
      const words = {
        ...(layers && { layers: layers.join(",") }),
        ...(heads && { heads: heads.join(",") }),
        ...(rounded && { rounded: "yes" }),
      };
      return bring(part(trace, "layers", words), bytesOf, { signal });
    },
    picture: (trace, how) => bring(trace.picture.address, asImage, how),
    // Requests all that the first picture needs: `headOf(trace)` gives the layer and head in which it opens.
    async beginWith(words, headOf) {
      const answer = await begin(`api/trace?${new URLSearchParams(words)}`, asJson);
      if (answer.first) return source.beginWith({ ...words, first: "yes" }, headOf);
      const trace = traceOf(answer, words);
      const { layer, head } = headOf(trace);
      if (layer !== null) begin(part(trace, "layers", { layers: String(layer), heads: String(head) }), bytesOf);
      begin(trace.picture.address, asImage);
    },
    features: (trace, layer, how) => matrix(trace, "features", { layer }, how),
    flows: (trace, how) => matrix(trace, "flows", {}, how),
    relevance: (trace, question, how) => matrix(trace, "relevance", question, how),
    label: (trace, question, how) => matrix(trace, "answers", question, how),
    text: (trace, question, how) => matrix(trace, "text", question, how),
    occlusion: (trace, question, how) => withHeader(trace, "occluded", question, how),
    patched: (trace, question, how) => withHeader(trace, "patched", question, how),
    async labels(trace, how) {
      return (await (await get(part(trace, "labels"), how)).json()).labels;
    },
    rollout: (trace, query, how) => matrix(trace, "flows", { query }, how),
    async names(trace, layer, how) {
      return (await (await get(part(trace, "names", { layer }), how)).json()).heads;
    },
    // `scale`: null where it is the trained one; `cut`: "" where nothing is cut; `from`: whose pass it takes from.
    async whole(trace, { scale, cut, from }, how) {
      const changes = {
        ...(scale !== null && { scale: String(scale) }),
        ...(cut && { cut }),
        ...(from && { with: from }),
      };
      const whole = await source.open({ ...trace.words, ...changes }, how);
      const { labels } = await (await get(part(whole, "verdict"), how)).json();
      return { ...whole, verdict: labels };
    },
    async moved(trace, query, how) {
      return (await get(part(trace, "moved", { query }), how)).json();
    },
    async ran(trace, question, how) {
      return (await get(part(trace, "ran", question), how)).json();
    },
    addressOf,
  };
  return source;
}

// The document's source: over HTTP, which sends own pictures again if the server forgot them; if this browser can
// compute the model, the source that does so.

const NOT_HERE = "This browser does not have that photograph: it was forgotten, or it is somebody else's.";

export const source = createHttpSource({
  bringAgain: async (id, how) => {
    if (await ownPictures.bringAgain(id, how)) return true;
    throw new Refusal(404, NOT_HERE);
  },
  onWait: sayWaiting,
});

// From now on the source `nearer` answers if `nearer.has(words of picture and model, or a trace)`.
export function askNearer(nearer) {
  const server = { ...source };
  const whoHas = (trace) => (nearer.has(trace) ? nearer : server);
  for (const [name, question] of Object.entries({ ...server, ...nearer }))
    if (typeof question === "function") source[name] = (trace, ...more) => whoHas(trace)[name](trace, ...more);
  source.forget = server.forget;
  const { keeps, keepsPictures, rounds = server.rounds } = nearer;
  Object.assign(source, { keeps, keepsPictures, rounds });
}

// The source of a site without a server: samples' layers come from files made ahead; this browser computes everything
// else, as soon as it has the network's weights.

const GONE_WITH_IT = "a model that was opened from files is gone when its page is. Drop its files again.";
const WITHOUT = "This page was written without the network that would compute that.";

// `computing`: a source as workersource.js makes it; models: {model: {title, megabytes, asked: whether a person is
// asked before it is fetched, …}}, of those whose weights the page has; `isKept(model)` gives a promise.
// `preparedOf(words)` gives what lies ready of a sample, or null: {opening: {layer, head, file} or null, upper: the
// layer that opens where none is named, layers: files, names: of heads, a file or null}; `read(file)` gives a promise
// of its bytes. `without`: what is said where a network is missing.
// `knows(model)`: whether the page was written with it, if not with its weights.
export function createPreparedSource({ computing, models, isKept, preparedOf, read, pictureFile, ...more }) {
  const { without = WITHOUT, knows = () => true } = more;
  const isHere = (model) => Boolean(models[model]);

  // Rejects if the model must be fetched first, saying how; small models are fetched at once.
  async function needs(model) {
    const { title, megabytes, asked } = models[model] ?? {};
    if (!title)
      throw new Refusal(404, knows(model) ? without : `There is no ${model.slice(0, 80)} here: ${GONE_WITH_IT}`);
    if (!asked || (await isKept(model))) return;
    const missing = { model, title, megabytes, may_fetch: true };
    throw new Refusal(404, `${title} is not in this browser yet: ${megabytes} MB, once.`, { missing });
  }

  const computed =
    (name, { plain = true } = {}) =>
    async (trace, ...more) => {
      if (plain) await needs(trace.model);
      return computing[name](trace, ...more);
    };

  return {
    ...computing,
    has: () => true,
    rounds: false, // the file has the full numbers
    async open(words, how) {
      const prepared = preparedOf(words);
      if (!prepared) await needs(words.model);
      const trace = await computing.open(words, how);
      if (!prepared) return Object.freeze({ ...trace, offers: computing.offers, here: true });
      const offers = [...(isHere(words.model) ? computing.offers : ["layers"]), ...(prepared.names ? ["names"] : [])];
      return Object.freeze({ ...trace, prepared, offers, sparing: true });
    },
    async layers(trace, numbers, how = {}) {
      const { prepared } = trace;
      if (!prepared) return computing.layers(trace, numbers, how);
      const { opening, upper, layers } = prepared;
      const layer = numbers?.[0] ?? upper; // the lens asks for one at a time
      const [head, ...others] = how.heads ?? [];
      const isOpening = opening?.layer === layer && opening.head === head && !others.length;
      if (!isOpening && !layers[layer]) throw new Refusal(400, `There is no layer ${layer}.`);
      const file = isOpening ? opening.file : layers[layer];
      return read(file, how).catch(async (error) => {
        if (how.signal?.aborted || !isHere(trace.model) || !(await isKept(trace.model))) throw error;
        return computing.layers(trace, numbers, how); // without these files, computed
      });
    },
    picture: (trace, how) => (trace.prepared ? pictureFile(trace, how) : computing.picture(trace, how)),
    features: computed("features"),
    flows: computed("flows"),
    rollout: computed("rollout"),
    whole: computed("whole"),
    moved: computed("moved"),
    async names({ prepared }, layer, how) {
      const names = await read(prepared.names, how);
      return JSON.parse(new TextDecoder().decode(names))[layer];
    },
    async beginWith() {}, // the page itself starts the first download
    addressOf: computing.addressOf,
  };
}
