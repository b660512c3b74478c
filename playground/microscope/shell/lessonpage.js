// A lesson's page: its steps, one at a time. A lesson's record, as playground/serving/site_files.py makes it:
// {settings: {name: {default, options, pattern}}, steps: [{name, title, beyond, own, settings: their names, file: where
// the step's parts are, asks: names of the settings after which the parts are asked for again}]}. lessons/lesson.py
// explains `beyond` and `own`.
import { unpack } from "../core/core.js";
import { gridFor } from "../core/grid.js";
import { setMath } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";
import { isOwn } from "./choice.js";
import { source } from "./httpsource.js";
import { readPageData } from "./pagedata.js";

// page: {name, title, about}; lesson: {record: where the lesson's record is, parts(step): where a step's parts are for
// the picture on view, read(name, {signal}): a promise of the bytes at such a place, fileAt(name): its address, kit:
// what all lessons share, as playground/ui/site/page.py makes it, with `model`, the model in which this page computes a
// person's own photograph, if it does}; words: the address's parameters; onChoice(words): called after a choice;
// go(page) and link(page, words): as in page.js. Returns the function that ends the lesson.
export function showLesson(box, { name, title, about }, lesson, { words, onChoice, go, link }) {
  const controller = new AbortController();
  const [heading, description] = ["h1", "p"].map((tag) => document.createElement(tag));
  setMath(heading, title);
  description.innerHTML = markedWords(about);
  const backButton = buttonOf("wide", "Back to the microscope", () => go("microscope"));
  const place = document.createElement("div");
  box.dataset.page = name;
  box.replaceChildren(heading, description, place, ...appLine(), backButton);
  const failed = (error) => {
    if (!controller.signal.aborted) place.textContent = error.says ?? "The lesson did not come: open this page again.";
  };
  const readJson = (file) =>
    lesson.read(file, { signal: controller.signal }).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
  readJson(lesson.record)
    .then((record) =>
      beginLesson(place, record, { ...lesson, words, onChoice, link, readJson, failed, left: controller.signal }),
    )
    .catch(failed);
  return () => controller.abort();
}

// How to get the app, on a page without a server.
function appLine() {
  const { app } = readPageData();
  if (!app) return [];
  const [line, command] = ["p", "code"].map((tag) => document.createElement(tag));
  command.textContent = app.command;
  line.append("The app has this lesson whole: ", command, ` ${app.where}.`);
  return [line];
}

function buttonOf(kind, words, act) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: kind });
  button.innerHTML = markedWords(words);
  button.addEventListener("click", act);
  return button;
}

// A person's own photograph as a subject for lessons/subject.js.
async function photographOf(id, model, signal) {
  const options = { signal };
  // A pass through the lesson's model: plain, or with `cuts`, its scale and cuts.
  async function runPass(cuts = {}) {
    const trace = await source.open({ mine: id, model, ...cuts }, options);
    const layers = Array.from({ length: trace.layers }, (_, layer) => layer);
    const bytes = await source.layers(trace, layers, options);
    const features = () => Promise.all(layers.map((layer) => source.features(trace, layer, options)));
    return { trace, bytes, pack: unpack(bytes), features, answer: () => source.answer(trace, options) };
  }
  const basePass = await runPass();
  const { trace, pack, bytes } = basePass;
  const bitmap = await source.picture(trace);
  const { width, height } = trace.private_picture;
  const gridOf = (nativeGrid) => gridFor([width, height], nativeGrid);
  return {
    id: trace.id,
    words: `mine=${id}&model=${model}`,
    pack,
    bytes,
    bitmap,
    gridFor: gridOf,
    plain: basePass,
    runPass,
  };
}

const OWN_NUMBERS = "This is your photograph: its numbers are computed in this browser.";
const SAMPLE_NUMBERS = "These numbers are of a sample, not of your photograph.";

