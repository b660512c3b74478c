// The whole model as a row of boxes, on top of every lesson: the part that the page is about is lit, and each box leads
// to the page about it. Beside it: how many of the lessons' questions were guessed in this browser, and how many
// exercises done.
//
// data: {boxes: [{name, page, lit, group}], questions, exercises: how many there are, step: the page and its step}
// Out goes the trigger "go": {page}.

import { DONE, forget, readKept } from "../core/guesses.js";

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
    const known = Object.values(readKept(localStorage)).filter((one) => one?.words).length;
    const done = Object.keys(readKept(localStorage, DONE)).length;
    const said = [
      known && `${known} of ${data.questions} questions guessed`,
      done && `${done} of ${data.exercises} exercises done`,
    ].filter(Boolean);
    root.querySelector("p span").textContent = said.length ? `${said.join(", ")}; kept in this browser only.` : "";
    root.querySelector("[data-forget]").hidden = !said.length;
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
  if (parentElement.__step && parentElement.__step !== data.step) root.scrollIntoView({ block: "center" }); // the top
  parentElement.__step = data.step;
  addEventListener("guess-locked", count);
  return () => removeEventListener("guess-locked", count);
}
