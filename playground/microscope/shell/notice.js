// A sentence for the person, in a corner of the page: what could not be done, or who comes first. A new one takes the
// place of the former; it goes by itself, but for one that offers something to do.

const STAYS = 8000; // ms

let box = null;
let timer = 0;

export function notify(sentence, { action = null, stays = STAYS } = {}) {
  box ??= makeBox();
  clearTimeout(timer);
  box.replaceChildren();
  box.hidden = !sentence;
  if (!sentence) return;
  const words = document.createElement("span");
  words.textContent = sentence;
  box.append(words);
  if (action) box.append(button(action.label, action.act));
  box.append(button("×", () => {}, "Close"));
  if (!action && Number.isFinite(stays)) timer = setTimeout(() => notify(""), stays);
}

export const forgetNotice = () => box && notify("");

function button(text, act, label = text) {
  const made = document.createElement("button");
  made.textContent = text;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", () => {
    notify("");
    act();
  });
  return made;
}

function makeBox() {
  const made = document.createElement("div");
  made.className = "attention-notice";
  made.setAttribute("role", "status");
  document.body.append(made);
  return made;
}
