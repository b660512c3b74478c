// The page Teach: a plan that opens each scene, what students say, sheets to print, a quiz. All of it comes as one
// record, as `as_data` of playground/lessons/teaching.py makes it.

import { markedWords } from "../drawing/listing.js";
import { isBehindHash, viewWords } from "./address.js";
import { choice } from "./choice.js";
import { addressOf, ask, wordsOfTrouble } from "./http.js";
import { ownPictures } from "./own.js";
import { readPageData } from "./pagedata.js";

const TEACH_IDEA = "A plan that opens each scene, what students often say, sheets to compute by hand, a quiz.";
const TEACH_TITLES = { plan: "A plan", notes: "What students say", print: "To print", quiz: "Quiz" };
const LINK_KINDS = { full: "the whole page", class: "the scene alone, for a class" };
const OWN_PLAN = "0"; // stands for a plan of one's own where other plans have their minutes
const PEOPLE_PAUSE = 10_000; // ms between two looks at how many people are there

// words: the address's parameters; link(page, words): a page's address; tell(settings, what): called when a person has
// changed `what`. Returns {follow(words): shows what another address says, end()}.
export function showTeach(box, { name, title }, { words, link, tell }) {
  const controller = new AbortController();
  const { signal } = controller;
  const tabs = teachPart("nav", { className: "lesson-steps" });
  const body = teachPart("div", { className: "teach-body" });
  const peopleLine = teachPart("p", { className: "teach-people" });
  box.dataset.page = name;
  box.replaceChildren(
    teachPart("h1", { textContent: title }),
    teachPart("p", { textContent: TEACH_IDEA }),
    ...(isBehindHash() ? [] : [peopleLine]),
    tabs,
    body,
  );
  const settings = {};
  const page = { settings, body, link, signal, material: null, set: null };
  const draw = () => {
    for (const tab of tabs.children)
      tab.setAttribute("aria-current", tab.dataset.step === settings.part ? "step" : "false");
    if (page.material) TEACH_PARTS[settings.part](page);
  };
  page.set = (changes) => {
    Object.assign(settings, changes);
    tell(changedWords(settings, page.material), changes.part ?? Object.keys(changes)[0]);
    draw();
  };
  let wordsNow = words;
  const follow = (nextWords) => {
    wordsNow = nextWords;
    const { part } = nextWords;
    const next = page.material
      ? settingsOfTeach(nextWords, page.material)
      : { part: part in TEACH_TITLES ? part : "plan" };
    if (JSON.stringify(next) === JSON.stringify(settings)) return;
    Object.assign(settings, next);
    draw();
  };
  tabs.append(
    ...Object.entries(TEACH_TITLES).map(([part, heading]) => {
      const tab = buttonWith(heading, () => page.set({ part }));
      tab.dataset.step = part;
      return tab;
    }),
  );
  follow(words);
  ask("api/teach", { signal })
    .then((answer) => answer.json())
    .then((material) => {
      page.material = material;
      follow(wordsNow);
    })
    .catch((error) => {
      if (!signal.aborted) body.textContent = wordsOfTrouble(error);
    });
  if (!isBehindHash()) followPeople(peopleLine, signal);
  return { follow, end: () => controller.abort() };
}

const TEACH_PARTS = { plan: drawPlan, notes: drawNotes, print: drawSheets, quiz: drawQuiz };

function teachPart(tag, fields = {}, ...children) {
  const element = Object.assign(document.createElement(tag), fields);
  element.append(...children);
  return element;
}

function buttonWith(words, act, fields = {}) {
  const button = teachPart("button", { type: "button", innerHTML: markedWords(words), ...fields });
  button.addEventListener("click", act);
  return button;
}

// ------------------------------------------------------------------------------------------------------- the address

const usualSettings = ({ plans }) => {
  const minutes = Object.keys(plans)[0];
  return { part: "plan", minutes, scenes: plans[minutes].join("-"), links: "full" };
};

function settingsOfTeach(words, material) {
  const isKnown = {
    part: (word) => word in TEACH_TITLES,
    minutes: (word) => word === OWN_PLAN || word in material.plans,
    scenes: (word) => word.split("-").every((key) => key in material.scenes),
    links: (word) => word in LINK_KINDS,
  };
  const read = ([name, usual]) => [name, words[name] && isKnown[name](words[name]) ? words[name] : usual];
  return Object.fromEntries(Object.entries(usualSettings(material)).map(read));
}

function changedWords(settings, material) {
  const usual = material ? usualSettings(material) : { part: "plan" };
  return Object.fromEntries(Object.entries(settings).filter(([name, word]) => word !== usual[name]));
}

// -------------------------------------------------------------------------------------------------------- the people

