// Mounts the microscope: it shows the choice and writes its view into the address.

import { make } from "../drawing/dom.js";
import { createLens } from "../lens/lens.js";
import { createSee } from "../see/see.js";
import { createStory } from "../story/story.js";
import { isBehindHash, linkTo, openFace, ready, setView, shownTrace, viewNow, visit, writeAddress } from "./address.js";
import {
  adviceFor,
  catalogue,
  choice,
  sampleNamed,
  usualOpening,
  viewFor,
  viewWithBeside,
  wordsOfTraces,
} from "./choice.js";
import { addressOf, fetchFile, mayPass, SERVER_RETRY_MS, wordsOfTrouble } from "./http.js";
import { source } from "./httpsource.js";
import { keepText, keptText } from "./kept.js";
import { forgetNotice, notify } from "./notice.js";
import { ownPictures } from "./own.js";
import { readPageData } from "./pagedata.js";
import { toBitmap } from "./readable.js";
import { classOfStory, storyWay } from "./storyway.js";

const SCENES_KEY = "attention-playground-scenes";
const ON_ITS_WAY = "Your photograph is on its way";
const ANOTHER_READS = "Another model is reading";
export const FADE_DELAY = 1000; // milliseconds for which the former model's picture stands while another model reads

// The text of the script that shared pages contain, because they run without a server.
const sharedScript = () => fetchFile(addressOf(readPageData().shared)).then((response) => response.text());

const languageNow = () => openFace().language;

