// The playground without a server: toolbar and microscope in a page of plain files. This page answers the requests
// itself; networks run in a worker, so no picture leaves the machine. Lessons are read from files.

import { unzipped } from "../core/container.js";
import { unpack } from "../core/core.js";
import { gridFor } from "../core/grid.js";
import { setMath } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";
import { pageNow, readAddress, visit, writeBehindHash } from "./address.js";
import { catalogue, choice, isOwn, sampleNamed } from "./choice.js";
import { readPageData } from "./early.js";
import { answerHere, fetchFile } from "./http.js";
import { createPreparedSource, preferSource } from "./httpsource.js";
import { liveFrame } from "./live.js";
import { fillModels } from "./models.js";
import { notify } from "./notice.js";
import { createOffline } from "./offline.js";
import { createModelOpener } from "./ownmodels.js";
import { canCompute, computeHere, createPageAnswers, ownPicture } from "./siteanswers.js";
import { mountStage } from "./stage.js";
import { fillTakeAway } from "./takeaway.js";
import { mountToolbar } from "./toolbarmount.js";
import { mountWall } from "./wall.js";

const TOO_OLD =
  "This browser can't compute here, it has no WebAssembly with SIMD: samples work, own photographs need a newer one.";
const STAYS_HERE = "Your photograph stays here: it is looked at in this browser, and sent to nobody.";
const NEW_VERSION = "There is a new version of this page.";
const LIVE = { camera: () => visit.live?.camera(), film: (file) => visit.live?.film(file) };
const PHOTO_MODEL = "dinov2-small"; // the network for photographs

// The data from playground/ui/site: {worker, opener, kernels, models_from: origins that models may come from, cards:
// {model: …}, weights: {model: {file, bytes, digest, …}}, lessons: {page: see below}, offline: see createOffline}
const SITE_SCRIPT = document.querySelector("script[data-site]");
const site = JSON.parse(SITE_SCRIPT.dataset.site);
const siteRoot = new URL("./", SITE_SCRIPT.src).href;
const siteFile = (name) => new URL(name, siteRoot).href;

async function readFile(name, { signal } = {}) {
  const bytes = new Uint8Array(await (await fetchFile(siteFile(name), { signal })).arrayBuffer());
  return name.endsWith(".packed") ? unzipped(bytes) : bytes;
}

const isAble = canCompute();
if (!isAble) site.weights = {};
const missingReason = isAble ? undefined : TOO_OLD;
const { kept: store, networks, computing, ownModels } = computeHere(site, siteFile, pictureNamed);
const fileModels = isAble ? ownModels((model) => choice.set({ model, chose: true })) : null;
const models = fileModels && createModelOpener(async () => fileModels, choice);

const prepared = createPreparedSource({
  computing,
  models: networks,
  isKept: store.isKept,
  preparedOf: ({ sample, model, detail, scale, cut }) =>
    scale === undefined && !cut && (sampleNamed(sample)?.prepared[`${model} ${detail ?? 1}`] ?? null),
  read: readFile,
  without: missingReason,
  knows: (model) => model in site.cards,
  pictureFile: async ({ picture }) =>
    createImageBitmap(new Blob([await readFile(sampleNamed(picture.sample).picture)])),
});

async function pictureNamed({ sample, mine }) {
  if (mine) return liveFrame(mine) ?? ownPicture(mine);
  const record = sampleNamed(sample);
  if (!record) throw Object.assign(new Error(sample), { status: 404, says: `There is no sample called ${sample}.` });
  const { name, credit, start, width, height, opens, picture } = record;
  const { model, layer, head } = opens;
  const file = async () => new Blob([await readFile(picture)], { type: "image/jpeg" });
  const view = layer === undefined ? {} : { [model]: { layer, head } };
  return { id: name, title: name, credit, hint: "", start, width, height, opens: view, file };
}

// Runs `act` after the page's load event, or in the next task if that event is over: begin.js adds this script late.
function whenLoaded(act) {
  if (document.readyState === "complete") setTimeout(act);
  else addEventListener("load", act);
}

// Opens a model from another address, given as #model=https://…, and removes this parameter. The model gets the name of
// its file.
function openModelOfAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  const address = words.get("model");
  if (!/^https?:\/\//.test(address ?? "")) return;
  words.delete("model");
  history.replaceState(null, "", `#${words}`);
  if (fileModels) whenLoaded(() => fileModels.bring(address, site.models_from ?? []));
}

// The list of samples, and the network that opens a person's own picture.
async function catalogueFrom(list) {
  const realEntry = networks[PHOTO_MODEL];
  const isRealHere = Boolean(realEntry) && (await store.isKept(PHOTO_MODEL));
  const usualModel = isRealHere || !networks.bundled ? PHOTO_MODEL : "bundled";
  const realModel = realEntry && {
    model: PHOTO_MODEL,
    title: realEntry.title,
    here: isRealHere,
    may_fetch: true,
    megabytes: realEntry.megabytes,
  };
  return { ...list, own: { model: usualModel, detail: 1 }, real: realModel ?? null };
}

