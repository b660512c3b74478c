// The script of a shared page: one moment in See, self-contained. see/shared.js writes such pages.
import { make } from "../drawing/dom.js";
import { createSee } from "../see/see.js";
import { bringFromPage, defineLens } from "./element.js";

export default function startShared(styles) {
  const { title, credit, parts, model, view, language, tryAt, tryYours } = JSON.parse(
    document.getElementById("start").textContent,
  );
  const style = make("style", { textContent: styles });
  document.head.append(style);
  const makeSee = (lens) => createSee(lens, { face: "see", language: () => language, turned() {}, bar: 0 });
  defineLens(async (element) => {
    const { source } = await bringFromPage(element);
    const trace = { id: "shared", title: model, picture: { id: "picture", title, credit, parts } };
    return { source, trace, view, options: { see: makeSee } };
  });
  const foot = make("footer");
  foot.append(make("strong", { textContent: "Attention Playground" }));
  if (tryAt) foot.append(make("a", { href: tryAt, rel: "noopener", textContent: tryYours }));
  document.querySelector("main").after(foot);
}
