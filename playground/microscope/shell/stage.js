// Mounts the microscope as a component of Streamlit: shows what is chosen, and tells what it shows to the address. No
// message goes to the server's script while somebody looks around.

import { notTaken } from "../core/view.js";
import { createLens } from "../lens/lens.js";
import { createSee } from "../see/see.js";
import { createStory } from "../story/story.js";
import { linkTo, openFace, ready, setView, shownTrace, viewNow, visit, writeAddress } from "./address.js";
import { adviceFor, besideFor, catalogue, choice, sampleNamed, tracesOf, usual, viewFor } from "./choice.js";
import { isWithin, pageSays, SKIP } from "./early.js";
import { addressOf, fetchFile, passes, SERVER_AGAIN, wordsOfTrouble } from "./http.js";
import { source } from "./httpsource.js";
import { createLive } from "./live.js";
import { forgetNotice, notify } from "./notice.js";
import { greetOnce, keepScenes, keptScenes, ownPictures, takeScenesOfLink } from "./own.js";
import { toBitmap } from "./readable.js";
import { classOfStory, storyWay } from "./storyway.js";

const HEIGHT = -53; // pixels: the window's height minus what stands above the microscope
const ON_ITS_WAY = "Your photograph is on its way";

// Of a page that is shared: it runs where nobody can be asked for it.
const sharedScript = () => fetchFile(addressOf(pageSays().shared)).then((response) => response.text());

const speaks = () => openFace().language;

