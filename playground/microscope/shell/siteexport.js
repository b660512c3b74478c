// What can be taken away from a page without a server: the picture, a loop, a link. Figures are made by the app.

import { linkTo, viewNow } from "./address.js";
import { choice } from "./choice.js";
import { pageSays } from "./pagesays.js";
import { visit } from "./visit.js";

const FACTOR = 4; // times its size on the page

export function fillTakeAway(box, { done, share }) {
  const line = (words, act) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "wide", textContent: words });
    button.addEventListener("click", act);
    return button;
  };
  const note = document.createElement("p");
  note.className = "note";
  const { command, where } = pageSays().app;
  const made = "Figures for print, as SVG and PDF, numbers and living files are made by the app";
  note.textContent = `${made}: ${command} ${where}.`;
  const link = line("Copy the link to this view", async () => {
    const copied = await navigator.clipboard.writeText(linkTo(viewNow())).then(
      () => true,
      () => false,
    );
    link.textContent = copied ? "Copied" : "This browser does not let a page copy: take the address above";
  });
  box.append(line("Save the picture as PNG", () => saveAsPng().then(done)));
  if (share) box.append(line("A loop of three seconds, or a still picture", share));
  box.append(link, note);
}

async function saveAsPng() {
  const blob = await new Promise((kept) => visit.picture(FACTOR).toBlob(kept, "image/png"));
  const link = document.createElement("a");
  const { sample, model } = choice.now;
  Object.assign(link, { href: URL.createObjectURL(blob), download: `attention-${sample ?? "mine"}-${model}.png` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
