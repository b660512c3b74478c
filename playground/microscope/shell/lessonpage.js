// A lesson's page: its steps, one at a time. `lesson_record` of serving/site_files.py makes a lesson's record; `asks`
// of a step: names of the settings after which its parts are asked for again.
import { make, setMath } from "../drawing/dom.js";
import { markedBlocks, markedWords } from "../drawing/listing.js";
import { pageTitle, seeWords } from "../lens/words.js";
import { openFace } from "./address.js";
import { isOwn } from "./choice.js";
import { addressOf, wordsOfTrouble } from "./http.js";
import { source } from "./httpsource.js";
import { notify } from "./notice.js";
import { readPageData } from "./pagedata.js";

// lesson: {record: where the record is, kit: where that is what all lessons share (serving/lesson_scripts.py), with
// `picture`, the sample and the model of all lessons in a folder without a server; parts(step, more): where a step's
// parts are; read(name, {signal}): a promise of the bytes there; fileAt(name): an address}; tell(settings, what) is
// called when the reader has changed `what`. follow(words) shows what another address says.
export function showLesson(box, { name, title, about }, lesson, { words, tell, link }) {
  const controller = new AbortController();
  const { signal } = controller;
  const [overview, heading, place] = [make("div", "lesson-overview"), make("h1"), make("div", "lesson-place")];
  const idea = make("div", { className: "lesson-words lesson-idea", innerHTML: markedBlocks(about) });
  const { language } = openFace();
  setMath(heading, pageTitle(language, { name, title }));
  if (language !== "en") idea.prepend(make("p", { lang: language }, seeWords(language, "inEnglish")));
  box.dataset.page = name;
  const isClass = words.class === "yes"; // a link for a class leaves out what leads elsewhere
  box.replaceChildren(...(isClass ? [] : [overview]), heading, idea, place, ...appLine());
  const page = { name, idea, isClass, link, tell, signal, place };
  const readJson = (file) => lesson.read(file, { signal }).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
  let [wordsNow, played] = [words, null];
  const begin = () =>
    Promise.all([readJson(lesson.record), readJson(lesson.kit)])
      .then(async ([record, kit]) => {
        const { default: playParts } = await import(lesson.fileAt(kit.host));
        if (signal.aborted) return;
        const playable = { ...lesson, kit, readJson };
        if (!isClass) showOverview(overview, playParts, name, playable, { link, signal });
        played = beginLesson(page, record, playParts, playable);
        return played.follow(wordsNow);
      })
      .catch((error) => signal.aborted || sayTrouble(place, error, begin));
  begin();
  return {
    follow(nextWords) {
      if (textOf(nextWords) === textOf(wordsNow)) return;
      wordsNow = nextWords;
      played?.follow(nextWords);
    },
    end: () => controller.abort(),
  };
}

const textOf = (words) => JSON.stringify(Object.entries(words).sort());

// How to get the app, on a page without a server.
function appLine() {
  const { app } = readPageData();
  if (!app) return [];
  return [make("p", "", "The app has this lesson whole: ", make("code", "", app.command), ` ${app.where}.`)];
}

const buttonOf = (className, words, onclick) => make("button", { className, innerHTML: markedWords(words), onclick });

const sayTrouble = (place, { says = "The lesson did not come." }, again) =>
  place.replaceChildren(make("p", "lesson-trouble", `${says} `, buttonOf("", "Try again", again)));

// The whole model as a row of boxes; the part that the page is about is lit.
function showOverview(place, playParts, name, { kit, read, fileAt }, { link, signal }) {
  const { boxes, ...counts } = readPageData().overview;
  const data = {
    ...counts,
    boxes: boxes.map(({ page, pages, ...box }) => ({ ...box, address: link(page, {}), lit: pages.includes(name) })),
  };
  playParts(place, [{ kind: "overview", data }], { ...kit, settings: {}, read, fileAt }, signal).draw();
}

const OWN_NUMBERS = "This is your photograph: its numbers are computed in this browser.";
const SAMPLE_NUMBERS = "These numbers are of a sample, not of your photograph.";

