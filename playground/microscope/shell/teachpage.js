// The page Teach: a plan that opens each scene, what students say, sheets to print, a quiz. All of it comes as one
// record, as `as_data` of playground/lessons/teaching.py makes it.

import { make, setText } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";
import { downloadFile } from "../lens/saving.js";
import { seeWords } from "../lens/words.js";
import { questionsAsQuiz } from "../story/questions.js";
import { ASKING_SCENES } from "../story/scenes.js";
import { storyWords } from "../story/words.js";
import { LANGUAGES } from "../words/languages.js";
import { isBehindHash, openFace, ready, viewWords } from "./address.js";
import { choice } from "./choice.js";
import { addressOf, askAgain, askJson, wordsOfTrouble } from "./http.js";
import { ownPictures } from "./own.js";
import { readPageData } from "./pagedata.js";
import { giftOf, qtiOf } from "./quizfiles.js";

const TEACH_IDEA = "A plan that opens each scene, what students often say, sheets to compute by hand, a quiz.";
const TEACH_TITLES = {
  plan: "A plan",
  notes: "What students say",
  outcomes: "Outcomes",
  print: "Sheets and files",
  quiz: "Quiz",
};
const LINK_KINDS = { full: "the whole page", class: "the scene alone, for a class" };
const OWN_PLAN = "0"; // stands for a plan of one's own where other plans have their minutes

export function showTeach(box, { name, title }, { words, link, tell }) {
  const controller = new AbortController();
  const { signal } = controller;
  const tabs = make("nav", { className: "lesson-steps" });
  const body = make("div", { className: "teach-body" });
  box.dataset.page = name;
  box.replaceChildren(make("h1", { textContent: title }), make("p", { textContent: TEACH_IDEA }), tabs, body);
  const settings = {};
  const page = { settings, body, link, signal, material: null, set: null };
  const draw = () => {
    for (const tab of tabs.children)
      tab.setAttribute("aria-current", tab.dataset.step === settings.part ? "step" : "false");
    tabs.scrollLeft =
      /** @type {HTMLElement} */ (tabs.querySelector('[aria-current="step"]'))?.offsetLeft - tabs.offsetLeft;
    drawnPicture = pictureWords();
    if (page.material) TEACH_PARTS[settings.part](page);
  };
  page.set = (changes) => {
    Object.assign(settings, changes);
    tell(changedWords(settings, page.material), changes.part ?? Object.keys(changes)[0]);
    draw();
  };
  let wordsNow = words;
  let drawnPicture = null;
  const follow = (nextWords) => {
    wordsNow = nextWords;
    const { part } = nextWords;
    const next = page.material
      ? settingsOfTeach(nextWords, page.material)
      : { part: part in TEACH_TITLES ? part : "plan" };
    if (JSON.stringify([next, pictureWords()]) === JSON.stringify([settings, drawnPicture])) return;
    Object.assign(settings, next);
    draw();
  };
  tabs.append(
    ...Object.entries(TEACH_TITLES).map(([part, heading]) => {
      return buttonWith(heading, () => page.set({ part }), { "data-step": part });
    }),
  );
  follow(words);
  Promise.all([askJson("api/teach", { signal }), ready()])
    .then(([material]) => {
      page.material = material;
      follow(wordsNow);
    })
    .catch((error) => {
      if (!signal.aborted) body.textContent = wordsOfTrouble(error);
    });
  return { follow, end: () => controller.abort() };
}

const TEACH_PARTS = { plan: drawPlan, notes: drawNotes, outcomes: drawOutcomes, print: drawSheets, quiz: drawQuiz };

const buttonWith = (words, act, fields = {}) =>
  make("button", { innerHTML: markedWords(words), onclick: act, ...fields });

// ------------------------------------------------------------------------------------------------------- the address

const usualSettings = ({ plans }) => {
  const minutes = Object.keys(plans)[0];
  return { part: "plan", minutes, scenes: plans[minutes].join("-"), links: "full", language: openFace().language };
};

function settingsOfTeach(words, material) {
  const isKnown = {
    part: (word) => word in TEACH_TITLES,
    minutes: (word) => word === OWN_PLAN || word in material.plans,
    scenes: (word) => word.split("-").every((key) => key in material.scenes),
    links: (word) => word in LINK_KINDS,
    language: (word) => word in LANGUAGES,
  };
  const read = ([name, usual]) => [name, words[name] && isKnown[name](words[name]) ? words[name] : usual];
  return Object.fromEntries(Object.entries(usualSettings(material)).map(read));
}

