// One person's visit: where they are in the app, and the ways from one place to another. The toolbar's component tells
// when the server's script has drawn another page.

import { openFace, pageNow, readAddress, setPage, setView, viewNow, viewWords, writeAddress } from "./address.js";
import { choice, leftOpen, loadCatalogue } from "./choice.js";
import { ownPictures } from "./own.js";

const viewListeners = new Set();
const leaving = { wholly: false };
let settingsTold = { run: null, n: 0 }; // what a lesson told of its settings last
let begun = null;
let isReady = null;
const whenReady = new Promise((go) => {
  isReady = go;
});

// Resolves when the samples are known and the address has been read.
export const ready = () => whenReady;

// The trace on the stage; the toolbar shows its grids and its model's title.
export const shownTrace = {
  now: null,
  listeners: new Set(),
  whenComplete: null, // called once all its layers are here
  set(trace) {
    this.now = trace;
    for (const listener of this.listeners) listener(trace);
  },
  complete() {
    this.whenComplete?.();
    this.whenComplete = null;
  },
};

export const visit = {
  tell: null, //  ({page, words, …}) → the server's script
  share: null, // () opens the sheet to send on what the stage shows
  picture: null, // (factor) → a canvas of it, so many times its size
  live: null, // {camera(), film(file)}: the stage shows frame after frame
  modelForLive: null, // (wanted) → a promise of the model that looks at them; null: this page can't
  fetch: null, // (model) → brings it to the server, then chooses it
  leftOut: [], // [key, word] of the address that can't be chosen; the stage says it
  follow(listener) {
    viewListeners.add(listener);
    return () => viewListeners.delete(listener);
  },

  // Called whenever the toolbar is drawn. `samples`: the address of their list.
  async arrive({ page, samples, arrived, run }) {
    begun ??= beginVisit(samples, page).catch((error) => {
      begun = null; // the next time it may
      throw error;
    });
    await begun;
    const another = run !== pageNow().run; // a server that begins to count again
    const moved = pageNow().name !== page || (!another && pageNow().arrived !== arrived);
    setPage({ name: page, path: location.pathname, arrived, run });
    if (moved) readAgain({ keep: !leaving.wholly });
    if (moved) leaving.wholly = false;
    writeSettings();
  },

  // The n-th time that a lesson's page tells its settings: {run, n, page, settings, step}. Each part of a page tells
  // them, and says the same again when the theme changes, however old it is.
  hear(now) {
    if (now.run === settingsTold.run && now.n <= settingsTold.n) return;
    settingsTold = now;
    writeSettings();
  },

  // To a saved scene or a step of the tour: its picture, model and view.
  go(address, { step = true } = {}) {
    const found = readAddress(address);
    setPage({ tour: found.tour, story: found.story });
    if (found.tour || found.story) openFace().set("see"); // they are about See
    setView(found.view);
    const before = choice.now;
    if ("sample" in found.choice || "mine" in found.choice) choice.open(found.choice, { view: found.view });
    else if (found.choice.model) choice.set({ model: found.choice.model }, { view: found.view });
    if (choice.now === before) for (const listener of viewListeners) listener();
    writeAddress({ step });
  },

  // To another page of the app, with all that is chosen. `wholly`: `words` are all that counts there.
  leave(page, words = null, { wholly = false } = {}) {
    leaving.wholly = wholly;
    const said = words ?? { ...choice.words(), ...(page === "microscope" ? viewWords() : {}) };
    visit.tell?.({ page, words: said, choice: choice.words(), view: viewWords() });
  },
};

async function beginVisit(samples, page) {
  await Promise.all([loadCatalogue(samples), ownPictures.read()]);
  const found = readAddress();
  setPage({ name: page, path: location.pathname, settings: found.settings, tour: found.tour, story: found.story });
  setPage({ classLink: found.rest.class === "yes" });
  setView(found.view);
  choice.open(found.choice, { view: found.view, quietly: true });
  if (page === "microscope") visit.leftOut = leftOpen(found.choice, choice.now);
  choice.follow((_, how) => how.quietly || writeAddress({ step: true }));
  window.addEventListener("popstate", () => readAgain({ keep: false }));
  isReady();
}

// The address says something that this browser did not write: another page, Back or Forward. `keep`: what it leaves
// open stays as it is.
function readAgain({ keep }) {
  const found = readAddress();
  const { settings, tour, story } = found;
  setPage({ settings, tour, story, classLink: found.rest.class === "yes" });
  setView(keep ? { ...viewNow(), ...found.view } : found.view);
  const before = choice.now;
  if (!keep || "sample" in found.choice || "mine" in found.choice)
    choice.open(found.choice, { quietly: true, view: viewNow() });
  if (choice.now === before) for (const listener of viewListeners) listener();
  writeAddress();
}

// The toolbar may hear of a page after its settings.
function writeSettings() {
  if (settingsTold.page !== pageNow().name) return;
  setPage({ settings: settingsTold.settings });
  writeAddress({ step: settingsTold.step });
}
