// The script of a page that somebody shared: one moment, in See, with all that it needs in the page. See
// see/shared.js, which writes it.
import { unzipped } from "../core/container.js";
import { createLens } from "../lens/lens.js";
import { createSee } from "../see/see.js";

const inPage = (id) => document.getElementById(id);

export default async function startShared(styles) {
  const told = JSON.parse(inPage("start").textContent);
  const style = document.createElement("style");
  style.textContent = styles;
  document.head.append(style);
  const bytes = Uint8Array.from(atob(inPage("pack").textContent), (letter) => letter.charCodeAt(0));
  const pack = await unzipped(bytes);
  await inPage("picture").decode();
  const lens = createLens(inPage("place"), {
    source: { offers: [], layers: async () => pack, picture: async () => inPage("picture") },
    view: told.view,
    ui: { height: "window" },
    link: null,
    see: (lens) => createSee(lens, { face: "see", language: () => told.language, turned() {}, bar: 0 }),
  });
  const { title, credit, parts, model } = told;
  await lens.show({ main: { id: "shared", title: model, picture: { id: "picture", title, credit, parts } } });
  if (told.tryAt) inPage("place").after(leadToOwn(told));
}

function leadToOwn({ tryAt, tryYours }) {
  const link = Object.assign(document.createElement("a"), { href: tryAt, className: "try-yours", rel: "noopener" });
  link.textContent = tryYours;
  return link;
}