function changedWords(settings, material) {
  const usual = material ? usualSettings(material) : { part: "plan" };
  return Object.fromEntries(Object.entries(settings).filter(([name, word]) => word !== usual[name]));
}

// ---------------------------------------------------------------------------------------------------------- the plan

// The plan's picture and model; a photograph of one's own is on nobody else's screen.
const pictureWords = () => (choice.now.mine ? { model: choice.now.model } : choice.words());
const withPicture = (words) => ({ ...choice.words(), ...words });

const questionsIn = (keys, { scenes }) =>
  keys.filter((key) => (scenes[key].story ? ASKING_SCENES.includes(scenes[key].story) : scenes[key].asks)).length;

function countWords(keys, material) {
  const minutes = keys.reduce((sum, key) => sum + material.scenes[key].minutes, 0);
  const count = questionsIn(keys, material);
  return `${minutes} minutes, ${count} question${count === 1 ? "" : "s"} for phones.`;
}

const pickedKeys = ({ settings, material }) => material.plans[settings.minutes] ?? settings.scenes.split("-");

function drawPlan(page) {
  const { settings, body, link, material, set } = page;
  const keys = pickedKeys(page);
  const isOwnPlan = settings.minutes === OWN_PLAN;
  const minuteTitles = [...Object.keys(material.plans).map((minutes) => [minutes, minutes]), [OWN_PLAN, "your own"]];
  let minute = 0;
  const lines = keys.map((key, n) => {
    const { title, do: advice, minutes, page: scenePage, words, for_class: classWords } = material.scenes[key];
    const href = link(
      scenePage,
      settings.links === "class" ? { ...classWords, ...pictureWords() } : withPicture(words),
    );
    const time = make("span", { className: "teach-minutes", textContent: `${minute}–${(minute += minutes)}` });
    const anchor = make("a", { href, innerHTML: markedWords(title) });
    const line = make("li", {}, time, anchor, make("span", { innerHTML: markedWords(advice) }));
    if (isOwnPlan) line.append(orderButtons(page, keys, n));
    return line;
  });
  body.replaceChildren(
    make(
      "div",
      { className: "teach-choices" },
      choiceOf("Minutes", minuteTitles, settings.minutes, (minutes) => set({ minutes })),
      choiceOf("Links open", Object.entries(LINK_KINDS), settings.links, (links) => set({ links })),
    ),
    make("ol", { className: `teach-plan${isOwnPlan ? " own" : ""}` }, ...lines),
    ...(isOwnPlan ? moreScenes(page, keys) : []),
    smallLine(`${countWords(keys, material)} The links open the picture and the model on the bar.`),
    smallLine(
      "A **class link** opens the same model, picture, view and step for everybody and hides the row on top: " +
        "pictures, models, other pages. Any address of the app becomes one with *class=yes* behind it.",
    ),
    ...(isBehindHash() ? [needsTheApp("A class that guesses together, and slides of a plan")] : withServer(page, keys)),
  );
}

function choiceOf(label, options, chosen, onPick) {
  const buttons = options.map(([value, words]) => {
    const pick = () => {
      onPick(value);
      refocus(`.lesson-choice [data-value="${value}"]`, ".teach-body");
    };
    return buttonWith(words, pick, { "data-value": value, "aria-pressed": String(value === chosen) });
  });
  const fields = { className: "lesson-choice", role: "group", "aria-label": label };
  return make("div", fields, make("span", "", label), ...buttons);
}

// Gives the focus back to a control that was drawn again.
const refocus = (control, box) => document.querySelector(`${box} ${control}`)?.focus();

const smallLine = (words) => make("p", { className: "teach-small", innerHTML: markedWords(words) });

const needsTheApp = (what) => {
  const { command, where } = readPageData().app;
  return smallLine(`${what} need the app: \`${command}\` ${where}.`);
};

// ------------------------------------------------------------------------------------------------ a plan of one's own

