// The playground without a server: toolbar and microscope in a page of plain files. What a server would answer the page
// answers itself; networks run in a worker, so no picture leaves this machine.

import { pageNow, readAddress, writeBehindHash } from "./address.js";
import { catalogue, choice, sampleNamed } from "./choice.js";
import { canCompute, computeHere, ownPicture } from "./computing.js";
import { pageSays } from "./early.js";
import { answerHere } from "./http.js";
import { askNearer } from "./httpsource.js";
import { liveFrame } from "./live.js";
import { fillModels } from "./models.js";
import { notify } from "./notice.js";
import { createPreparedSource } from "./preparedsource.js";
import { createPageAnswers, fillTakeAway } from "./siteanswers.js";
import { showLesson } from "./sitelessons.js";
import { mountStage } from "./stage.js";
import { mountToolbar } from "./toolbarmount.js";
import { visit } from "./visit.js";
import { mountWall } from "./wall.js";

const TOO_OLD =
  "This browser can't compute here, it has no WebAssembly with SIMD: samples work, own photographs need a newer one.";
const STAYS_HERE = "Your photograph stays here: it is looked at in this browser, and sent to nobody.";
const NEW_VERSION = "There is a new version of this page.";
const LIVE = { camera: () => visit.live?.camera(), film: (file) => visit.live?.film(file) };
const REAL_NAME = "dinov2-small"; // the network that knows photographs

// What playground/ui/site wrote: {worker, kernels, cards: {model: …}, weights: {model: {file, bytes, digest, …}},
// lessons: {page: see sitelessons.js}, offline: a service worker keeps the page}
const SITE_SCRIPT = document.querySelector("script[data-site]");
const site = JSON.parse(SITE_SCRIPT.dataset.site);
const siteRoot = new URL("./", SITE_SCRIPT.src).href;
const siteFile = (name) => new URL(name, siteRoot).href;

async function readFile(name, { signal } = {}) {
  const response = await fetch(siteFile(name), { signal });
  if (!response.ok) throw Object.assign(new Error(name), { status: response.status, says: `${name} is not there.` });
  return new Uint8Array(await response.arrayBuffer());
}

const able = canCompute();
if (!able) site.weights = {};
const lacks = able ? undefined : TOO_OLD;
const { kept, networks, computing } = computeHere(site, siteFile, pictureNamed);

const nearer = createPreparedSource({
  computing,
  models: networks,
  isKept: kept.isKept,
  preparedOf: ({ sample, model, detail, scale, cut }) =>
    scale === undefined && !cut && (sampleNamed(sample)?.prepared[`${model} ${detail ?? 1}`] ?? null),
  read: readFile,
  without: lacks,
  pictureFile: async ({ picture }) =>
    createImageBitmap(new Blob([await readFile(sampleNamed(picture.sample).picture)])),
});

async function pictureNamed({ sample, mine }) {
  if (mine) return liveFrame(mine) ?? ownPicture(mine);
  const found = sampleNamed(sample);
  if (!found) throw Object.assign(new Error(sample), { status: 404, says: `There is no sample called ${sample}.` });
  const { name, credit, start, width, height, opens, picture } = found;
  const { model, layer, head } = opens;
  const file = async () => new Blob([await readFile(picture)], { type: "image/jpeg" });
  const view = layer === undefined ? {} : { [model]: { layer, head } };
  return { id: name, title: name, credit, hint: "", start, width, height, opens: view, file };
}

// The list of samples, and which network opens a person's own picture.
async function catalogueFrom(found) {
  const real = networks[REAL_NAME];
  const here = Boolean(real) && (await kept.isKept(REAL_NAME));
  const usual = here || !networks.bundled ? REAL_NAME : "bundled";
  const told = real && { model: REAL_NAME, title: real.title, here, may_fetch: true, megabytes: real.megabytes };
  return { ...found, own: { model: usual, detail: 1 }, real: told ?? null };
}

function arrived(model) {
  if (model !== REAL_NAME || !catalogue.real) return;
  catalogue.real.here = true;
  catalogue.own = { model, detail: 1 };
}

// ----------------------------------------------------------------------------------------------------------- the page

const places = { toolbar: document.getElementById("toolbar"), stage: document.getElementById("stage") };
const lesson = document.getElementById("lesson");
let came = 0;

const pageAsked = () => {
  const { page } = readAddress().rest;
  return pageSays().pages.some(({ name }) => name === page) ? page : "microscope";
};

const wordsHere = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

let leaveWall = null;
const linkHere = (to, words) =>
  siteFile(`#${new URLSearchParams(to === "microscope" ? words : { page: to, ...words })}`);

function draw(page) {
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
      pageSays().pages.find(({ name }) => name === page),
      {
        go: leadTo,
        ...{ file: site.lessons[page], words: wordsHere(), read: readFile, fileAt: siteFile },
        chose: (words) =>
          history.replaceState(null, "", `#${new URLSearchParams({ page, ...choice.words(), ...words })}`),
      },
    );
  mountToolbar({
    data: { page, arrived: came, answer: null, run: null },
    parentElement: places.toolbar,
    setStateValue() {},
    setTriggerValue: (_, { page: to, words }) => leadTo(to, words),
    more: {
      kept: STAYS_HERE,
      live: Object.keys(networks).length ? LIVE : null,
      sheets: { models: fillModels, export: fillTakeAway },
      link: linkHere,
    },
  });
}

// The model that is chosen, where it is here; else one that is.
visit.modelForLive = async (wanted) => {
  const can = async (name) => networks[name] && (!networks[name].asked || (await kept.isKept(name)));
  if (await can(wanted)) return wanted;
  for (const name of Object.keys(networks)) if (await can(name)) return name;
  return Object.keys(networks)[0]; // whose source says what is to be fetched
};

function leadTo(page, words = {}) {
  came++;
  const said = new URLSearchParams(page === "microscope" ? words : { page, ...choice.words(), ...words });
  history.pushState(null, "", `#${said}`);
  draw(page);
}

window.addEventListener("popstate", () => {
  if (pageAsked() === pageNow().name) return;
  came++;
  draw(pageAsked());
});

async function keepForOffline() {
  if (!("serviceWorker" in navigator) || !site.offline) return;
  const had = navigator.serviceWorker.controller;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (had) notify(NEW_VERSION, { action: { label: "load it", act: () => location.reload() } });
  });
  await navigator.serviceWorker.register(siteFile("sw.js")).catch(() => {}); // then it needs the network each time
  await kept.dropOld().catch(() => {});
}

// An address of the app opens here as it does there.
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
writeBehindHash();
answerHere(
  createPageAnswers({
    ...{ models: networks, kept, catalogueFrom, arrived },
    ...{ read: readFile, wall: site.moments, without: lacks },
  }),
  siteRoot,
);
askNearer(nearer);
mountStage({ parentElement: places.stage });
draw(pageAsked());
choice.follow((_, how) => how.quietly || pageNow().name === "microscope" || leadTo("microscope", choice.words()));
addEventListener("load", () => setTimeout(keepForOffline));