function onModelArrived(model) {
  if (model !== PHOTO_MODEL || !catalogue.real) return;
  catalogue.real.here = true;
  catalogue.own = { model, detail: 1 };
}

// ----------------------------------------------------------------------------------------------------------- the page

const places = { toolbar: document.getElementById("toolbar"), stage: document.getElementById("stage") };
const lesson = document.getElementById("lesson");
const footer = document.getElementById("foot");
let pagesOpened = 0;

const wantedPage = () => {
  const { page } = readAddress().rest;
  return readPageData().pages.some(({ name }) => name === page) ? page : "microscope";
};

const wordsInHash = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

let leaveWall = null;
let leaveLesson = () => {}; // ends the lesson on show
const linkHere = (pageName, words) =>
  siteFile(`#${new URLSearchParams(pageName === "microscope" ? words : { page: pageName, ...words })}`);

function showPage(page) {
  const isLesson = page !== "microscope";
  document.body.classList.toggle("on-lesson", isLesson);
  places.stage.hidden = isLesson;
  lesson.hidden = !isLesson;
  if (isLesson) visit.live?.stop();
  lesson.classList.toggle("wall-room", page === "moments");
  leaveWall?.();
  leaveWall = null;
  if (page === "moments") leaveWall = mountWall(lesson, { link: linkHere, go: leadTo });
  else if (isLesson)
    showLesson(
      lesson,
      readPageData().pages.find(({ name }) => name === page),
      {
        go: leadTo,
        ...{ file: site.lessons[page], words: wordsInHash(), read: readFile, fileAt: siteFile },
        onChoice: (words) =>
          history.replaceState(null, "", `#${new URLSearchParams({ page, ...choice.words(), ...words })}`),
      },
    );
  mountToolbar({
    data: { page, arrived: pagesOpened, answer: null, run: null },
    parentElement: places.toolbar,
    setStateValue() {},
    setTriggerValue: (_, { page: pageName, words }) => leadTo(pageName, words),
    more: {
      kept: STAYS_HERE,
      live: Object.keys(networks).length ? LIVE : null,
      models,
      sheets: { models: models?.sheet ?? fillModels, export: fillTakeAway },
      link: linkHere,
    },
  });
}

// The model for live frames: the chosen model if its weights are in this browser, else another such model.
visit.modelForLive = async (model) => {
  const isAvailable = async (name) => networks[name] && (!networks[name].asked || (await store.isKept(name)));
  if (await isAvailable(model)) return model;
  for (const name of Object.keys(networks)) if (await isAvailable(name)) return name;
  return Object.keys(networks)[0]; // no model is in this browser: the source's error says which files to fetch
};

function leadTo(page, words = {}) {
  pagesOpened++;
  const query = new URLSearchParams(page === "microscope" ? words : { page, ...choice.words(), ...words });
  history.pushState(null, "", `#${query}`);
  showPage(page);
}

window.addEventListener("popstate", () => {
  if (wantedPage() === pageNow().name) return;
  pagesOpened++;
  showPage(wantedPage());
});

async function keepForOffline() {
  if (!("serviceWorker" in navigator) || !site.offline) return;
  const hadController = navigator.serviceWorker.controller;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (hadController) notify(NEW_VERSION, { action: { label: "load it", act: () => location.reload() } });
  });
  const controllerChange = new Promise((resolve) =>
    navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true }),
  );
  const registration = await navigator.serviceWorker.register(siteFile("sw.js")).catch(() => null);
  await store.dropOld().catch(() => {});
  if (!registration) return; // without a service worker, each visit needs the internet
  if (!navigator.serviceWorker.controller || registration.installing || registration.waiting) await controllerChange;
  createOffline(site.offline, { kept: store, networks, siteFile }).begin(footer, footer.querySelector("button"));
}

// Moves parameters after a ? behind the #, so that the app's addresses open here, too.
function takeQuery() {
  const { search, hash } = location;
  const words = new URLSearchParams(hash.slice(1));
  if (words.get("page") === "story") {
    words.delete("page");
    words.set("story", "1");
    history.replaceState(null, "", `#${words}`);
  }
  if (search.length > 1 && hash.length < 2) history.replaceState(null, "", `./#${search.slice(1)}`);
}

takeQuery();
openModelOfAddress();
writeBehindHash();
answerHere(
  createPageAnswers({
    ...{ models: networks, kept: store, catalogueFrom, arrived: onModelArrived },
    ...{ read: readFile, wall: site.moments, without: missingReason },
  }),
  siteRoot,
);
preferSource(prepared);
mountStage({ parentElement: places.stage, below: footer.offsetHeight + 3 }); // the footer and a gap
showPage(wantedPage());
choice.follow(
  (_, options) => options.quietly || pageNow().name === "microscope" || leadTo("microscope", choice.words()),
);
whenLoaded(() => setTimeout(keepForOffline));

