// Shows an interactive figure in its page (see playground/figures/html.py). Keeps the view in the page's address, and
// leaves space for the footer.
import { viewFromQuery, viewToQuery } from "../core/view.js";
import { FIRST_WAY } from "../core/ways.js";
import { isMap } from "../lens/state.js";
import { bringFromPage, defineLens } from "./element.js";

const partOfPage = (id) => document.getElementById(id);
const isPublished = /^https?:$/.test(location.protocol); // a file on a disk has no address that others can open
const { view: openingView, heads: heldHeads, bare } = JSON.parse(partOfPage("start").textContent);

// Changes a link's view to one that this file can show. The file may contain only some heads: links name a head by its
// number in the model, but the lens names it by its place in the file. A view that needs a server is replaced by the
// weights of the trained pass.
const toHeldHead = ({ head, ...view }) => ({
  ...view,
  ...(head === undefined ? {} : { head: Math.max(0, heldHeads.indexOf(Number(head))) }),
  what: isMap(view.what) ? FIRST_WAY : (view.what ?? FIRST_WAY),
  pass: "layer",
  beside: view.beside === "compare" ? "convolution" : (view.beside ?? "convolution"),
});
// A link holds a whole view, so a missing parameter means the default, not the value with which the file opens.
const viewOfLink = () => toHeldHead(location.hash.length > 1 ? viewFromQuery(location.hash) : openingView);

const addressOfView = (shownView) =>
  `${location.href.split("#")[0]}#${viewToQuery({ ...shownView, head: heldHeads[shownView.head] })}`;
const roomOfFile = () => ({ bare, height: -Math.ceil(document.body.scrollHeight - partOfPage("lens").offsetHeight) });

defineLens(async (element) => {
  const content = await bringFromPage(element); // browsers older than 2023 can't unzip, and keep the still figure
  partOfPage("still").hidden = true;
  const link = isPublished ? addressOfView : null;
  return { ...content, view: viewOfLink(), options: { ui: roomOfFile(), link } };
});
new ResizeObserver(() => partOfPage("lens").update({ ui: roomOfFile() })).observe(partOfPage("foot"));
addEventListener("hashchange", () => partOfPage("lens").update({ view: viewOfLink() }));
