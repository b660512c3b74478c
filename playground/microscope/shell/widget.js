// The microscope as a widget of notebooks (playground/figures/widgets.py): layer, head and query have the same values
// here and in Python, whoever changes them. A query is [row, column], or the name of a prefix token.
import { make } from "../drawing/dom.js";
import { createLens } from "../lens/lens.js";

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
    const lens = createLens(placeIn(el, styles), {
      source: {
        offers: [],
        layers: async () => bytesOf(model.get("numbers")),
        picture: async () => createImageBitmap(new Blob([bytesOf(model.get("picture"))])),
      },
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
    const title = model.get("title");
    lens.show({ main: { id: "held", title: "", picture: { id: "picture", title } }, view: inPython() });
    return () => {
      for (const name of SHARED) model.off(`change:${name}`, follow);
      lens.destroy();
    };
  },
});

// A place whose styles are its own.
function placeIn(el, styles) {
  const root = el.appendChild(make("div")).attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets = [sheet];
  return root.appendChild(make("div"));
}

const queryOfText = (text) => (text.includes(",") ? text.split(",").map(Number) : text);

const bytesOf = ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength);
