// A lesson's page where there is no server: its drawings, where JavaScript makes all their numbers; what it is; and how
// to get the app that has it whole.

import { sayMath } from "../drawing/dom.js";
import { pageSays } from "./pagesays.js";

let leaveLesson = null; // ends the drawings of the lesson that was shown

// `drawings`: [{title, script, styles, settings: {name: what it begins with}, data}]; `fileAt(name)`: where one lies
export function showLesson(box, { name, title, about }, { go, drawings = [], fileAt }) {
  leaveLesson?.();
  leaveLesson = null;
  const [heading, what, how] = ["h1", "p", "p"].map((tag) => document.createElement(tag));
  sayMath(heading, title);
  what.textContent = about ?? "";
  const typed = document.createElement("code");
  typed.textContent = pageSays().app.command;
  const rest = drawings.length
    ? "The app has this lesson whole, with questions, exercises and your own picture: "
    : "Python computes its numbers, and this page has none. The app has this lesson: ";
  how.append(rest, typed, ` ${pageSays().app.where}.`);
  const back = document.createElement("button");
  Object.assign(back, { type: "button", className: "wide", textContent: "Back to the microscope" });
  back.addEventListener("click", () => go("microscope"));
  const places = drawings.map(({ title: step }) => placeOf(step));
  box.dataset.page = name;
  box.replaceChildren(heading, what, ...places.map(({ part }) => part), how, back);
  if (drawings.length) leaveLesson = mountDrawings(places, drawings, fileAt);
}

function placeOf(title) {
  const part = document.createElement("section");
  const heading = document.createElement("h2");
  heading.textContent = title;
  const host = document.createElement("div");
  part.append(heading, host);
  const within = host.attachShadow({ mode: "open" }); // as in the app: no style of another part reaches it
  const drawing = document.createElement("div");
  drawing.className = "drawing";
  drawing.dataset.drawing = "";
  within.append(drawing);
  return { part, within, host };
}

// What is set in one drawing is set in all that show the same.
function mountDrawings(places, drawings, fileAt) {
  const settings = Object.assign({}, ...drawings.map((drawing) => drawing.settings));
  const mounted = [];
  let left = false;
  const shown = (drawing) =>
    Object.fromEntries(Object.keys(drawing.settings).map((setting) => [setting, settings[setting]]));
  const drawOne = (i) => {
    const drawing = drawings[i];
    const setStateValue = (setting, value) => {
      settings[setting] = value;
      for (let other = 0; other < drawings.length; other++)
        if (other !== i && setting in drawings[other].settings && mounted[other]) drawOne(other);
    };
    const data = { ...drawing.data, ...shown(drawing) };
    mounted[i].end = mounted[i].mount({ data, parentElement: places[i].within, setStateValue });
  };
  drawings.forEach(async ({ script, styles }, i) => {
    const [module, css] = await Promise.all([
      import(fileAt(script)),
      fetch(fileAt(styles)).then((told) => told.text()),
    ]);
    if (left) return;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    places[i].within.adoptedStyleSheets = [sheet];
    mounted[i] = { mount: module.default, end: null };
    drawOne(i);
  });
  return () => {
    left = true;
    for (const one of mounted) one?.end?.();
  };
}
