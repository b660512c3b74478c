// A short notice in a corner of the page, such as an error. A new notice replaces the former. It disappears by itself,
// unless it `stays` or has an action's button; "always" outlives what is shown.

import { make } from "../drawing/dom.js";

const NOTICE_DURATION = 8000; // ms

let box = null;
let timer = 0;
/** @type {boolean | "always"} */
let isStaying = false;

/** @param {string} sentence @param {{ action?: any, stays?: boolean | "always", closed?: () => void }} [options] */
export function notify(sentence, { action = null, stays = false, closed: onClose = () => {} } = {}) {
  box ??= document.body.appendChild(make("div", { className: "attention-notice", role: "status" }));
  clearTimeout(timer);
  isStaying = stays;
  box.replaceChildren();
  box.hidden = !sentence;
  if (!sentence) return;
  box.append(make("span", "", sentence));
  if (action) box.append(makeButton(action.label, action.act));
  box.append(makeButton("×", onClose, "Close"));
  if (!action && !stays) timer = setTimeout(() => notify(""), NOTICE_DURATION);
}

// Closes a notice that stays, or one that does not.
export const forgetNotice = (stays = false) => box && isStaying === stays && notify("");

function makeButton(text, act, label = text) {
  const onclick = () => {
    notify("");
    act();
  };
  return make("button", { "aria-label": label, onclick }, text);
}
