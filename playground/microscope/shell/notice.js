// A short notice at the top of the page, such as an error. A new notice replaces the former. It disappears by itself,
// unless it has an action's button.

import { make } from "../drawing/dom.js";

const NOTICE_DURATION = 8000; // ms
const NOTICE_STYLE = `
.attention-notice {
  position: fixed; inset: 0.35rem auto auto 50%; transform: translateX(-50%); /* no number lies there */
  z-index: 1001; display: flex; gap: 0.7rem; align-items: center;
  max-width: min(32rem, 92vw); padding: 0.6rem 0.8rem; border-radius: 8px; font-size: 0.95rem;
  background: var(--st-text-color, #1a1a1e); color: var(--st-background-color, #fff);
  box-shadow: 0 3px 14px rgb(0 0 0 / 0.3);
}
.attention-notice[hidden] { display: none; }
.attention-notice button {
  border: 0; background: none; color: inherit; font: inherit; font-weight: 600; text-decoration: underline;
  text-underline-offset: 3px; white-space: nowrap; cursor: pointer;
}`; // the style is here because a notice may come before the style sheets

let box = null;
let timer = 0;

export function notify(sentence, { action = null, closed: onClose = () => {} } = {}) {
  box ??= makeBox();
  clearTimeout(timer);
  box.replaceChildren();
  box.hidden = !sentence;
  if (!sentence) return;
  box.append(make("span", "", sentence));
  if (action) box.append(makeButton(action.label, action.act));
  box.append(makeButton("×", onClose, "Close"));
  if (!action) timer = setTimeout(() => notify(""), NOTICE_DURATION);
}

export const forgetNotice = () => box && notify("");

function makeButton(text, act, label = text) {
  const onclick = () => {
    notify("");
    act();
  };
  return make("button", { "aria-label": label, onclick }, text);
}

function makeBox() {
  const element = make("div", { className: "attention-notice", role: "status" });
  const sheet = new document.defaultView.CSSStyleSheet(); // a strict policy forbids styles in the page
  sheet.replaceSync(NOTICE_STYLE);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  document.body.append(element);
  return element;
}