// Says how many people are on the server while somebody looks at this page.
async function followPeople(line, signal) {
  const show = async () => {
    if (document.hidden) return;
    const { people, waiting } = await (await ask("api/teach/people", { signal })).json();
    line.textContent = peopleSentence(people, waiting);
  };
  const showIfThere = () => show().catch(() => {}); // the next look tells it
  const timer = setInterval(showIfThere, PEOPLE_PAUSE);
  document.addEventListener("visibilitychange", showIfThere, { signal });
  signal.addEventListener("abort", () => clearInterval(timer));
  showIfThere();
}

const counted = (people) => (people === 1 ? "1 person" : `${people} people`);

export const peopleSentence = (people, waiting) =>
  `${counted(people)} on this server, ${waiting ? counted(waiting) : "nobody"} ${waiting > 1 ? "wait" : "waits"}.`;

// ---------------------------------------------------------------------------------------------------------- the plan

const pickedKeys = ({ settings, material }) => material.plans[settings.minutes] ?? settings.scenes.split("-");

function drawPlan(page) {
  const { settings, body, link, material, set } = page;
  const keys = pickedKeys(page);
  const isOwnPlan = settings.minutes === OWN_PLAN;
  const minuteTitles = [...Object.keys(material.plans).map((minutes) => [minutes, minutes]), [OWN_PLAN, "your own"]];
  let minute = 0;
  const lines = keys.map((key, n) => {
    const { title, do: advice, minutes, page: scenePage, words, for_class: classWords } = material.scenes[key];
    const href = link(scenePage, settings.links === "class" ? classWords : words);
    const time = teachPart("span", { className: "teach-minutes", textContent: `${minute}–${(minute += minutes)}` });
    const anchor = teachPart("a", { href, innerHTML: markedWords(title) });
    const line = teachPart("li", {}, time, anchor, teachPart("span", { innerHTML: markedWords(advice) }));
    if (isOwnPlan) line.append(orderButtons(page, keys, n));
    return line;
  });
  body.replaceChildren(
    teachPart(
      "div",
      { className: "teach-choices" },
      choiceOf("Minutes", minuteTitles, settings.minutes, (minutes) => set({ minutes })),
      choiceOf("Links open", Object.entries(LINK_KINDS), settings.links, (links) => set({ links })),
    ),
    teachPart("ol", { className: `teach-plan${isOwnPlan ? " own" : ""}` }, ...lines),
    ...(isOwnPlan ? moreScenes(page, keys, minute) : []),
    smallLine(
      "A **class link** opens the same model, picture, view and step for everybody and hides the row on top: " +
        "pictures, models, other pages. Any address of the app becomes one with *class=yes* behind it.",
    ),
    ...(isBehindHash() ? [needsTheApp("A class that guesses together, and slides of a plan")] : withServer(page, keys)),
  );
}

function choiceOf(label, options, chosen, onPick) {
  const group = teachPart("div", { className: "lesson-choice" }, teachPart("span", { textContent: label }));
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", label);
  for (const [value, words] of options) {
    const button = buttonWith(words, () => {
      onPick(value);
      refocus(`.lesson-choice [data-value="${value}"]`, ".teach-body");
    });
    button.dataset.value = value;
    button.setAttribute("aria-pressed", String(value === chosen));
    group.append(button);
  }
  return group;
}

// Gives the focus back to a control that was drawn again.
const refocus = (control, box) => document.querySelector(`${box} ${control}`)?.focus();

const smallLine = (words) => teachPart("p", { className: "teach-small", innerHTML: markedWords(words) });

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
    buttonWith("↑", earlier, { disabled: n === 0, ariaLabel: `${title}: earlier` }),
    buttonWith("×", without, { disabled: keys.length === 1, ariaLabel: `${title}: leave out` }),
  ];
  return teachPart("span", { className: "teach-order" }, ...buttons);
}

function moreScenes({ material, set }, keys, minutes) {
  const otherKeys = Object.keys(material.scenes).filter((key) => !keys.includes(key));
  const buttons = otherKeys.map((key) => {
    const { title, story } = material.scenes[key];
    return buttonWith(`+ ${story ? `${story} · ` : ""}${title}`, () => {
      set({ scenes: [...keys, key].join("-") });
      refocus("button", ".teach-more");
    });
  });
  const more = teachPart("div", { className: "teach-more" }, ...buttons);
  more.setAttribute("role", "group");
  more.setAttribute("aria-label", "Scenes to add");
  return [
    smallLine(`${minutes} minutes. The address of this page keeps the plan: send it, or set a bookmark.`),
    ...(otherKeys.length ? [more] : []),
  ];
}

// ------------------------------------------------------------------------------------------------- a class, and slides