function beginLesson(page, record, playParts, { read, readJson, fileAt, kit, parts: placeOf }) {
  const { name, idea, isClass, link, tell, signal, place } = page;
  const { steps } = record;
  const { workbench: workbenchRoot } = readPageData();
  const tabs = make("nav", { className: "lesson-steps", "aria-label": "Steps" });
  const body = make("div", "lesson-body");
  const { settings, defaults, options } = settingsOf(record.settings, {});
  const unfollowed = new Set(); // names of the settings that were set, and that nothing has followed yet
  let restTimer = 0;
  let shown = null; // the shown step: {step, list: its parts, asked: how often they were asked for, end()}

  const lesson = {
    ...kit,
    settings,
    defaults,
    options,
    read,
    fileAt,
    link,
    workbench: (workbenchPage) => workbenchRoot && addressOf(`${workbenchRoot}${workbenchPage}`),
    set(changes, rest) {
      for (const [name, value] of Object.entries(changes)) if (settings[name] !== value) unfollowed.add(name);
      Object.assign(settings, changes);
      clearTimeout(restTimer);
      if (rest) restTimer = setTimeout(follow, rest);
      else follow();
    },
  };
  function follow() {
    const changed = tellUnfollowed();
    if (shown.step.asks?.some((setting) => changed.includes(setting))) ask(shown);
    else if (changed.length) shown.list?.draw();
  }
  function tellUnfollowed() {
    const changed = [...unfollowed];
    unfollowed.clear();
    clearTimeout(restTimer);
    if (changed.length) tellStep(changed.join());
    return changed;
  }
  const tellStep = (what) => tell({ step: shown.step.name, ...changedSettings(record.settings, settings) }, what);

  // The words of the picture and the model whose numbers the browser computes. The folder without a server has one
  // model, and one sample beside a person's own photographs.
  function pictureNow() {
    const { mine } = wordsNow;
    if (kit.picture) return isOwn(mine) ? { mine, model: kit.picture.model } : kit.picture;
    const named = ["sample", "mine", "model", "detail"].filter((name) => wordsNow[name]);
    return Object.fromEntries(named.map((name) => [name, wordsNow[name]]));
  }

  // Says whose numbers a step shows, where Python does not compute for a person's own photograph.
  function whoseLine(step, parts) {
    if (!step.picture || !kit.picture || !isOwn(wordsNow.mine)) return [];
    const isComputed = JSON.stringify(parts).includes('"made":');
    return [{ kind: "whose", text: isComputed ? OWN_NUMBERS : SAMPLE_NUMBERS }];
  }

  // Asks for a step's parts with the present settings, one question at a time, and shows them.
  async function ask(player) {
    player.asked += 1;
    if (player.isAsking) return;
    player.isAsking = true;
    if (player.list) body.setAttribute("aria-busy", "true"); // what is shown is about to change
    try {
      for (let asked = 0; asked < player.asked; ) {
        asked = player.asked;
        await showParts(player, asked);
      }
    } catch (error) {
      if (shown !== player || signal.aborted) return;
      if (player.list) notify(wordsOfTrouble(error));
      else sayTrouble(body, error, () => ask(player));
    } finally {
      player.isAsking = false;
      if (shown === player) body.removeAttribute("aria-busy");
    }
  }

  // What takes the server long comes in several answers, of which all but the last end with a `wait`.
  async function showParts(player, asked) {
    const { step } = player;
    for (const whole of player.list ? ["yes"] : [null, "no", "yes"]) {
      const parts = await readJson(placeOf(step, whole ? { whole } : {}));
      if (shown !== player || player.asked !== asked || signal.aborted) return;
      const isWhole = parts.at(-1)?.kind !== "wait";
      const lines = [...whoseLine(step, parts), ...parts];
      if (isWhole) lines.push(...afterParts(step));
      const picture = pictureNow();
      if (player.list && textOf(player.picture) === textOf(picture)) player.list.renew(lines);
      else showList(player, lines, picture);
      if (isWhole) return;
    }
  }

  function showList(player, lines, picture) {
    const list = make("div");
    player.list?.end();
    player.picture = picture;
    player.list = playParts(list, lines, { ...lesson, source, picture }, player.signal);
    body.replaceChildren(list);
    player.list.draw();
    player.onShown?.();
  }

  function afterParts(step) {
    if (isClass) return [];
    const nextStep = steps[steps.indexOf(step) + 1];
    if (!nextStep) return [{ kind: "next", ...nextPage(name, link) }];
    const act = () => goTo(nextStep, () => [scrollTo(0, 0), tabs.querySelector("[aria-current=step]").focus()]);
    return [{ kind: "next", title: nextStep.title.replace(/^.* · /, ""), act }];
  }

  function showStep(step, onShown) {
    const former = shown;
    const controller = new AbortController();
    const player = { step, list: null, picture: null, asked: 0, isAsking: false, signal: controller.signal };
    player.onShown = onShown;
    player.end = () => [tellUnfollowed(), player.list?.end(), controller.abort()];
    former?.end();
    shown = player;
    idea.hidden = step !== steps[0];
    for (const button of /** @type {HTMLCollectionOf<HTMLElement>} */ (tabs.children)) {
      const isCurrent = button.dataset.step === step.name;
      button.setAttribute("aria-current", isCurrent ? "step" : "false");
      if (isCurrent) tabs.scrollLeft = button.offsetLeft - (tabs.clientWidth - button.offsetWidth) / 2; // on a phone
    }
    return ask(player);
  }

  function goTo(step, onShown) {
    if (step === shown.step) return;
    showStep(step, onShown);
    tellStep("step");
  }

  for (const step of steps) {
    const button = buttonOf("lesson-step", step.title, () => goTo(step));
    button.dataset.step = step.name;
    tabs.append(button);
  }
  place.replaceChildren(...(steps.length > 1 ? [tabs] : []), body);
  signal.addEventListener("abort", () => shown?.end());
  let wordsNow = {};
  return {
    follow(words) {
      wordsNow = words;
      unfollowed.clear();
      Object.assign(settings, settingsOf(record.settings, words).settings);
      const step = stepOfAddress(steps, words);
      return step === shown?.step ? ask(shown) : showStep(step);
    },
  };
}

function nextPage(name, link) {
  const { pages } = readPageData();
  const page = pages[(pages.findIndex((one) => one.name === name) + 1) % pages.length];
  return { title: page.title, address: link(page.name, {}) };
}

// The step that an address names. An old address names none: it opens the step to which most of its settings belong.
export function stepOfAddress(steps, words) {
  const countOf = ({ settings }) => settings.filter((name) => name in words).length;
  const fittingStep = steps.reduce((best, step) => (countOf(step) > countOf(best) ? step : best));
  return steps.find(({ name }) => name === words.step) ?? fittingStep;
}

// Returns {settings, defaults, options} by name. A setting has the value in the address if that is one of the options,
// else the default.
export function settingsOf(declaredSettings, words) {
  const [settings, defaults, options] = [{}, {}, {}];
  for (const [name, setting] of Object.entries(declaredSettings)) {
    const { default: defaultText, options: choices, pattern } = setting;
    [defaults[name], options[name]] = [defaultText, choices];
    const word = words[name];
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