function orderButtons({ material, set }, keys, n) {
  const { title } = material.scenes[keys[n]];
  const put = (changedKeys, control) => {
    set({ scenes: changedKeys.join("-") });
    refocus(control, ".teach-plan");
  };
  const earlier = () => put(keys.with(n - 1, keys[n]).with(n, keys[n - 1]), `li:nth-child(${n}) button:not(:disabled)`);
  const without = () =>
    put(
      keys.filter((_, place) => place !== n),
      `li:nth-child(${Math.min(n + 1, keys.length - 1)}) button:not(:disabled)`,
    );
  const buttons = [
    buttonWith("↑", earlier, { disabled: n === 0, "aria-label": `${title}: earlier` }),
    buttonWith("×", without, { disabled: keys.length === 1, "aria-label": `${title}: leave out` }),
  ];
  return make("span", { className: "teach-order" }, ...buttons);
}

function moreScenes({ material, set }, keys) {
  const otherKeys = Object.keys(material.scenes).filter((key) => !keys.includes(key));
  const buttons = otherKeys.map((key) => {
    const { title, story } = material.scenes[key];
    return buttonWith(`+ ${story ? `${story} · ` : ""}${title}`, () => {
      set({ scenes: [...keys, key].join("-") });
      refocus("button", ".teach-more");
    });
  });
  const more = make("div", { className: "teach-more", role: "group", "aria-label": "Scenes to add" }, ...buttons);
  return [
    smallLine("The address of this page keeps the plan: send it, or set a bookmark."),
    ...(otherKeys.length ? [more] : []),
  ];
}

// ------------------------------------------------------------------------------------------------- a class, and slides

function withServer(page, keys) {
  const minutes = keys.reduce((sum, key) => sum + page.material.scenes[key].minutes, 0);
  const planned = questionsIn(keys, page.material);
  const href = `${page.link("microscope", withPicture({ story: "1" }))}#lecture=new.${planned}`; // storyway.js reads it
  return [
    make("a", { className: "teach-button", href, textContent: "Start a class that guesses together" }),
    smallLine(
      "The story with a code for phones: they guess, without an account, and nobody’s guess has a name. All are " +
        "revealed together, then the answer. It is in memory only, and ends with *End the class* or after four hours.",
    ),
    slidesOffer(keys, minutes, page.signal),
    smallLine(
      "Each slide holds its living scene, about your picture. Any browser shows them, also without a network: → or a " +
        "clicker goes on, N opens notes in a window for who speaks. Print them: paper has the words of every scene.",
    ),
  ];
}

function slidesOffer(keys, minutes, signal) {
  const status = make("span", { role: "status" });
  const offer = make("div", { className: "teach-slides" });
  const button = buttonWith("Make slides of this plan", makeSlides, { className: "teach-button" });
  async function makeSlides() {
    button.disabled = true;
    status.textContent = "Playing the scenes of the plan on your picture …";
    offer.replaceChildren(button, make("progress", { "aria-label": "Slides are made" }), status);
    try {
      const blob = await (await askForSlides(keys, signal)).blob();
      const href = URL.createObjectURL(blob);
      signal.addEventListener("abort", () => URL.revokeObjectURL(href));
      const words = `One file, ${(blob.size / 2 ** 20).toFixed(1)} MB`;
      const download = `attention-${minutes}.html`;
      const file = make("a", { className: "teach-button", href, download }, words);
      offer.replaceChildren(file, status);
      status.textContent = "";
      file.focus();
    } catch (error) {
      if (signal.aborted) return;
      button.disabled = false;
      status.textContent = wordsOfTrouble(error);
      offer.replaceChildren(button, status);
    }
  }
  offer.append(button, status);
  return offer;
}

function askForSlides(keys, signal) {
  const words = new URLSearchParams({ ...choice.words(), ...viewWords(), scenes: keys.join("-") });
  return askAgain(ownPictures.bringAgain, `api/teach/slides.html?${words}`, { method: "POST", signal });
}

// ------------------------------------------------------------------------------------------------------ notes, sheets

function drawNotes({ body, link, material }) {
  const notes = material.notes.map(({ heard, true: truth, page, words }) => {
    const show = make("a", { href: link(page, words), textContent: "Show it" });
    const answer = make("p", { innerHTML: `${markedWords(truth)} ` }, show);
    return make("details", {}, make("summary", { innerHTML: markedWords(`“${heard}”`) }), answer);
  });
  body.replaceChildren(make("div", { className: "lesson-fold teach-notes" }, ...notes));
}

