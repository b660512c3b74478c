// The source of a page without a server: of samples the layers lie in files, made ahead; everything else is computed in
// this browser, where the network is here.

import { Refusal } from "./http.js";

const WITHOUT = "This page was written without the network that would compute that.";

// `computing`: a source as workersource.js makes it; models: {model: {title, megabytes, asked: whether a person is
// asked before it is fetched, …}}, of those whose weights the page has; `isKept(model)` gives a promise.
// `preparedOf(words)` gives what lies ready of a sample, or null: {opening: {layer, head, file} or null, upper: the
// layer that opens where none is named, layers: files, names: of heads, a file or null}; `read(file)` gives a promise
// of its bytes. `without`: what is said where a network is missing.
export function createPreparedSource({ computing, models, isKept, preparedOf, read, pictureFile, without = WITHOUT }) {
  const isHere = (model) => Boolean(models[model]);

  // Who asks for what must be computed hears how to get the network; small ones just come.
  async function needs(model) {
    const { title, megabytes, asked } = models[model] ?? {};
    if (!title) throw new Refusal(404, without);
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
    async open(words, how) {
      const prepared = preparedOf(words);
      if (!prepared) await needs(words.model);
      const trace = await computing.open(words, how);
      if (!prepared) return Object.freeze({ ...trace, offers: computing.offers });
      const offers = [...(isHere(words.model) ? computing.offers : ["layers"]), ...(prepared.names ? ["names"] : [])];
      return Object.freeze({ ...trace, prepared, offers, sparing: true });
    },
    async layers(trace, wanted, how = {}) {
      const { prepared } = trace;
      if (!prepared) return computing.layers(trace, wanted, how);
      const { opening, upper, layers } = prepared;
      const layer = wanted?.[0] ?? upper; // the lens asks for one at a time
      const [head, ...others] = how.heads ?? [];
      const isOpening = opening?.layer === layer && opening.head === head && !others.length;
      if (!isOpening && !layers[layer]) throw new Refusal(400, `There is no layer ${layer}.`);
      return read(isOpening ? opening.file : layers[layer], how);
    },
    picture: (trace, how) => (trace.prepared ? pictureFile(trace, how) : computing.picture(trace, how)),
    features: computed("features"),
    flows: computed("flows"),
    rollout: computed("rollout"),
    whole: computed("whole"),
    moved: computed("moved"),
    async names({ prepared }, layer, how) {
      const told = await read(prepared.names, how);
      return JSON.parse(new TextDecoder().decode(told))[layer];
    },
    async beginWith() {}, // the page itself names what comes first
    addressOf: computing.addressOf,
  };
}
