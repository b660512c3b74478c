// The page around a living figure (see playground/figures/html.py): its view is in the address, and its footer has a
// reserved place.
import { viewFromQuery, viewToQuery } from "../core/view.js";
import { FIRST_WAY } from "../core/ways.js";
import { isMap } from "../lens/state.js";
import { bringHeld, defineLens } from "./element.js";

const partOfPage = (id) => document.getElementById(id);
const published = /^https?:$/.test(location.protocol); // a file on a disk has no address that others can open
const { view: openingView, heads: heldHeads, bare } = JSON.parse(partOfPage("start").textContent);

// A file may hold only some heads. Links name a head by its number in the model; the lens counts the heads of the file.
// If a link needs a server, the view shows weights of the trained pass instead.
const toHeldHead = ({ head, ...view }) => ({
  ...view,
  ...(head === undefined ? {} : { head: Math.max(0, heldHeads.indexOf(Number(head))) }),
  what: isMap(view.what) ? FIRST_WAY : (view.what ?? FIRST_WAY),
  pass: "layer",
  beside: view.beside === "compare" ? "convolution" : (view.beside ?? "convolution"),
});
// A link holds the whole view: a missing word means the default, not the file's first value.
const viewOfLink = () => toHeldHead(location.hash.length > 1 ? viewFromQuery(location.hash) : openingView);

const outward = (shownView) =>
  `${location.href.split("#")[0]}#${viewToQuery({ ...shownView, head: heldHeads[shownView.head] })}`;
const roomOfFile = () => ({ bare, height: -Math.ceil(document.body.scrollHeight - partOfPage("lens").offsetHeight) });

defineLens(async (element) => {
  const content = await bringHeld(element); // a browser older than 2023 can't unzip it, and keeps the still figure
  partOfPage("still").hidden = true;
  const link = published ? outward : null;
  return { ...content, view: viewOfLink(), options: { ui: roomOfFile(), link } };
});
new ResizeObserver(() => partOfPage("lens").update({ ui: roomOfFile() })).observe(partOfPage("foot"));
addEventListener("hashchange", () => partOfPage("lens").update({ view: viewOfLink() }));
