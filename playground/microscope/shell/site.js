// The entry of the learner's page (page.js) in a folder of plain files. This page answers the requests itself; networks
// run in a worker, so no picture leaves the machine. Lessons are read from files.

import { unzipped } from "../core/container.js";
import { putWordsBehindHash } from "./address.js";
import { catalogue, sampleNamed } from "./choice.js";
import { answerHere, fetchFile } from "./http.js";
import { createPreparedSource, source } from "./httpsource.js";
import { fillModels } from "./models.js";
import { notify } from "./notice.js";
import { offerOffline } from "./offline.js";
import { beginPage } from "./page.js";
import { reportToPlatform } from "./scorm.js";
import { canCompute, computeHere, createPageAnswers, ownPicture } from "./siteanswers.js";

const TOO_OLD =
  "This browser can't compute here, it has no WebAssembly with SIMD: samples work, own photographs need a newer one.";
const NEW_VERSION = "There is a new version of this page.";
const PHOTO_MODEL = "dinov2-small"; // the network for photographs

// The data from playground/ui/site: {worker, kernels, cards: {model: …}, weights: {model: {file, bytes, digest, …}},
// lessons: {files: {page: the lesson's file}, kit: see lessonpage.js}, exercises: the ids of all, offline: see
// offerOffline}
/** @type {HTMLScriptElement} */
const SITE_SCRIPT = document.querySelector("script[data-site]");
const site = JSON.parse(SITE_SCRIPT.dataset.site);
const siteRoot = new URL("./", SITE_SCRIPT.src).href;
const siteFile = (name) => new URL(name, siteRoot).href;

/** @param {string} name @param {Options} [options] */
async function readFile(name, { signal } = {}) {
  const bytes = new Uint8Array(await (await fetchFile(siteFile(name), { signal })).arrayBuffer());
  return name.endsWith(".packed") ? unzipped(bytes) : bytes;
}

const isAble = canCompute();
if (!isAble) site.weights = {};
const missingReason = isAble ? undefined : TOO_OLD;
const { kept: store, networks, computing } = computeHere(site, siteFile, pictureNamed);

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
  if (mine) return ownPicture(mine);
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

async function keepForOffline() {
  const footer = document.getElementById("foot");
  if (!("serviceWorker" in navigator) || !site.offline) return;
  navigator.serviceWorker.addEventListener("message", ({ data }) => {
    const action = { label: "load it", act: () => location.reload() };
    if (data.edition && !data.edition.includes(site.offline.all)) notify(NEW_VERSION, { action, stays: "always" });
  });
  const controllerChange = new Promise((resolve) =>
    navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true }),
  );
  const registration = await navigator.serviceWorker.register(siteFile("sw.js")).catch(() => null);
  await store.dropOld().catch(() => {});
  if (!registration) return; // without a service worker, each visit needs the internet
  if (!navigator.serviceWorker.controller) await controllerChange;
  offerOffline(site.offline, { kept: store, networks, siteFile }, footer, footer.querySelector("button"));
}

// Moves parameters after a ? behind the #, so that the app's addresses open here, too.
function takeQuery() {
  const { search, hash } = location;
  if (search.length > 1 && hash.length < 2) history.replaceState(null, "", `./#${search.slice(1)}`);
}

takeQuery();
reportToPlatform(site.exercises);
putWordsBehindHash();
answerHere(
  createPageAnswers({
    models: networks,
    kept: store,
    catalogueFrom,
    arrived: onModelArrived,
    read: readFile,
    wall: site.moments,
    teach: site.teach,
    without: missingReason,
  }),
  siteRoot,
);
Object.assign(source, prepared);
beginPage({
  follows: false,
  lessonOf: (page) => ({
    record: site.lessons.files[page],
    kit: site.lessons.kit,
    parts: ({ file }) => file,
    read: readFile,
    fileAt: siteFile,
  }),
  toolbar: { kept: "keptFolder", sheets: { models: fillModels } },
});
whenLoaded(() => setTimeout(keepForOffline));
