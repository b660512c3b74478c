// The samples of this server and how they open; the same for everybody, fetched once.

import { ask } from "./http.js";

export const catalogue = {
  samples: [], // [{name, title, hint, kind, credit, start, thumb, picture, opens: {model, detail, layer, head}}]
  own: { model: "bundled", detail: 1 }, // how a person's own picture opens
  real: null, // {model, title, here, may_fetch, megabytes, with_photographs: they come with it}: the model that knows
  //             photographs
  ours: [], // names of the models that come with the playground
};

let loading = null;

export function loadCatalogue(address) {
  loading ??= ask(address)
    .then((response) => response.json())
    .then((found) => Object.assign(catalogue, found))
    .catch((error) => {
      loading = null;
      throw error;
    });
  return loading;
}

export const sampleNamed = (name) => catalogue.samples.find((sample) => sample.name === name);

// The picture that comes first: a photograph where there is a model for it; who names one of our models gets a drawing.
export const firstSample = (model) =>
  (catalogue.ours.includes(model) ? catalogue.samples.find(({ kind }) => kind === "drawing") : null) ??
  catalogue.samples[0];
