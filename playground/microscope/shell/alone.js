// Shows an interactive figure in its page (see playground/figures/html.py). Keeps the view in the page's address, and
// leaves space for the footer.
import { viewFromQuery, viewToQuery } from "../core/view.js";
import { FIRST_WAY } from "../core/ways.js";
import { isMap } from "../lens/state.js";
import { languageOf } from "../words/languages.js";
import { aloneIn, bringFromPage, defineLens } from "./element.js";

/** @returns {any} */
const partOfPage = (id) => document.getElementById(id);
const isPublished = /^https?:$/.test(location.protocol); // a file on a disk has no address that others can open
const { view: openingView, best, bare, model, title, parts } = JSON.parse(partOfPage("start").textContent);

// Changes a link's view to one that this file can show: a view that needs a server is replaced by the weights of the
// trained pass.
const withoutServer = (view) => ({
  ...view,
  what: isMap(view.what) ? FIRST_WAY : (view.what ?? FIRST_WAY),
  pass: "layer",
  beside: view.beside === "compare" ? "convolution" : (view.beside ?? "convolution"),
});
// A link holds a whole view, so a missing parameter means the default, not the value with which the file opens.
const viewOfLink = () => withoutServer(location.hash.length > 1 ? viewFromQuery(location.hash) : openingView);

// See shows rows of weights beside a convolution; Lab all the rest.
const faceFor = (view) =>
  (view.direction ?? "row") === "row" && view.what === FIRST_WAY && view.beside !== "filter" ? "see" : "lab";
const language = () => languageOf(navigator.languages ?? []);

const addressOfView = (shownView) => `${location.href.split("#")[0]}#${viewToQuery(shownView)}`;
const roomOfFile = () => ({ bare, below: Math.ceil(partOfPage("foot").getBoundingClientRect().height) });

defineLens(async (element) => {
  const { source, trace } = await bringFromPage(element); // browsers older than 2023 keep the still figure
  partOfPage("still").hidden = true;
  Object.assign(trace, { title: model, picture: { id: "picture", title, parts } });
  const view = viewOfLink();
  const see = bare ? null : aloneIn(language, faceFor(view));
  const link = isPublished ? addressOfView : null;
  const opensAtBest = best && location.hash.length < 2;
  return { source, trace, view, best: opensAtBest, options: { ui: roomOfFile(), link, see } };
});
new ResizeObserver(() => partOfPage("lens").update({ ui: roomOfFile() })).observe(partOfPage("foot"));
addEventListener("hashchange", () => partOfPage("lens").update({ view: viewOfLink() }));