function beginLesson(
  place,
  record,
  { words, onChoice, link, read, readJson, fileAt, kit, parts: partsOf, failed, left: signal },
) {
  const tabs = document.createElement("nav");
  tabs.className = "lesson-steps";
  const body = document.createElement("div");
  const { settings, defaults, options } = settingsOf(record.settings, words);
  const lesson = { ...kit, settings, defaults, options, read, fileAt, link, plotly: () => plotlyOf(kit, fileAt) };
  let shownPlayer = null; // the shown step: {step, parts, end}
  let photographPromise = null; // a promise of the person's own photograph
  // {subject: the person's own photograph if it is chosen, else null, line: says whose numbers the step shows}
  async function subjectFor({ own }) {
    if (own === null || !kit.model || !isOwn(words.mine)) return { subject: null, line: "" };
    if (!own) return { subject: null, line: SAMPLE_NUMBERS };
    photographPromise ??= photographOf(words.mine, kit.model, signal);
    try {
      return { subject: await photographPromise, line: OWN_NUMBERS };
    } catch (error) {
      photographPromise = null; // a later step tries again
      return { subject: null, line: `${SAMPLE_NUMBERS} ${error.says ?? ""}`.trim() };
    }
  }
  lesson.set = (changes) => {
    Object.assign(settings, changes);
    onChoice({ step: shownPlayer.step.name, ...changedSettings(record.settings, settings) });
    if (shownPlayer.step.asks?.some((name) => name in changes)) renew(shownPlayer).catch(failed);
    else shownPlayer.parts?.draw();
  };
  // Asks for the parts of the step with the present settings.
  async function renew(player) {
    const { asked } = Object.assign(player, { asked: player.asked + 1 });
    const parts = await readJson(partsOf(player.step));
    if (shownPlayer !== player || player.asked !== asked || signal.aborted) return;
    if (!player.parts.renew(parts)) goToStep(player.step).catch(failed);
  }
  const goToStep = async (step) => {
    shownPlayer?.end();
    const controller = new AbortController();
    const player = { step, parts: null, asked: 0, end: () => [player.parts?.end(), controller.abort()] };
    shownPlayer = player;
    for (const button of tabs.children)
      button.setAttribute("aria-current", button.dataset.step === step.name ? "step" : "false");
    const promises = [import(fileAt(kit.host)), readJson(partsOf(step)), subjectFor(step)];
    const [{ default: playParts }, parts, { subject, line }] = await Promise.all(promises);
    if (shownPlayer !== player || signal.aborted) return;
    const [ownerLine, list] = ["p", "div"].map((tag) => document.createElement(tag));
    ownerLine.className = "lesson-whose";
    ownerLine.innerHTML = markedWords(line);
    const context = { ...lesson, subject, stays: SAMPLE_NUMBERS };
    player.parts = playParts(list, parts, context, controller.signal);
    body.replaceChildren(...(line ? [ownerLine] : []), list, ...afterParts(step));
    player.parts.draw();
  };
  const choose = (step) => {
    goToStep(step).catch(failed);
    onChoice({ step: step.name, ...changedSettings(record.settings, settings) });
  };
  const { steps } = record;
  function afterParts(step) {
    const outsideLine = document.createElement("p");
    outsideLine.className = "lesson-beyond";
    outsideLine.textContent = step.beyond ?? "";
    const nextStep = steps[steps.indexOf(step) + 1];
    const goToNext = () => [choose(nextStep), scrollTo(0, 0)];
    return [
      ...(step.beyond && kit.model ? [outsideLine] : []),
      ...(nextStep ? [buttonOf("lesson-next", `Next: ${nextStep.title}`, goToNext)] : []),
    ];
  }
  for (const step of record.steps) {
    const button = buttonOf("lesson-step", step.title, () => choose(step));
    button.dataset.step = step.name;
    tabs.append(button);
  }
  if (steps.length > 1) place.replaceChildren(tabs, body);
  else place.replaceChildren(body);
  signal.addEventListener("abort", () => shownPlayer?.end());
  goToStep(stepOfAddress(steps, words)).catch(failed);
}

// The step that an address names. An old address names none: it opens the step to which most of its settings belong.
export function stepOfAddress(steps, words) {
  const countOf = ({ settings }) => settings.filter((name) => name in words).length;
  const fittingStep = steps.reduce((best, step) => (countOf(step) > countOf(best) ? step : best));
  return steps.find(({ name }) => name === words.step) ?? fittingStep;
}

// Returns {settings, defaults, options} by name. A setting has the value in the address if that is one of the options,
// else the default. `former`: the name that a setting has in old addresses.
export function settingsOf(declaredSettings, words) {
  const [settings, defaults, options] = [{}, {}, {}];
  for (const [name, setting] of Object.entries(declaredSettings)) {
    const { default: defaultText, options: choices, pattern, former } = setting;
    const word = words[name] ?? words[former];
    [defaults[name], options[name]] = [defaultText, choices];
    const isKnown = choices.some(([text]) => text === word) || (pattern && isWritten(pattern, word));
    settings[name] = isKnown ? word : defaultText;
  }
  return { settings, defaults, options };
}

const isWritten = (pattern, word) => word !== undefined && new RegExp(`^(?:${pattern})$`).test(word);

function changedSettings(defaults, settings) {
  const changedEntries = Object.entries(settings).filter(([name, text]) => defaults[name].default !== text);
  return Object.fromEntries(changedEntries);
}

// Loads Plotly for the first chart. Plotly would insert style elements, which the page's content security policy
// forbids; it skips them if elements with their ids exist. shell/site.css has the styles that it needs.
let plotlyPromise = null;

function plotlyOf({ plotly: { file, styles } }, fileAt) {
  plotlyPromise ??= new Promise((resolve, reject) => {
    const stylesheets = styles.map((id) =>
      Object.assign(document.createElement("template"), { id, className: "no-inline-styles" }),
    );
    const script = Object.assign(document.createElement("script"), { src: fileAt(file) });
    script.addEventListener("load", () => resolve(globalThis.Plotly));
    script.addEventListener("error", () => reject(new Error(file)));
    document.head.append(...stylesheets, script);
  });
  return plotlyPromise;
}