function drawOutcomes({ body, link, material }) {
  const lessons = readPageData().pages.flatMap(({ name, title }) => {
    const outcomes = material.outcomes.filter(({ page }) => page === name);
    const lines = outcomes.map(({ step, can }) =>
      make("li", {}, make("a", { href: link(name, { step }), innerHTML: markedWords(can) })),
    );
    return lines.length ? [make("h2", { innerHTML: markedWords(title) }), make("ul", {}, ...lines)] : [];
  });
  const words = "After each lesson a student can do this; a line leads to the question that checks it.";
  body.replaceChildren(make("div", { className: "teach-outcomes" }, make("p", { textContent: words }), ...lessons));
}

const languageChoice = ({ settings, set }) =>
  choiceOf("In", Object.entries(LANGUAGES), settings.language, (language) => set({ language }));

function drawSheets({ body, material, settings, set }) {
  const lines = Object.entries(material.sheets).map(([sheet, title]) => {
    const href = addressOf(`api/teach/sheets/${sheet}.html?language=${settings.language}`);
    const way = { className: "teach-button", href, download: "", "aria-label": `${title}: to print` };
    return make(
      "li",
      {},
      make("span", { textContent: title }),
      ...(isBehindHash() ? [] : [make("a", way, "To print")]),
    );
  });
  body.replaceChildren(
    make("ul", { className: "teach-sheets" }, ...lines, ...quizLines(material, settings.language)),
    languageChoice({ settings, set }),
    smallLine("Moodle imports **GIFT**; OpenOlat, ONYX, TAO and others **QTI 2.1**."),
    ...(isBehindHash() ? [needsTheApp("Sheets to print")] : []),
  );
}

// Lines that save questions for a learning platform: the quiz, and the ten questions.
function quizLines({ quizzes }, language) {
  const ten = (when) => questionsAsQuiz(when, (key, values) => storyWords(language, key, values));
  const lineOf = (name, title, questions) => {
    const save = (kind, file, data) => {
      const fields = { className: "teach-button", "aria-label": `${title}: ${kind}` };
      return buttonWith(kind, () => downloadFile(new File([data()], `attention-${name}${file}`)), fields);
    };
    const gift = save("GIFT", ".gift.txt", () => giftOf(title, questions));
    const qti = save("QTI 2.1", "-qti.zip", () => qtiOf(title, questions, language));
    return make("li", {}, make("span", { textContent: `${title}, for a learning platform` }), gift, qti);
  };
  return [
    lineOf("quiz", "The quiz", quizzes[language]),
    lineOf("before", "The ten questions before the story", ten("b")),
    lineOf("after", "The ten questions after the story", ten("a")),
  ];
}

// ---------------------------------------------------------------------------------------------------------- the quiz

function drawQuiz({ body, material, settings, set }) {
  const { language } = settings;
  const quiz = material.quizzes[language];
  const right = new Map(); // number of an answered question → whether the answer is right
  const total = make("p", { className: "teach-total", role: "status" });
  const drawTotal = () => {
    const rightCount = [...right.values()].filter(Boolean).length;
    setText(total, seeWords(language, "quizTotal", { rightCount, answered: right.size, count: quiz.length }));
  };
  const questions = quiz.map(({ asks, options, right: rightOption, why }, n) => {
    const verdict = make("p", { className: "teach-verdict", "aria-live": "polite" });
    const answer = (option) => {
      const isRight = option === rightOption;
      right.set(n, isRight);
      verdict.className = `teach-verdict ${isRight ? "right" : "wrong"}`;
      const said = storyWords(language, isRight ? "right" : "itIs", { truth: options[rightOption] });
      verdict.innerHTML = markedWords(`**${said}** ${why}`);
      drawTotal();
    };
    const labels = options.map((words, option) => {
      const radio = make("input", { type: "radio", name: `quiz_${n + 1}`, onchange: () => answer(option) });
      return make("label", {}, radio, make("span", { innerHTML: markedWords(words) }));
    });
    const legend = make("legend", { innerHTML: markedWords(`${n + 1}. ${asks}`) });
    return make("fieldset", {}, legend, ...labels, verdict);
  });
  body.replaceChildren(
    languageChoice({ settings, set }),
    make("div", { className: "teach-quiz", lang: language }, ...questions),
    total,
  );
  drawTotal();
}
