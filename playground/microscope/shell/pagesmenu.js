// The menu of pages: real links, so that one opens in a tab of its own like any other.

import { sayMath } from "../drawing/dom.js";
import { nextByKey } from "./roving.js";

// pages: [{name, title, number, steps: of one that is not here, but in the app}]; link(page, words) gives an address,
// go(page, words) leads there within the app.
export function fillPages(box, { pages, page, words, link, go, version }) {
  const menu = document.createElement("nav");
  menu.className = "pages";
  menu.setAttribute("aria-label", "Pages");
  const entry = (name, asked, number, title) => {
    const anchor = document.createElement("a");
    anchor.href = link(name, asked);
    const [place, says] = [document.createElement("span"), document.createElement("span")];
    place.textContent = number ?? "";
    sayMath(says, title);
    anchor.append(place, says);
    anchor.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // a tab of its own
      event.preventDefault();
      go(name, asked);
    });
    menu.append(anchor);
    return anchor;
  };
  for (const { name, title, number, steps } of pages) {
    const anchor = entry(name, words, number, title);
    if (steps) anchor.classList.add("elsewhere");
    if (steps) anchor.title = "The app has this lesson";
    if (name === page) anchor.setAttribute("aria-current", "page");
  }
  entry(pages[0].name, { ...words, tour: "1" }, null, "Guided tour").className = "tour-entry";
  menu.addEventListener("keydown", (event) => {
    const next = nextByKey(event, [...menu.querySelectorAll("a")], ["ArrowUp", "ArrowDown"]);
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  const small = document.createElement("small");
  const elsewhere = pages.some(({ steps }) => steps) ? "Grey: in the app alone. " : "";
  small.textContent = `${elsewhere}Attention Playground ${version}`;
  box.append(menu, small);
}
