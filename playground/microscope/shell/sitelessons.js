// A lesson's page where there is no server: its words, guesses, drawings and exercises step by step, where JavaScript
// makes all their numbers; else what it is. And how to get the app, which has it whole.
//
// The file of a lesson (playground/ui/site/lessons.py): {settings: {name: text}, scripts: {name: {script, styles}},
// steps: [{name, title, parts}]}. A part has a kind, and `after`: the id of the question that has to be guessed first.
// An exercise that settings tell has `done`: {setting: the values with which it is done}.
//   {kind: "words", text}, {kind: "said", by: a setting, texts: {its value: text}}
//   {kind: "ask", question}, {kind: "exercise", exercise, done or null}
//   {kind: "choice", setting, label, options: [[value, words]]}
//   {kind: "drawing", name, settings: those that it shows and sets, data | file | by and files: {value: file}}

import { sayMath } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";
import { pageSays } from "./early.js";

let leaveLesson = () => {}; // ends what is mounted of the lesson that was shown

// `file`: of the lesson, if there is one; `step`: to begin with; `chose(step)`; `read(name)` gives a promise of a
// file's bytes, and `fileAt(name)` says where it lies.
export function showLesson(box, { name, title, about, steps = [] }, { go, file, step, chose, read, fileAt }) {
  leaveLesson();
  const stop = new AbortController();
  leaveLesson = () => stop.abort();
  const [heading, what, how] = ["h1", "p", "p"].map((tag) => document.createElement(tag));
  sayMath(heading, title);
  what.innerHTML = markedWords(about ?? "");
  const typed = document.createElement("code");
  typed.textContent = pageSays().app.command;
  const rest = file
    ? "The app has this lesson whole, with your own picture: "
    : "Python computes its numbers, and this page has none. The app has this lesson: ";
  how.append(rest, typed, ` ${pageSays().app.where}.`);
  const back = buttonOf("wide", "Back to the microscope", () => go("microscope"));
  const place = document.createElement("div");
  if (steps.length) place.append(listOf(steps));
  box.dataset.page = name;
  box.replaceChildren(heading, what, place, how, back);
  if (!file) return;
  read(file, { signal: stop.signal }).then(
    (bytes) =>
      beginLesson(place, JSON.parse(new TextDecoder().decode(bytes)), { step, chose, read, fileAt, left: stop.signal }),
    (error) => {
      if (!stop.signal.aborted) place.textContent = error.says ?? "The lesson did not come: open this page again.";
    },
  );
}

function listOf(titles) {
  const list = document.createElement("ul");
  list.append(
    ...titles.map((title) => {
      const line = document.createElement("li");
      sayMath(line, title);
      return line;
    }),
  );
  return list;
}

function buttonOf(kind, words, act) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: kind });
  button.innerHTML = markedWords(words);
  button.addEventListener("click", act);
  return button;
}

function beginLesson(place, told, { step, chose, read, fileAt, left }) {
  const lesson = { ...told, read, fileAt, numbers: {}, mounted: [], end: () => {} };
  lesson.checks = import(fileAt(told.scripts.checks.script));
  lesson.set = (changes) => {
    Object.assign(lesson.settings, changes);
    for (const part of lesson.mounted) part.draw(); // also the one that told it, which waits to hear it
  };
  const tabs = document.createElement("nav");
  tabs.className = "lesson-steps";
  const body = document.createElement("div");
  const go = (wanted) => {
    lesson.end();
    for (const button of tabs.children)
      button.setAttribute("aria-current", button.dataset.step === wanted.name ? "step" : "false");
    lesson.end = showStep(body, wanted, lesson);
  };
  const choose = (one) => {
    go(one);
    chose(one.name);
  };
  for (const one of told.steps) {
    const button = buttonOf("lesson-step", one.title, () => choose(one));
    button.dataset.step = one.name;
    if (!one.parts) Object.assign(button, { disabled: true, title: "The app has this step" });
    tabs.append(button);
  }
  const steps = told.steps.filter(({ parts }) => parts);
  lesson.onward = (one) => {
    const next = steps[steps.findIndex(({ name }) => name === one.name) + 1];
    return next && { title: next.title, go: () => [choose(next), scrollTo(0, 0)] };
  };
  place.replaceChildren(tabs, body);
  left.addEventListener("abort", () => lesson.end());
  go(steps.find(({ name }) => name === step) ?? steps[0]);
}

