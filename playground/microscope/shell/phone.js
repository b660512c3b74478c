// A class's page on a phone: the lecturer's scene, its question, this phone's guess, and all guesses once they are
// shown. The page long-polls for the next state, and polls again when the phone wakes up.

import { appendElement, classWords, drawGuesses, guessMap, inLanguage, refusedWords } from "../classroom/words.js";
import { gradeOf } from "../core/grades.js";
import { patchAfterKey } from "../core/grid.js";
import { numberWords } from "../core/guesses.js";
import { choiceButtons, numberDial } from "../drawing/asking.js";
import { make } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";
import { LANGUAGES, languageOf } from "../words/languages.js";
import { addressOf, ask, askJson } from "./http.js";

const POLL_RETRY_MS = 2000; // ms to the next request after a failed one
const CODE_OF_CLASS = /^[A-Za-z]{5}$/;
const FINAL_STATUSES = [403, 404, 410]; // after any other refusal, a later request may succeed

function createPhone(root) {
  const code = decodeURIComponent(location.pathname.match(/\/c\/([^/]+)$/)?.[1] ?? "");
  const phone = {
    language: languageOf(navigator.languages ?? []),
    state: null, // the server's last answer
    refusal: null, // (language) → the sentence of a refused request, see http.js
    says: null, //   (language) → a sentence under the guess
    unsentNumber: null, // the slider's number that is not sent yet
    aim: null, //    the place that the arrow keys have reached; Enter sends it
    image: null, //  {path, src}
    drawnKey: "",
    stop: new AbortController(),
  };
  const words = (key, values) => classWords(phone.language, key, values);
  addEventListener("online", listenAnew); // the phone may have slept
  addEventListener("pageshow", (event) => event.persisted && listenAnew());
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && listenAnew());
  if (CODE_OF_CLASS.test(code)) followState();
  draw();

  function listenAnew() {
    if (!CODE_OF_CLASS.test(code) || phone.state?.ended || phone.refusal) return;
    phone.stop.abort();
    followState();
  }

  async function followState() {
    phone.stop = new AbortController();
    const { signal } = phone.stop;
    let version = -1;
    while (!signal.aborted) {
      try {
        const after = version < 0 ? "" : `?after=${version}`;
        const state = await askJson(`api/classes/${code}${after}`, { signal });
        if (signal.aborted) return;
        version = state.version;
        takeState(state);
        if (state.ended) return;
      } catch (error) {
        if (signal.aborted) return;
        if (FINAL_STATUSES.includes(error.status)) return refuse(error);
        phone.says = error.body?.key ? refusalFor(error) : connectionLost;
        draw();
        await new Promise((resolve) => setTimeout(resolve, POLL_RETRY_MS));
      }
    }
  }

  const connectionLost = (language) => classWords(language, "lost");
  const refusalFor = (error) => (error.says ? (language) => refusedWords(language, error) : connectionLost);

  function refuse(error) {
    Object.assign(phone, { state: null, refusal: refusalFor(error) });
    draw();
  }

  function takeState(state) {
    const formerQuestion = phone.state?.question;
    const isSameQuestion =
      formerQuestion?.number === state.question?.number && formerQuestion?.turn === state.question?.turn;
    if (!isSameQuestion) phone.unsentNumber = phone.aim = null;
    Object.assign(phone, { state, says: null });
    bringImage(state.question?.picture);
    draw();
  }

  async function bringImage(path) {
    if (!path || phone.image?.path === path) return;
    phone.image = { path, src: "" };
    const src = await addressOfImage(path).catch(() => "");
    if (phone.image.path === path) phone.image.src = src;
    phone.drawnKey = "";
    draw();
  }

  async function addressOfImage(path) {
    if (/^api.samples./.test(path)) return addressOf(path);
    return URL.createObjectURL(await (await ask(path)).blob()); // only members get the lecturer's picture
  }

  async function sendGuess(guess) {
    const { number, turn: round } = phone.state.question;
    try {
      const body = JSON.stringify({ question: number, turn: round, guess });
      const answer = await askJson(`api/classes/${code}/guesses`, { method: "POST", body });
      const { question, mine: guesses } = phone.state;
      if (question?.number === number && question.turn === round) guesses[round - 1] = answer.guess;
      phone.says = null;
    } catch (error) {
      phone.says = refusalFor(error);
    }
    draw();
  }

  // ---- drawing
  function draw() {
    const { state, language } = phone;
    const [refusal, notice] = [phone.refusal, phone.says].map((sentence) => sentence?.(language) ?? "");
    const key = JSON.stringify([state, refusal, notice, language, phone.image?.src]);
    if (phone.drawnKey === key) return;
    phone.drawnKey = key;
    const mapHasFocus = document.activeElement?.matches(".class-map");
    root.lang = language;
    root.replaceChildren();
    drawHead();
    if (!state || state.ended) return drawCodeForm();
    const { scene, question } = state;
    if (scene.n) appendElement(root, "p", "phone-scene", words("scene", scene));
    appendElement(root, "h1").innerHTML = markedWords(inLanguage(scene.title, language));
    if (question) drawQuestion(question);
    else appendElement(root, "p", "phone-front", words("front"));
    appendElement(root, "p", { className: "phone-says", role: "status" }, notice);
    if (mapHasFocus) root.querySelector(".class-map[tabindex]")?.focus();
  }

  function drawHead() {
    const head = appendElement(root, "header");
    const isHeading = !phone.state || phone.state.ended; // no scene has a title yet
    appendElement(head, "b", isHeading ? { role: "heading", "aria-level": "1" } : "", "Attention Playground");
    if (phone.state) appendElement(head, "span", "phone-code", code.toUpperCase());
    const group = { className: "phone-languages", role: "group", "aria-label": words("language") };
    const languages = appendElement(head, "span", group);
    for (const [lang, title] of Object.entries(LANGUAGES)) {
      const onclick = () => {
        phone.language = lang;
        draw();
      };
      const fields = { title, lang, onclick, "aria-pressed": String(phone.language === lang) };
      appendElement(languages, "button", fields, lang.toUpperCase());
    }
  }

  // A field for the class's code, with the reason why it is asked for.
  function drawCodeForm() {
    const refusalText = (phone.refusal ?? phone.says)?.(phone.language) ?? "";
    const sentence = phone.state?.ended ? words("ended") : refusalText;
    if (sentence) appendElement(root, "p", "phone-refusal", sentence);
    if (phone.refusal === null && !phone.state && CODE_OF_CLASS.test(code)) return; // asked again by itself
    const fields = { maxLength: 5, autocomplete: "off", autocapitalize: "characters", spellcheck: false };
    const field = make("input", { ...fields, inputMode: "text" });
    const button = make("button", { type: "submit", className: "phone-main" }, words("enter"));
    const label = make("label", "", words("code"), field);
    const form = appendElement(root, "form");
    form.append(label, make("p", "", words("askCode")), button);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const entered = field.value.trim();
      if (CODE_OF_CLASS.test(entered)) location.assign(addressOf(`c/${entered.toUpperCase()}`));
      else field.focus();
    });
  }

  function drawQuestion(question) {
    const { language } = phone;
    const guess = phone.state.mine.at(-1) ?? null;
    appendElement(root, "p", "phone-asks").innerHTML = markedWords(inLanguage(question.asks, language));
    const box = appendElement(root, "div", `phone-${question.guess.kind.toLowerCase()}`);
    if (question.phase === "asks") {
      INPUT_DRAWERS[question.guess.kind](box, question.guess, guess);
      const line = appendElement(root, "p", "phone-yours");
      if (guess === null) return;
      const isPlace = question.guess.kind === "Place";
      line.textContent = isPlace ? words("yourPlace") : words("yours", { guess: wordsOf(question, guess) });
      return;
    }
    drawGuesses(box, question, { language, mine: phone.state.mine, picture: pictureOf });
    const [guessLine, truthLine] = [appendElement(root, "p", "phone-yours"), appendElement(root, "p", "phone-truth")];
    guessLine.textContent = guess === null ? words("missed") : `${words("you")}: ${wordsOf(question, guess)}`;
    const isPlace = question.guess.kind === "Place";
    if (guess !== null && isPlace)
      guessLine.textContent = question.grades
        ? gradeOf(question.grades, guess, question.guess.columns, language).words
        : "";
    if (question.phase !== "tells") return;
    truthLine.textContent = isPlace
      ? words("truthPlace")
      : words("truth", { truth: wordsOf(question, question.truth) });
    appendElement(root, "p", "phone-after").innerHTML = markedWords(inLanguage(question.after, language));
  }

  function wordsOf({ guess: scale }, guess) {
    if (scale.kind !== "Choice") return numberWords(scale, guess);
    return inLanguage(scale.options.find(([key]) => key === guess)?.[1], phone.language);
  }

  const pictureOf = () => make("img", { alt: "", ...(phone.image?.src && { src: phone.image.src }) });

  const INPUT_DRAWERS = {
    Choice(box, scale, guess) {
      box.append(...choiceButtons(scale, sendGuess, (texts) => inLanguage(texts, phone.language)));
      for (const button of box.children) button.setAttribute("aria-pressed", String(button.dataset.key === guess));
    },

    Number(box, scale, guess) {
      const output = make("output");
      const dial = numberDial(scale, words("guess"), (x) => {
        phone.unsentNumber = x;
        output.textContent = numberWords(scale, x);
      });
      const startValue = phone.unsentNumber ?? guess;
      if (startValue !== null) dial.show(startValue);
      output.textContent = numberWords(scale, dial.value());
      box.append(dial.input, output);
      const fields = { className: "phone-main", onclick: () => sendGuess(dial.value()) };
      appendElement(box, "button", fields, words("guess"));
    },

    Place(box, { rows, columns, mark, aspect }, guess) {
      const fields = { className: "class-map", tabIndex: 0, role: "application", "aria-label": words("byKeys") };
      const place = appendElement(box, "div", fields);
      if (aspect > 0) place.style.aspectRatio = String(aspect);
      place.append(pictureOf(), guessMap({ rows, columns, mark, mine: guess, aim: phone.aim }));
      place.addEventListener("keydown", (event) => {
        const patch = patchAfterKey(event.key, phone.aim ?? guess ?? mark, rows, columns);
        if (patch >= 0) {
          phone.aim = patch;
          place.lastChild.replaceWith(guessMap({ rows, columns, mark, mine: guess, aim: patch }));
          root.querySelector(".phone-says").textContent = words("aim", {
            row: Math.floor(patch / columns),
            column: patch % columns,
          });
        } else if (event.key === "Enter" && phone.aim !== null) sendGuess(phone.aim);
        else return;
        event.preventDefault();
      });
      place.addEventListener("click", (event) => {
        const { left, top, width, height } = place.getBoundingClientRect();
        const column = Math.min(columns - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * columns)));
        const row = Math.min(rows - 1, Math.max(0, Math.floor(((event.clientY - top) / height) * rows)));
        sendGuess(row * columns + column);
      });
    },
  };
}

createPhone(document.querySelector("[data-phone]"));