function withServer(page, keys) {
  const minutes = keys.reduce((sum, key) => sum + page.material.scenes[key].minutes, 0);
  const href = `${page.link("microscope", { story: "1" })}#lecture=new`; // shell/storyway.js reads it
  return [
    teachPart("a", { className: "teach-button", href, textContent: "Start a class that guesses together" }),
    smallLine(
      "The story with a code for phones: they guess, without an account, and nobody’s guess has a name. *Reveal* " +
        "shows all of them, then the truth. It is in memory only, and ends with *End* or after four hours.",
    ),
    slidesOffer(keys, minutes, page.signal),
    smallLine(
      "Each slide holds its living scene, about your picture. Any browser shows them, also without a network: → or a " +
        "clicker goes on, N shows notes for who speaks.",
    ),
  ];
}

function slidesOffer(keys, minutes, signal) {
  const status = teachPart("span", { role: "status" });
  const offer = teachPart("div", { className: "teach-slides" });
  const button = buttonWith("Make slides of this plan", make, { className: "teach-button" });
  async function make() {
    button.disabled = true;
    status.textContent = "Playing the scenes of the plan on your picture …";
    offer.replaceChildren(button, teachPart("progress", { ariaLabel: "Slides are made" }), status);
    try {
      const blob = await (await askForSlides(keys, signal)).blob();
      const href = URL.createObjectURL(blob);
      signal.addEventListener("abort", () => URL.revokeObjectURL(href));
      const words = `One file, ${(blob.size / 2 ** 20).toFixed(1)} MB`;
      const file = teachPart("a", { className: "teach-button", href, textContent: words });
      file.download = `attention-${minutes}.html`;
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

// If the server has forgotten the person's picture, sends the picture and asks again, once.
async function askForSlides(keys, signal) {
  const words = new URLSearchParams({ ...choice.words(), ...viewWords(), scenes: keys.join("-") });
  const send = () => ask(`api/teach/slides.html?${words}`, { method: "POST", signal });
  return send().catch(async (error) => {
    if (!error.body?.forgotten || !(await ownPictures.bringAgain(error.body.forgotten, { signal }))) throw error;
    return send();
  });
}

// ------------------------------------------------------------------------------------------------------ notes, sheets

function drawNotes({ body, link, material }) {
  const notes = material.notes.map(({ heard, true: truth, page, words }) => {
    const show = teachPart("a", { href: link(page, words), textContent: "Show it" });
    const answer = teachPart("p", { innerHTML: `${markedWords(truth)} ` }, show);
    return teachPart("details", {}, teachPart("summary", { innerHTML: markedWords(`“${heard}”`) }), answer);
  });
  body.replaceChildren(teachPart("div", { className: "lesson-fold teach-notes" }, ...notes));
}

function drawSheets({ body, material }) {
  const lines = Object.entries(material.sheets).map(([sheet, title]) => {
    const href = addressOf(`api/teach/sheets/${sheet}.html`);
    const anchor = teachPart("a", { className: "teach-button", href, download: "", textContent: "To print" });
    anchor.setAttribute("aria-label", `${title}: to print`);
    return teachPart("li", {}, teachPart("span", { textContent: title }), ...(isBehindHash() ? [] : [anchor]));
  });
  body.replaceChildren(
    teachPart("ul", { className: "teach-sheets" }, ...lines),
    ...(isBehindHash() ? [needsTheApp("Sheets to print")] : []),
    smallLine("`python -m playground.figures.teaching FOLDER` writes all of them."),
  );
}

// ---------------------------------------------------------------------------------------------------------- the quiz

function drawQuiz({ body, material }) {
  const { quiz } = material;
  const right = new Map(); // number of an answered question → whether the answer is right
  const total = teachPart("p", { className: "teach-total", role: "status" });
  const drawTotal = () => {
    const rightCount = [...right.values()].filter(Boolean).length;
    const words = `**${rightCount} of ${right.size} right**, ${quiz.length} questions in all. Nothing is kept or sent.`;
    total.innerHTML = markedWords(words);
  };
  const questions = quiz.map(({ asks, options, right: rightOption, why }, n) => {
    const verdict = teachPart("p", { className: "teach-verdict", ariaLive: "polite" });
    const answer = (option) => {
      const isRight = option === rightOption;
      right.set(n, isRight);
      verdict.className = `teach-verdict ${isRight ? "right" : "wrong"}`;
      verdict.innerHTML = markedWords(`**${isRight ? "Right." : `No: ${options[rightOption]}.`}** ${why}`);
      drawTotal();
    };
    const labels = options.map((words, option) => {
      const radio = teachPart("input", { type: "radio", name: `quiz_${n + 1}` });
      radio.addEventListener("change", () => answer(option));
      return teachPart("label", {}, radio, teachPart("span", { innerHTML: markedWords(words) }));
    });
    const legend = teachPart("legend", { innerHTML: markedWords(`${n + 1}. ${asks}`) });
    return teachPart("fieldset", {}, legend, ...labels, verdict);
  });
  body.replaceChildren(teachPart("div", { className: "teach-quiz" }, ...questions), total);
  drawTotal();
}