// Gives what ends it.
function showStep(body, one, lesson) {
  const { parts } = one;
  const stop = new AbortController();
  lesson.mounted = [];
  lesson.numbers = Object.assign({}, ...parts.map(({ data }) => data));
  const places = parts.map((part) => {
    const place = document.createElement("div");
    place.className = `lesson-${part.kind}`;
    if (part.after) place.dataset.after = part.after;
    return place;
  });
  const next = lesson.onward(one);
  body.replaceChildren(...places, ...(next ? [buttonOf("lesson-next", `Next: ${next.title}`, next.go)] : []));
  const reveal = () => {
    const guessed = (document.documentElement.dataset.guessed ?? "").split(" ");
    for (const place of places) place.hidden = Boolean(place.dataset.after) && !guessed.includes(place.dataset.after);
  };
  addEventListener("guess-locked", reveal, { signal: stop.signal });
  parts.forEach((part, i) => {
    lesson.mounted.push(SHOWN_PARTS[part.kind](places[i], part, lesson, stop.signal, reveal));
  });
  reveal();
  const { mounted } = lesson;
  for (const part of mounted) part.draw();
  return () => {
    stop.abort();
    for (const part of mounted) part.end?.();
  };
}

const SHOWN_PARTS = {
  words(place, { text }) {
    place.innerHTML = markedWords(text);
    return { draw() {} };
  },
  said: (place, { by, texts }, lesson) => ({
    draw() {
      place.innerHTML = markedWords(texts[lesson.settings[by]]);
    },
  }),
  choice(place, { setting, label, options }, lesson) {
    const legend = document.createElement("span");
    legend.textContent = label;
    const part = {
      draw() {
        for (const button of place.querySelectorAll("button"))
          button.setAttribute("aria-pressed", String(button.dataset.value === lesson.settings[setting]));
      },
    };
    const buttons = options.map(([value, words]) => {
      const button = buttonOf("", words, () => lesson.set({ [setting]: value }));
      button.dataset.value = value;
      return button;
    });
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", label);
    place.append(legend, ...buttons);
    return part;
  },
  ask: (place, { question }, lesson, left, reveal) =>
    mounted(place, "guess", "guess", lesson, left, () => ({ ...question, context: "", afresh: false }), reveal),
  exercise(place, { exercise: { id, asks, hint, answer }, done }, lesson, left) {
    const isDone = async () => {
      if (done) return Object.entries(done).every(([name, values]) => values.includes(lesson.settings[name]));
      return (await lesson.checks).default(id, lesson.settings, lesson.numbers);
    };
    const told = async () => ({ id, question: asks, hint, answer, done: await isDone(), why: "" });
    return mounted(place, "exercise", "exercise", lesson, left, told);
  },
  drawing(place, { name, settings, data, file, by, files }, lesson, left) {
    if (name === "softmaxbars") return dials(place, data, lesson, left);
    const held = new Map(); // file → a promise of its bytes: the same bytes are the same data
    const told = () => {
      const wanted = file ?? files?.[lesson.settings[by]];
      if (!wanted) return { ...data, ...Object.fromEntries(settings.map((one) => [one, lesson.settings[one]])) };
      if (!held.has(wanted)) held.set(wanted, lesson.read(wanted));
      return held.get(wanted);
    };
    return mounted(place, name, "drawing", lesson, left, told);
  },
};

// The dials of a random row say three settings at once, and which scores there are follows from one of them.
function dials(place, { rows, ...data }, lesson, left) {
  const { settings } = lesson;
  const told = () => {
    const [dk, power] = [Number(settings.dk), Number(settings.power)];
    const row = Number(settings.row) % rows.length;
    return { ...data, scores: rows[row], row, dk, power, view_id: "here" };
  };
  return mounted(place, "softmaxbars", "softmax", lesson, left, told);
}

// One of our scripts in a place of its own, as in the app: no style of another part reaches it.
function mounted(place, script, kind, lesson, left, told, then = () => {}) {
  const within = place.attachShadow({ mode: "open" });
  const root = document.createElement("div");
  root.className = kind;
  root.dataset[kind] = "";
  within.append(root);
  const names = lesson.scripts[script];
  const coming = Promise.all([import(lesson.fileAt(names.script)), lesson.read(names.styles)]).then(
    ([{ default: mount }, styles]) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(new TextDecoder().decode(styles));
      within.adoptedStyleSheets = [sheet];
      return mount;
    },
  );
  const part = { draw, end: null };
  const setStateValue = (name, value) => {
    if (name !== "dials") return lesson.set({ [name]: String(value) });
    const [dk, power, row] = String(value).split(" ");
    lesson.set({ dk, power, row });
  };
  async function draw() {
    const [mount, data] = await Promise.all([coming, told()]);
    if (left.aborted) return;
    part.end = mount({ data, parentElement: within, setStateValue });
    then();
  }
  return part;
}