// An address for other people: this page's, or, if that is local, the repository's; "" if there is none.
function addressForOthers() {
  const isLocal = /^(localhost|127\.|\[::1\]|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/.test(location.host);
  return isLocal || location.protocol === "file:" ? (readPageData().repository ?? "") : addressOf("");
}

// `below`: pixels that the page needs beneath the microscope.
export function mountStage(root, below) {
  const advice = make("p");
  advice.className = "advice";
  advice.hidden = true;
  const place = make("div");
  root.replaceChildren(advice, place);
  const stage = {
    root,
    advice,
    lens: null,
    trace: null, //  the shown trace, null at first
    openedView: null, // the view with which this trace opened
    shownChoice: null, // the last choice that was shown without an error
    hasBegun: false, // whether a picture was requested yet
    isShowing: false, // whether a request is running
    comingFile: null, // the file of a photograph on its way
    stop: new AbortController(), // aborts the opening
    timer: 0,
  };
  stage.lens = createLens(place, {
    source,
    ui: { below },
    onView: (view) => {
      setView(view);
      writeAddress();
    },
    failed: onFailure,
    opened: () => {
      stage.openedView = stage.lens.view;
    },
    compare: () => choice.set({ beside: nextSample() }),
    link: linkTo,
    scenes: {
      read: () => keptText(SCENES_KEY),
      write: (text) => keepText(SCENES_KEY, text),
      show: (address) => visit.go(address),
    },
    figures: isBehindHash() ? null : () => visit.figures?.(),
    see: (lens) =>
      createSee(lens, {
        face: openFace().now,
        language: () => openFace().language,
        turned: (newFace) => openFace().step(newFace),
        shared: sharedScript,
        tryAt: addressForOthers,
        story: (parts, see) =>
          createStory(parts, see, { language: languageNow, way: storyWay(parts), klass: classOfStory(languageNow) }),
      }),
  });
  const { see } = stage.lens;
  openFace().follow(() => {
    see.turn(openFace().now);
    see.writeWords();
    stage.lens.refresh();
    writeAddress();
  });
  visit.share = () => stage.lens.share();
  visit.lens = stage.lens;
  choice.follow((_, options) => showChoice(stage, options));
  visit.follow(() => (stage.trace ? showView(stage) : showChoice(stage, { view: viewNow() })));
  ownPictures.follow(() => waitForOwn(stage));
  ready().then(() => void (stage.hasBegun || showChoice(stage, { view: viewNow() })));
  return stage;
}

// view: the view to show; null: what viewFor (choice.js) keeps of the present view. instead: whether this choice
// replaces a picture that could not be shown; its error has been reported already.
export async function showChoice(stage, { view = null, instead: isFallback = false } = {}) {
  const choiceNow = choice.now;
  if (!choiceNow.model) return;
  stage.hasBegun = stage.isShowing = true;
  stage.stop.abort();
  clearTimeout(stage.timer);
  stage.stop = new AbortController();
  const { signal } = stage.stop;
  // The rows on screen are the former model's: they fade if the new model takes long.
  const { trace, shownChoice } = stage;
  const fade = () => stage.trace === trace && stage.lens.wait(ANOTHER_READS);
  const fading = shownChoice && shownChoice.model !== choiceNow.model ? setTimeout(fade, FADE_DELAY) : 0;
  try {
    await bringTraces(stage, choiceNow, view, signal);
    stage.shownChoice = choiceNow;
    if (!isFallback) forgetNotice();
  } catch (error) {
    if (!signal.aborted) showTrouble(stage, choiceNow, error, view);
  } finally {
    clearTimeout(fading);
    if (stage.stop.signal === signal) stage.isShowing = false;
    waitForOwn(stage);
  }
}

// Until a person's new picture is shown, no patch of the old one can be chosen.
function waitForOwn(stage) {
  const { lens } = stage;
  if (ownPictures.sendingCount) {
    lens.wait(ON_ITS_WAY);
    showComing(stage);
  } else if (!stage.isShowing) {
    stage.comingFile = null;
    lens.expect(null);
    lens.wait(null);
  }
}

// Shows the photograph at once if this browser can read it.
async function showComing(stage) {
  const file = ownPictures.lastFile;
  if (!file || stage.comingFile === file) return;
  stage.comingFile = file;
  const bitmap = await toBitmap(file).catch(() => null);
  if (bitmap && stage.comingFile === file) stage.lens.expect(bitmap);
}

// Shows another view of the same picture, from the address.
function showView(stage) {
  stage.lens.update({ view: { ...stage.trace.opens, ...viewNow() } });
  stage.openedView = stage.lens.view;
}

// Fetches the traces of a choice and shows them. wantedView: as `view` of showChoice.
export async function bringTraces(stage, wantedChoice, wantedView, signal) {
  const { lens, trace: formerTrace } = stage;
  const words = wordsOfTraces(wantedChoice);
  const trace = withHint(await source.open(words.main, { signal }), wantedChoice);
  const other =
    words.other && (await source.open(words.other, { signal }).catch((error) => endComparison(error, signal)));
  const isCompareChanged = wantedView
    ? other && !wantedView.beside
    : Boolean(other) !== Boolean(stage.shownChoice?.beside);
  // The person may change the view while traces are fetched: it is read again when they have arrived.
  let [chosenParts, isTouched] = [null, false];
  const openingView = (state) => {
    chosenParts = wantedView ?? viewFor(trace, formerTrace, chosenView(stage));
    isTouched = !isUntouched(stage);
    const openingParts = chosenParts && { ...trace.opens, ...chosenParts };
    return isCompareChanged ? viewWithBeside(openingParts ?? state, Boolean(other)) : openingParts;
  };
  let view = openingView;
  const place = new URLSearchParams(choice.words(wantedChoice)).toString();
  const isViewNamed = ["layer", "head", "query"].some((key) => key in (wantedView ?? {}));
  const opensAtBest = trace.private && !other && !isViewNamed && trace.picture.id !== formerTrace?.picture.id;
  if (trace.first) {
    const coarseTrace = withHint(await source.open({ ...words.main, first: "yes" }, { signal }), wantedChoice);
    if (!(await lens.show({ main: coarseTrace, view, place, best: opensAtBest }))) return;
    stage.trace = { ...coarseTrace, chose: wantedChoice.chose };
    if (chosenParts || !isTouched) stage.openedView = lens.view;
    lens.wait(null);
    view = () => {
      if (!isUntouched(stage)) [chosenParts, isTouched] = [null, true];
      return null;
    };
  }
  if (!(await lens.show({ main: trace, other, view, place, best: opensAtBest && !trace.first }))) return;
  showAdvice(stage, trace, wantedChoice, formerTrace);
  stage.trace = { ...trace, chose: wantedChoice.chose };
  if (chosenParts || !isTouched) stage.openedView = lens.view;
  setView(chosenParts ? pickKeys(lens.view, Object.keys(chosenParts)) : isTouched ? lens.view : viewNow());
  if (isCompareChanged) setView({ ...viewNow(), beside: lens.view.beside });
  shownTrace.set(trace);
  writeAddress();
}

// The trace with the hint and the named parts of its sample.
const withHint = (trace, { sample }) => ({
  ...trace,
  picture: { ...trace.picture, hint: sampleNamed(sample)?.hint ?? "", parts: sampleNamed(sample)?.parts ?? [] },
});

// The view's values for these keys, as the lens has corrected them: an address may hold invalid ones.
const pickKeys = (view, keys) => Object.fromEntries(keys.map((key) => [key, view[key]]));

// The person's view for the address. A view is not written there while it is the one with which the picture opened.
const chosenView = (stage) => (isUntouched(stage) ? viewNow() : stage.lens.view);
const isUntouched = ({ lens, openedView }) => !openedView || viewText(lens.view) === viewText(openedView);
// The view as text for comparison. A locked patch counts as a choice, the patch under the cursor does not.
const viewText = (view) => JSON.stringify({ ...view, query: view.locked ? view.query : null });

// Ends a comparison whose second picture can't be shown, and shows the reason.
function endComparison(error, signal) {
  if (signal.aborted || mayPass(error)) throw error;
  notify(wordsOfTrouble(error));
  choice.set({ beside: null });
  return null;
}

// Handles a failed request: repeats it if the server was too busy. Otherwise the choice before returns. If there was
// none, the picture opens in its usual model, or else the first sample opens.
function showTrouble(stage, failedChoice, error, view) {
  if (mayPass(error)) {
    notify(error.says);
    stage.timer = setTimeout(() => showChoice(stage, { view }), SERVER_RETRY_MS);
    return;
  }
  if (error.status === 410) return reportOutdated();
  const usualChoice = { ...failedChoice, ...usualOpening(failedChoice), beside: null, chose: false };
  const fallbackChoice = stage.shownChoice ?? (failedChoice.model === usualChoice.model ? null : usualChoice);
  notify(wordsOfTrouble(error), remedyFor(error));
  const options = { instead: true };
  if (fallbackChoice) choice.restore(fallbackChoice, options);
  else if (failedChoice.mine || failedChoice.sample !== catalogue.samples[0].name)
    choice.set({ sample: catalogue.samples[0].name, beside: null }, options);
}

// The notice's action for a model that could not be shown.
function remedyFor({ body }) {
  const { here: isLocal, may_fetch: mayFetch, model, megabytes } = body?.missing ?? {};
  if (isLocal) return { action: { label: "open it", act: () => choice.set({ model }) } };
  if (!mayFetch) return {};
  const label = megabytes ? `fetch it (${megabytes} MB)` : "fetch it";
  return { action: { label, act: () => visit.fetch(model) } };
}

function onFailure(error) {
  if (error.status === 410) reportOutdated();
  else if (error.says) notify(error.says, remedyFor(error));
}

function reportOutdated() {
  source.forget();
  notify("This page is older than the server.", { action: { label: "reload it", act: () => location.reload() } });
}

function showAdvice(stage, trace, choiceNow, formerTrace) {
  const kind = choiceNow.sample ? sampleNamed(choiceNow.sample)?.kind : "photograph";
  const advice = adviceFor(trace, kind, choiceNow, formerTrace, catalogue.real);
  const isChanged = stage.advice.hidden === Boolean(advice);
  stage.advice.hidden = !advice;
  stage.advice.replaceChildren();
  if (isChanged) requestAnimationFrame(() => stage.lens.refresh()); // the line of advice takes height from the picture
  if (!advice) return;
  const button = make("button", { textContent: advice.label });
  button.addEventListener("click", () => visit.fetch(advice.model));
  const sentence = make("span", { textContent: `${advice.says} ` });
  button.title = advice.says; // the sentence, if there is no room for it
  stage.advice.append(sentence, button);
}

function nextSample() {
  const names = catalogue.samples.map(({ name }) => name);
  return { sample: names[(names.indexOf(choice.now.sample) + 1) % names.length] };
}