// A lesson's page without a server: its steps, one at a time, and how to get the app, which has the whole lesson.
// The lesson's file, as playground/ui/site/__init__.py writes it: {settings: {name: {default, options, pattern}},
// scripts, plotly, host: the file of lessons/host.js, which shows a step's parts, model: the model whose numbers the
// lesson shows, steps: [{name, title, beyond, own, file: the file with the step's parts}]}. lessons/lesson.py explains
// `beyond` and `own`.

// file: the lesson's file; words: the address's parameters; onChoice(words): called after a choice; read(name): a
// promise of a file's bytes; fileAt(name): a file's address.
export function showLesson(box, { name, title, about }, { go, file, words, onChoice, read, fileAt }) {
  leaveLesson();
  const controller = new AbortController();
  leaveLesson = () => controller.abort();
  const [heading, description, appLine] = ["h1", "p", "p"].map((tag) => document.createElement(tag));
  setMath(heading, title);
  description.innerHTML = markedWords(about ?? "");
  const command = document.createElement("code");
  command.textContent = readPageData().app.command;
  appLine.append("The app has this lesson whole: ", command, ` ${readPageData().app.where}.`);
  const backButton = buttonOf("wide", "Back to the microscope", () => go("microscope"));
  const place = document.createElement("div");
  box.dataset.page = name;
  box.replaceChildren(heading, description, place, appLine, backButton);
  const showFailure = (error) => {
    if (!controller.signal.aborted) place.textContent = error.says ?? "The lesson did not come: open this page again.";
  };
  const readJson = (address) =>
    read(address, { signal: controller.signal }).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
  readJson(file)
    .then((record) =>
      beginLesson(place, record, {
        words,
        onChoice,
        read,
        readJson,
        fileAt,
        failed: showFailure,
        left: controller.signal,
      }),
    )
    .catch(showFailure);
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
    const trace = await prepared.open({ mine: id, model, ...cuts }, options);
    const layers = Array.from({ length: trace.layers }, (_, layer) => layer);
    const bytes = await prepared.layers(trace, layers, options);
    const features = () => Promise.all(layers.map((layer) => prepared.features(trace, layer, options)));
    return { trace, bytes, pack: unpack(bytes), features, answer: () => prepared.answer(trace, options) };
  }
  const basePass = await runPass();
  const { trace, pack, bytes } = basePass;
  const bitmap = await prepared.picture(trace);
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

function beginLesson(place, record, { words, onChoice, read, readJson, fileAt, failed, left: signal }) {
  const tabs = document.createElement("nav");
  tabs.className = "lesson-steps";
  const body = document.createElement("div");
  const { settings, defaults, options } = settingsOf(record.settings, words);
  const lesson = { ...record, settings, defaults, options, read, fileAt, plotly: () => plotlyOf(record, fileAt) };
  let shownPlayer = null; // the shown step: {step, parts, end}
  let photographPromise = null; // a promise of the person's own photograph
  // {subject: the person's own photograph if it is chosen, else null, line: says whose numbers the step shows}
  async function subjectFor({ own }) {
    if (own === null || !isOwn(words.mine)) return { subject: null, line: "" };
    if (!own) return { subject: null, line: SAMPLE_NUMBERS };
    photographPromise ??= photographOf(words.mine, record.model, signal);
    try {
      return { subject: await photographPromise, line: OWN_NUMBERS };
    } catch (error) {
      photographPromise = null; // a later step tries again
      return { subject: null, line: `${SAMPLE_NUMBERS} ${error.says ?? ""}`.trim() };
    }
  }
  lesson.set = (changes) => {
    Object.assign(settings, changes);
    shownPlayer.parts?.draw();
    onChoice({ step: shownPlayer.step.name, ...changedSettings(record.settings, settings) });
  };
  const goToStep = async (step) => {
    shownPlayer?.end();
    const controller = new AbortController();
    const player = { step, parts: null, end: () => [player.parts?.end(), controller.abort()] };
    shownPlayer = player;
    for (const button of tabs.children)
      button.setAttribute("aria-current", button.dataset.step === step.name ? "step" : "false");
    const promises = [import(fileAt(record.host)), readJson(step.file), subjectFor(step)];
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
      ...(step.beyond ? [outsideLine] : []),
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
  goToStep(steps.find(({ name }) => name === words.step) ?? steps[0]).catch(failed);
}

// Returns {settings, defaults, options} by name. A setting has the value in the address if that is one of the options,
// else the default.
function settingsOf(declaredSettings, words) {
  const [settings, defaults, options] = [{}, {}, {}];
  for (const [name, setting] of Object.entries(declaredSettings)) {
    const { default: defaultText, options: choices, pattern } = setting;
    [defaults[name], options[name]] = [defaultText, choices];
    const isKnown = choices.some(([text]) => text === words[name]) || (pattern && isWritten(pattern, words[name]));
    settings[name] = isKnown ? words[name] : defaultText;
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