// Where others find this page; where only this machine reaches it, the repository, if there is one.
function addressForOthers() {
  const alone = /^(localhost|127\.|\[::1\]|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/.test(location.host);
  return alone || location.protocol === "file:" ? (pageSays().repository ?? "") : addressOf("");
}

// `below`: pixels that something beneath it takes.
export function mountStage({ parentElement, below = 0 }) {
  const kept = parentElement.__stage;
  if (kept)
    kept.lens.refresh(); // another theme, or another place
  else parentElement.__stage = beginStage(parentElement.querySelector("[data-stage]") ?? parentElement, below);
  return () => {
    parentElement.__stage?.end();
    delete parentElement.__stage;
  };
}

function beginStage(root, below) {
  const advice = document.createElement("p");
  advice.className = "advice";
  advice.hidden = true;
  const place = document.createElement("div");
  root.replaceChildren(advice, place);
  takeScenesOfLink();
  const kept = {
    root,
    advice,
    lens: null,
    before: null, // the trace that is shown
    opened: null, // the view in which it opened
    good: null, //   the choice that it belongs to
    opening: false, // something has been asked for
    showing: false, // something is asked for just now
    coming: null, // the file of a photograph that is on its way
    stop: new AbortController(), // of what is being opened
    timer: 0,
    end: null,
  };
  const left = new AbortController();
  kept.lens = createLens(place, {
    source,
    ui: { height: HEIGHT - below, below },
    onView: (view) => {
      setView(view);
      writeAddress();
    },
    failed,
    allHere: () => shownTrace.complete(),
    opened: () => {
      kept.opened = kept.lens.view;
    },
    compare: () => choice.set({ beside: nextSample() }),
    link: linkTo,
    scenes: { read: keptScenes, write: keepScenes, show: (address) => visit.go(address) },
    showMe: () => visit.tour(1),
    see: (lens) =>
      createSee(lens, {
        face: openFace().now,
        language: () => openFace().language,
        turned: (to) => openFace().turn(to),
        shared: sharedScript,
        tryAt: addressForOthers,
        story: (of, see) => createStory(of, see, { language: speaks, way: storyWay(of), klass: classOfStory(speaks) }),
      }),
  });
  const { see } = kept.lens;
  const unface = openFace().follow(() => {
    see.turn(openFace().now);
    see.writeWords();
    kept.lens.refresh();
    writeAddress();
  });
  visit.share = () => kept.lens.share();
  visit.picture = (factor) => kept.lens.picture(factor);
  visit.lens = kept.lens;
  const live = createLive({
    lens: kept.lens,
    place: root,
    modelFor: (wanted) => visit.modelForLive(wanted),
    back: () => showChoice(kept, { view: {} }),
    stageLeft: left.signal,
  });
  visit.live = live;
  const unfollow = choice.follow((_, how) => live.goesOn() || showChoice(kept, how));
  const unwatch = visit.follow(() => (kept.before ? showView(kept) : showChoice(kept, { view: viewNow() })));
  const unskip = leadToPicture(kept);
  const unwait = ownPictures.follow(() => waitForOwn(kept));
  ready().then(() => kept.opening || showChoice(kept, { view: viewNow() }));
  kept.end = () => {
    unfollow();
    unwatch();
    unface();
    unwait();
    unskip();
    left.abort();
    kept.stop.abort();
    clearTimeout(kept.timer);
    visit.share = visit.picture = visit.lens = visit.live = null;
    kept.lens.destroy();
  };
  return kept;
}

// `view`: to be shown as it is; else the picture opens as suits it. `instead`: of what could not be shown, as was said.
export async function showChoice(kept, { view = null, instead = false } = {}) {
  const now = choice.now;
  if (!now.model) return;
  kept.opening = kept.showing = true;
  kept.stop.abort();
  clearTimeout(kept.timer);
  kept.stop = new AbortController();
  const { signal } = kept.stop;
  try {
    const leftOut = await bringTraces(kept, now, view, signal);
    kept.good = now;
    if (leftOut?.length) notify(leftOutWords(leftOut));
    else if (!instead) forgetNotice();
    greetOnce(kept.lens);
  } catch (error) {
    if (!signal.aborted) notShown(kept, now, error, view);
  } finally {
    if (kept.stop.signal === signal) kept.showing = false;
    waitForOwn(kept);
  }
}

// Until a person's new picture is shown nobody chooses a patch of the old one.
function waitForOwn(kept) {
  const { lens } = kept;
  if (ownPictures.coming) {
    lens.wait(ON_ITS_WAY);
    showComing(kept);
  } else if (!kept.showing) {
    kept.coming = null;
    lens.expect(null);
    lens.wait(null);
  }
}

// The photograph at once, where this browser can read it.
async function showComing(kept) {
  const file = ownPictures.last;
  if (!file || kept.coming === file) return;
  kept.coming = file;
  const bitmap = await toBitmap(file).catch(() => null);
  if (bitmap && kept.coming === file) kept.lens.expect(bitmap);
}

// Streamlit's link past everything ends before the toolbar; here it leads to the picture.
function leadToPicture({ lens }) {
  const skip = (event) => {
    if (!isWithin(event.target, SKIP)) return;
    event.preventDefault();
    event.stopPropagation();
    lens.focus();
  };
  document.addEventListener("click", skip, { capture: true });
  return () => document.removeEventListener("click", skip, { capture: true });
}

// Another view of the same picture, as an address says it.
function showView(kept) {
  kept.lens.update({ view: { ...kept.before.opens, ...viewNow() } });
  kept.opened = kept.lens.view;
}

// `kept`: as beginStage makes it; `given`: a view to be shown as it is. Gives [key, word] of what an address asks for
// and could not be shown.
export async function bringTraces(kept, now, given, signal) {
  const { lens, before } = kept;
  const words = tracesOf(now);
  const trace = withHint(await source.open(words.main, { signal }), now);
  const other = words.other && (await source.open(words.other, { signal }).catch((error) => without(error, signal)));
  const turned = given ? other && !given.beside : Boolean(other) !== Boolean(kept.good?.beside);
  // Somebody may choose something while the traces are on their way: asked again when they have come.
  let [chosen, touched] = [null, false];
  const opening = (now) => {
    chosen = given ?? viewFor(trace, before, chosenView(kept));
    touched = !isUntouched(kept);
    const opens = chosen && { ...trace.opens, ...chosen };
    return turned ? besideFor(opens ?? now, Boolean(other)) : opens;
  };
  let view = opening;
  const place = new URLSearchParams(choice.words(now)).toString();
  const named = ["layer", "head", "query"].some((key) => key in (given ?? {}));
  const best = trace.private && !other && !named && trace.picture.id !== before?.picture.id;
  if (trace.first) {
    const coarse = withHint(await source.open({ ...words.main, first: "yes" }, { signal }), now);
    if (!(await lens.show({ main: coarse, view, place, best }))) return;
    kept.before = { ...coarse, chose: now.chose };
    if (chosen || !touched) kept.opened = lens.view;
    lens.wait(null);
    view = () => {
      if (!isUntouched(kept)) [chosen, touched] = [null, true];
      return null;
    };
  }
  const main = trace.first ? { ...trace, words: { ...trace.words, finer: "yes" } } : trace;
  if (!(await lens.show({ main, other, view, place, best: best && !trace.first }))) return;
  advise(kept, trace, now, before);
  kept.before = { ...trace, chose: now.chose };
  if (chosen || !touched) kept.opened = lens.view;
  setView(chosen ? pick(lens.view, Object.keys(chosen)) : touched ? lens.view : viewNow());
  if (turned) setView({ ...viewNow(), beside: lens.view.beside });
  shownTrace.set(trace);
  writeAddress();
  const compares = chosen && !trace.first; // a coarse grid has not all patches
  return [...visit.leftOut.splice(0), ...(compares ? notTaken(given, lens.view) : [])];
}

// What to look for in a sample.
const withHint = (trace, { sample }) => ({
  ...trace,
  picture: { ...trace.picture, hint: sampleNamed(sample)?.hint ?? "", parts: sampleNamed(sample)?.parts ?? [] },
});

// What an address says may be wrong: what the lens has made of it.
const pick = (view, keys) => Object.fromEntries(keys.map((key) => [key, view[key]]));

// What the person has chosen; the rest of the view is as the picture opened, and does not belong into an address.
const chosenView = (kept) => (isUntouched(kept) ? viewNow() : kept.lens.view);
const isUntouched = ({ lens, opened }) => !opened || told(lens.view) === told(opened);
// Which patch the cursor was on last is no choice; one that is locked is.
const told = (view) => JSON.stringify({ ...view, query: view.locked ? view.query : null });

// What can't be compared is left out.
function without(error, signal) {
  if (signal.aborted || passes(error)) throw error;
  notify(wordsOfTrouble(error));
  choice.set({ beside: null });
  return null;
}

// What the server is too busy for is asked for again. Else everything stays as it was; what has never been shown opens
// as usual.
function notShown(kept, now, error, view) {
  if (passes(error)) {
    notify(error.says);
    kept.timer = setTimeout(() => showChoice(kept, { view }), SERVER_AGAIN);
    return;
  }
  if (error.status === 410) return outdated();
  const usually = { ...now, ...usual(now), beside: null, chose: false };
  const fallback = kept.good ?? (now.model === usually.model ? null : usually);
  notify(wordsOfTrouble(error), remedyFor(error));
  const how = { instead: true };
  if (fallback) choice.restore(fallback, how);
  else if (now.mine || now.sample !== catalogue.samples[0].name)
    choice.set({ sample: catalogue.samples[0].name, beside: null }, how);
}

const LONGEST_WORD = 40; // letters of an address that a sentence repeats

function leftOutWords(leftOut) {
  const words = leftOut.map(([key, word]) => `${key}=${String(word).slice(0, LONGEST_WORD)}`).join(" and ");
  const number = leftOut.some(([key]) => key === "label") ? " A label is said by its number." : "";
  return `The address asks for ${words}, which this page can't show: it is left out.${number}`;
}

// What to do about a model that could not be shown.
function remedyFor({ body }) {
  const { here, may_fetch: may, model, megabytes } = body?.missing ?? {};
  if (here) return { action: { label: "open it", act: () => choice.set({ model }) } };
  if (!may) return {};
  const label = megabytes ? `fetch it (${megabytes} MB)` : "fetch it";
  return { action: { label, act: () => visit.fetch(model) } };
}

function failed(error) {
  if (error.status === 410) outdated();
  else if (error.says) notify(error.says, remedyFor(error));
}

function outdated() {
  source.forget();
  notify("This page is older than the server.", { action: { label: "reload it", act: () => location.reload() } });
}

function advise(kept, trace, now, before) {
  const kind = now.sample ? sampleNamed(now.sample)?.kind : "photograph";
  const found = adviceFor(trace, kind, now, before, catalogue.real);
  const comes = kept.advice.hidden === Boolean(found);
  kept.advice.hidden = !found;
  kept.advice.replaceChildren();
  if (comes) requestAnimationFrame(() => kept.lens.refresh()); // where it has a line of its own, the picture gets less
  if (!found) return;
  const button = document.createElement("button");
  button.textContent = found.label;
  button.addEventListener("click", () => visit.fetch(found.model));
  const says = document.createElement("span");
  says.textContent = `${found.says} `;
  button.title = found.says; // where there is no room for both
  kept.advice.append(says, button);
}

function nextSample() {
  const names = catalogue.samples.map(({ name }) => name);
  return { sample: names[(names.indexOf(choice.now.sample) + 1) % names.length] };
}
