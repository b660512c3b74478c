// The whole model as a row of boxes, on top of every lesson: the part that the page is about is lit, and each box leads
// to the page about it. Beside it: how many of the lessons' questions were guessed in this browser.
//
// data: {boxes: [{name, page, lit, group}], questions: how many there are}
// Out goes the trigger "go": {page}.

import { forget, readKept } from "../core/guesses.js";

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("[data-overview]") ?? parentElement;
  const box = ({ name, page, lit }) =>
    `<button data-page="${page}" ${lit ? 'class="lit" aria-current="true"' : ""}>${name}</button>`;
  const part = (group) => data.boxes.filter((one) => one.group === group).map(box);
  root.innerHTML = `<nav aria-label="The whole model">${[
    ...part("before"),
    `<span class="layer"><i>L ×</i>${part("layer").join("")}</span>`,
    ...part("after"),
  ].join("<s>→</s>")}</nav><p><span></span> <button data-forget hidden>forget them</button></p>`;
  const count = () => {
    const known = Object.keys(readKept(localStorage)).length;
    root.querySelector("p span").textContent = known
      ? `${known} of ${data.questions} questions guessed, kept in this browser only.`
      : "";
    root.querySelector("[data-forget]").hidden = !known;
  };
  root.onclick = (event) => {
    const button = event.target.closest?.("button");
    if (button?.dataset.page) setTriggerValue("go", { page: button.dataset.page, stamp: Date.now() });
    if (button && "forget" in button.dataset) {
      forget(localStorage);
      count();
    }
  };
  count();
  addEventListener("guess-locked", count);
  return () => removeEventListener("guess-locked", count);
}
