// The microscope in an exported file. Everything that it shows is in the page (see playground/figures/html.py); what
// only a server could answer is not offered.

import { unzipped } from "../core/container.js";
import { viewFromQuery, viewToQuery } from "../core/view.js";
import { FIRST_WAY } from "../core/ways.js";
import { createLens } from "../lens/lens.js";
import { isMap } from "../lens/state.js";

const partOfPage = (id) => document.getElementById(id);
const published = /^https?:$/.test(location.protocol); // a file on a disk has no address that others can open

// A browser without DecompressionStream (older than 2023) stops here, and keeps the still figure.
async function bytesOf(id) {
  return unzipped(Uint8Array.from(atob(partOfPage(id).textContent), (letter) => letter.charCodeAt(0)));
}

// A file may hold only some heads. Links name a head by its number in the model; the lens counts the heads of the file.
// A link may also ask for what needs a server: the view then shows weights of the trained pass instead.
const inward = ({ head, ...view }, heads) => ({
  ...view,
  ...(head === undefined ? {} : { head: Math.max(0, heads.indexOf(Number(head))) }),
  what: isMap(view.what) ? FIRST_WAY : (view.what ?? FIRST_WAY),
  pass: "layer",
  beside: view.beside === "compare" ? "convolution" : (view.beside ?? "convolution"),
});

// The file's own numbers; what needs a network to run again is not offered.
const fileSource = (packed, bitmap) => ({
  offers: [],
  layers: async () => packed,
  picture: async () => bitmap,
});

async function startAlone() {
  const { title, view, heads, bare } = JSON.parse(partOfPage("start").textContent);
  const picture = partOfPage("picture"),
    foot = partOfPage("foot");
  const bitmap = await picture.decode().then(
    () => picture,
    () => null,
  );
  // A link carries the whole view: what it leaves out has its default, not what the file began with.
  const now = () => inward(location.hash.length > 1 ? viewFromQuery(location.hash) : view, heads);
  const room = () => ({ bare, height: -Math.ceil(document.body.scrollHeight - partOfPage("place").offsetHeight) });
  const packed = await bytesOf("pack");
  partOfPage("still").hidden = true; // the figure for those who run no scripts
  const lens = createLens(partOfPage("place"), {
    source: fileSource(packed, bitmap),
    view: now(),
    ui: room(), // from the start, so that the picture does not change its size later, under the cursor
    link: published
      ? (seen) => `${location.href.split("#")[0]}#${viewToQuery({ ...seen, head: heads[seen.head] })}`
      : null,
  });
  await lens.show({ main: { id: "file", title: "", picture: { id: "picture", title } } });
  new ResizeObserver(() => lens.update({ ui: room() })).observe(foot);
  window.addEventListener("hashchange", () => lens.update({ view: now() }));
}

startAlone();
