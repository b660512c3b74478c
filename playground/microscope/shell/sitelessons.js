// A lesson's page where there is no server: its steps, one at a time, and how to get the app, which has it whole.
//
// The file of a lesson (playground/ui/site/__init__.py): {settings: {name: {default, options, pattern}}, scripts,
// plotly, steps: [{name, title, beyond, file: of its parts}]}. lessons/host.js, which `host` names, plays the parts.

import { sayMath } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";
import { pageSays } from "./early.js";

let leaveLesson = () => {}; // ends what is mounted of the lesson that was shown

// `file`: of the lesson; `words`: what the address says of it; `chose(words)`; `read(name)` gives a
// promise of a file's bytes, and `fileAt(name)` says where it lies.
export function showLesson(box, { name, title, about }, { go, file, words, chose, read, fileAt }) {
  leaveLesson();
  const stop = new AbortController();
  leaveLesson = () => stop.abort();
  const [heading, what, how] = ["h1", "p", "p"].map((tag) => document.createElement(tag));
  sayMath(heading, title);
  what.innerHTML = markedWords(about ?? "");
  const typed = document.createElement("code");
  typed.textContent = pageSays().app.command;
  how.append("The app has this lesson whole, with your own picture: ", typed, ` ${pageSays().app.where}.`);
  const back = buttonOf("wide", "Back to the microscope", () => go("microscope"));
  const place = document.createElement("div");
  box.dataset.page = name;
  box.replaceChildren(heading, what, place, how, back);
  const failed = (error) => {
    if (!stop.signal.aborted) place.textContent = error.says ?? "The lesson did not come: open this page again.";
  };
  const readJson = (one) =>
    read(one, { signal: stop.signal }).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
  readJson(file)
    .then((told) => beginLesson(place, told, { words, chose, read, readJson, fileAt, failed, left: stop.signal }))
    .catch(failed);
}

function buttonOf(kind, words, act) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: kind });
  button.innerHTML = markedWords(words);
  button.addEventListener("click", act);
  return button;
}

function beginLesson(place, told, { words, chose, read, readJson, fileAt, failed, left }) {
  const tabs = document.createElement("nav");
  tabs.className = "lesson-steps";
  const body = document.createElement("div");
  const { settings, defaults, options } = settingsOf(told.settings, words);
  const lesson = { ...told, settings, defaults, options, read, fileAt, plotly: () => plotlyOf(told, fileAt) };
  let now = null; // what is played: {step, parts, end}
  lesson.set = (changes) => {
    Object.assign(settings, changes);
    now.parts?.draw(); // also the part that told it, which waits to hear it
    chose({ step: now.step.name, ...changedOf(told.settings, settings) });
  };
  const go = async (step) => {
    now?.end();
    const stop = new AbortController();
    const mine = { step, parts: null, end: () => [mine.parts?.end(), stop.abort()] };
    now = mine;
    for (const button of tabs.children)
      button.setAttribute("aria-current", button.dataset.step === step.name ? "step" : "false");
    const [{ default: playParts }, parts] = await Promise.all([import(fileAt(told.host)), readJson(step.file)]);
    if (now !== mine || left.aborted) return;
    const list = document.createElement("div");
    mine.parts = playParts(list, parts, lesson, stop.signal);
    body.replaceChildren(list, ...afterParts(step));
    mine.parts.draw();
  };
  const choose = (step) => {
    go(step).catch(failed);
    chose({ step: step.name, ...changedOf(told.settings, settings) });
  };
  const { steps } = told;
  function afterParts(step) {
    const beyond = document.createElement("p");
    beyond.className = "lesson-beyond";
    beyond.textContent = step.beyond ?? "";
    const next = steps[steps.indexOf(step) + 1];
    const lead = () => [choose(next), scrollTo(0, 0)];
    return [...(step.beyond ? [beyond] : []), ...(next ? [buttonOf("lesson-next", `Next: ${next.title}`, lead)] : [])];
  }
  for (const step of told.steps) {
    const button = buttonOf("lesson-step", step.title, () => choose(step));
    button.dataset.step = step.name;
    tabs.append(button);
  }
  if (steps.length > 1) place.replaceChildren(tabs, body);
  else place.replaceChildren(body);
  left.addEventListener("abort", () => now?.end());
  go(steps.find(({ name }) => name === words.step) ?? steps[0]).catch(failed);
}

// What the address says of a setting, where that is one of its options; else how it begins.
function settingsOf(told, words) {
  const [settings, defaults, options] = [{}, {}, {}];
  for (const [name, setting] of Object.entries(told)) {
    const { default: begins, options: there, pattern } = setting;
    [defaults[name], options[name]] = [begins, there];
    const known = there.some(([text]) => text === words[name]) || (pattern && isWritten(pattern, words[name]));
    settings[name] = known ? words[name] : begins;
  }
  return { settings, defaults, options };
}

const isWritten = (pattern, word) => word !== undefined && new RegExp(`^(?:${pattern})$`).test(word);

function changedOf(told, settings) {
  const changed = Object.entries(settings).filter(([name, text]) => told[name].default !== text);
  return Object.fromEntries(changed);
}

// Plotly comes when the first chart is shown. It would write styles of its own into the page, which the page's policy
// forbids, were there no elements with their ids: those that it needs stand in shell/site.css.
let comingPlotly = null;

function plotlyOf({ plotly: { file, styles } }, fileAt) {
  comingPlotly ??= new Promise((resolve, reject) => {
    const instead = styles.map((id) =>
      Object.assign(document.createElement("template"), { id, className: "no-inline-styles" }),
    );
    const script = Object.assign(document.createElement("script"), { src: fileAt(file) });
    script.addEventListener("load", () => resolve(globalThis.Plotly));
    script.addEventListener("error", () => reject(new Error(file)));
    document.head.append(...instead, script);
  });
  return comingPlotly;
}
