// The microscope as a widget of notebooks (playground/figures/notebook.py): layer, head and query have the same values
// here and in Python, whoever changes them. A query is [row, column], or the name of a prefix token.
import { make } from "../drawing/dom.js";
import { createLens } from "../lens/lens.js";
import { languageOf } from "../words/languages.js";
import { aloneIn, heldSource, heldTrace, shadowOf } from "./element.js";

const SHARED = ["layer", "head", "query"];

export const lensWidget = (styles) => ({
  render({ model, el }) {
    const inPython = () => ({ layer: model.get("layer"), head: model.get("head"), query: String(model.get("query")) });
    const isOther = (view) => (name) => view[name] !== undefined && inPython()[name] !== view[name];
    const tell = (view) => {
      const changed = SHARED.filter(isOther(view));
      for (const name of changed) model.set(name, name === "query" ? queryOfText(view.query) : view[name]);
      if (changed.length) model.save_changes();
    };
    let pointed = String(model.get("query")); // the query on show
    const picture = createImageBitmap(new Blob([bytesOf(model.get("picture"))]));
    const numbers = bytesOf(model.get("numbers"));
    const root = shadowOf(el.appendChild(make("div")), styles);
    const lens = createLens(root.appendChild(make("div")), {
      source: heldSource(numbers, picture),
      see: aloneIn(() => languageOf(navigator.languages ?? [])),
      ui: { guest: true },
      link: null,
      onView: ({ layer, head }) => tell({ layer, head }),
      onQuery: (query) => {
        pointed = query;
        tell({ query });
      },
    });
    const follow = () => {
      if (SHARED.some(isOther({ ...lens.view, query: pointed })))
        lens.update({ view: { ...lens.view, ...inPython(), locked: false }, hovers: false });
    };
    for (const name of SHARED) model.on(`change:${name}`, follow);
    lens.show({ main: heldTrace(numbers, model.get("title")), view: inPython() });
    return () => {
      for (const name of SHARED) model.off(`change:${name}`, follow);
      lens.destroy();
    };
  },
});

const queryOfText = (text) => (text.includes(",") ? text.split(",").map(Number) : text);

const bytesOf = ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength);
