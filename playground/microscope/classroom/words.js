// Texts for a class, on phones and on the projector: a table for each language; values replace {names}. Below: draws a
// class's guesses as charts.

import { numberWords, scaleNumberAt, scaleShareAt } from "../core/guesses.js";
import { make, makeSvg } from "../drawing/dom.js";

export const CLASS_WORDS = {
  en: {
    // ---- phones
    code: "Code",
    enter: "Enter the class",
    askCode: "Five letters, as on the screen in front.",
    scene: "Scene {n} of {count}",
    front: "Look at the screen in front. A question comes here.",
    byKeys: "The picture: choose a place with the arrow keys and press Enter.",
    aim: "row {row}, column {column}",
    guess: "Guess",
    yours: "Your guess: {guess}. You may change it until all are shown.",
    yourPlace: "Your guess is marked. You may move it until all are shown.",
    missed: "All guesses are shown: this one went by without yours.",
    you: "you",
    truth: "The answer: {truth}",
    truthPlace: "The answer is framed; bright is what the head gives.",
    unreachable: "Phones can't reach this app, it is open to this machine alone. Start it by {command}",
    ended: "This class has ended.",
    lost: "No connection to the class; it is tried again.",
    language: "Language",
    // ---- phones and the lecturer
    first: "First guess",
    second: "Second guess",
    guesses: "{count} guesses",
    oneGuess: "1 guess",
    // ---- the lecturer
    start: "Start a class",
    here: "{count} here",
    hereFrom: "{count} here, from {networks} networks",
    answered: "{answered} of {here} have answered",
    open: "Open this question",
    reveal: "Reveal the guesses",
    again: "Discuss, then guess again",
    tell: "Show the answer",
    covered: "Guesses come in on the phones. Here nothing is shown before you reveal it.",
    secondTime: "Second guess: the first one is shown beside it.",
    closeDoor: "Close the door",
    openDoor: "Open the door",
    end: "End the class",
    showCode: "Code",
    hideCode: "Hide the code",
    newCode: "New code: everybody enters again",
    sendAway: "Send away the largest network ({largest})",
    save: "Save the counts (.csv)",
    yourLink: "Your link: it brings the class back",
    goTo: "Open with a phone:",
    left: "{minutes} minutes left",
    asked: "Question {asked}",
    sendPicture: "The phones need your photograph. Send it to them? It goes when the class ends.",
    yes: "Send it",
    no: "No",
    needsApp: "A class needs the app with its server: these plain files have nobody who counts. Start it by",
    over: "The class has ended.",
  },
  de: {
    code: "Code",
    enter: "Zur Klasse",
    askCode: "Fünf Buchstaben, wie vorn auf der Leinwand.",
    scene: "Szene {n} von {count}",
    front: "Sehen Sie nach vorn. Hier kommt eine Frage.",
    byKeys: "Das Bild: Wählen Sie eine Stelle mit den Pfeiltasten und drücken Sie Enter.",
    aim: "Zeile {row}, Spalte {column}",
    guess: "Raten",
    yours: "Ihr Tipp: {guess}. Sie können ihn ändern, bis alle gezeigt werden.",
    yourPlace: "Ihr Tipp ist markiert. Sie können ihn verschieben, bis alle gezeigt werden.",
    missed: "Alle Tipps werden gezeigt: Diese Frage ging ohne Ihren vorbei.",
    you: "Sie",
    truth: "Die Antwort: {truth}",
    truthPlace: "Die Antwort ist umrahmt; hell ist, was der Kopf gibt.",
    unreachable:
      "Handys erreichen diese App nicht, sie ist nur für diesen Rechner offen. Man startet sie mit {command}",
    ended: "Diese Klasse ist zu Ende.",
    lost: "Keine Verbindung zur Klasse; es wird wieder versucht.",
    language: "Sprache",
    first: "Erster Tipp",
    second: "Zweiter Tipp",
    guesses: "{count} Tipps",
    oneGuess: "1 Tipp",
    start: "Klasse beginnen",
    here: "{count} da",
    hereFrom: "{count} da, aus {networks} Netzen",
    answered: "{answered} von {here} haben getippt",
    open: "Diese Frage stellen",
    reveal: "Tipps aufdecken",
    again: "Besprechen, dann noch einmal tippen",
    tell: "Antwort zeigen",
    covered: "Die Tipps kommen auf den Handys. Hier ist nichts zu sehen, bis Sie sie aufdecken.",
    secondTime: "Zweiter Tipp: Der erste steht dann daneben.",
    closeDoor: "Tür schließen",
    openDoor: "Tür öffnen",
    end: "Klasse beenden",
    showCode: "Code",
    hideCode: "Code verbergen",
    newCode: "Neuer Code: Alle treten noch einmal ein",
    sendAway: "Das größte Netz wegschicken ({largest})",
    save: "Die Zahlen sichern (.csv)",
    yourLink: "Ihr Link: Er bringt die Klasse zurück",
    goTo: "Mit dem Handy öffnen:",
    left: "noch {minutes} Minuten",
    asked: "Frage {asked}",
    sendPicture: "Die Handys brauchen Ihr Foto. Soll es gesendet werden? Es verschwindet mit der Klasse.",
    yes: "Senden",
    no: "Nein",
    needsApp:
      "Eine Klasse braucht die App mit ihrem Server: Diese Dateien haben niemanden, der zählt. Man startet sie mit",
    over: "Die Klasse ist zu Ende.",
  },
};

// The server's refusals, by their keys in playground/serving/classes.py. English needs no table, because the server's
// sentences are English.
export const REFUSALS = {
  de: {
    noQuestion: "In dieser Szene ist keine Frage gestellt: Stellen Sie sie zuerst.",
    closed: "Die Tür dieser Klasse ist geschlossen: Bitten Sie vorn, sie wieder zu öffnen.",
    arrivals: "Viele Handys Ihres Netzes treten gerade ein: Dieses folgt in ein paar Sekunden.",
    full: "Diese Klasse ist voll: Sehen Sie auf das Handy nebenan.",
    sentAway: "Die Handys Ihres Netzes wurden weggeschickt: Sehen Sie nach vorn.",
    newCode: "Diese Klasse hat einen neuen Code: Geben Sie den ein, der vorn steht.",
    otherQuestion: "Das war eine andere Frage: Die jetzige kommt gleich.",
    shownAlready: "Die Tipps zu dieser Frage werden schon gezeigt.",
    manyClasses: "Hier laufen so viele Klassen, dass für keine weitere Platz ist: Versuchen Sie es später.",
    letters: "Ein Code hat {count} Buchstaben, wie vorn auf der Leinwand.",
    manyCodes: "In diesem Browser wurden zu viele Codes versucht: Warten Sie eine Minute und sehen Sie nach vorn.",
    manyTries: "Aus Ihrem Netz werden viele Codes versucht: Versuchen Sie es noch einmal.",
    noClass: "Es gibt keine Klasse {code}: Sie ist zu Ende, oder ihr Code ist ein anderer. Sehen Sie nach vorn.",
    often: "Dieser Browser fragt zu oft: Warten Sie ein paar Sekunden.",
    otherLecturer: "Diese Klasse leitet jemand anderes: Öffnen Sie sie mit dem Link, den Sie bekommen haben.",
    photographGone:
      "Ihr Foto liegt nicht mehr auf dem Server: Laden Sie die Seite neu, dann wird es noch einmal gesendet.",
    sendPhotograph:
      "Gedrückt wird auf ein Bild: Sagen Sie Ja dazu, dass Ihres gesendet wird, oder nehmen Sie ein Beispiel.",
  },
};

// The sentence of a refusal (see shell/http.js) in this language. In English, or if the refusal has no key, this is the
// server's own sentence.
/** @param {string} language @param {{ says?: string, body?: any }} error */
export function refusedWords(language, { says: sentenceOfServer = "", body = {} }) {
  const sentence = REFUSALS[language]?.[body.key];
  return sentence ? sentence.replace(/\{(\w+)\}/g, (match, name) => body.filled?.[name] ?? match) : sentenceOfServer;
}

export const CLASS_LANGUAGES = { en: "English", de: "Deutsch" };

export const classWords = (language, key, values = {}) =>
  CLASS_WORDS[language][key].replace(/\{(\w+)\}/g, (match, name) => values[name] ?? match);

// `texts`: a text that the lecturer's page sent, or one in several languages, {en, de}.
export const inLanguage = (texts, language) =>
  typeof texts === "string" ? texts : String(texts?.[language] ?? texts?.en ?? "");

export const languageOfPhone = (tags) =>
  tags.map((tag) => tag.toLowerCase().split("-")[0]).find((name) => Object.hasOwn(CLASS_WORDS, name)) ?? "en";

export const guessCountWords = (language, count) =>
  count === 1 ? classWords(language, "oneGuess") : classWords(language, "guesses", { count });

// Below: draws a class's guesses as bars, or as places over the picture. The charts of both rounds stand side by side.
// They mark the truth and the reader's own guess if these are known. Phones and the projector show the same charts.

const MOST_BARS = 25; // if there are more values than this, each bar counts several values

// question: the server's record, with the counts of each round; options: {language, mine: the reader's guess in each
// round, picture(): returns the photograph as an element}
export function drawGuesses(box, question, { language, mine: guesses = [], picture = null }) {
  const rounds = question.counts ?? [];
  const charts = rounds.map((counts, round) => {
    const name = rounds.length > 1 ? `${classWords(language, round ? "second" : "first")} · ` : "";
    const caption = make("p", "class-count", `${name}${guessCountWords(language, guessesIn(counts))}`);
    const figure = make("figure", "class-round", caption);
    const options = { counts, truth: question.truth ?? null, mine: guesses[round] ?? null, language, picture };
    GUESS_CHARTS[question.guess.kind](figure, { ...question.guess, heat: question.heat }, options);
    return figure;
  });
  box.replaceChildren(...charts);
  box.classList.add("class-rounds");
}

const guessesIn = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

const GUESS_CHARTS = {
  Choice(figure, { options }, { counts, truth, mine: guess, language }) {
    const list = appendElement(figure, "ul", "class-choices");
    const highest = Math.max(1, ...Object.values(counts));
    for (const [value, words] of options) {
      const line = appendElement(list, "li", markClasses(value === truth, value === guess));
      appendElement(line, "span", "", inLanguage(words, language));
      appendElement(line, "i", { style: `--long: ${(counts[value] ?? 0) / highest}` });
      appendElement(line, "b", "", String(counts[value] ?? 0));
      if (value === guess) appendElement(line, "em", "", classWords(language, "you"));
    }
  },

  Number(figure, scale, { counts, truth, mine: guess, language }) {
    const bars = histogram(counts, scale);
    const highest = Math.max(1, ...bars.map(({ count }) => count));
    const list = appendElement(figure, "ol", "class-bars");
    const place = (value) => histogram({ [value]: 1 }, scale).findIndex(({ count }) => count);
    const [truthPlace, ownPlace] = [truth, guess].map((value) => (value === null ? -1 : place(value)));
    for (const [n, bar] of bars.entries()) {
      const item = appendElement(list, "li", markClasses(n === truthPlace, n === ownPlace));
      const ends = bar.from === bar.to ? [bar.from] : [bar.from, bar.to];
      item.title = `${ends.map((end) => numberWords(scale, end)).join(" – ")}: ${bar.count}`;
      appendElement(item, "b", "", bar.count ? String(bar.count) : "");
      appendElement(item, "i", { style: `--long: ${bar.count / highest}` });
      if (n === ownPlace) appendElement(item, "em", "", classWords(language, "you"));
    }
    const axis = appendElement(figure, "p", "class-axis");
    for (const share of [0, 0.5, 1]) appendElement(axis, "span", "", numberWords(scale, scaleNumberAt(scale, share)));
  },

  Place(figure, { rows, columns, mark, heat = "" }, { counts, truth, mine: guess, picture }) {
    const map = appendElement(figure, "div", "class-map");
    if (picture) map.append(picture());
    if (heat) map.append(heatOf(heat, rows, columns));
    map.append(guessMap({ rows, columns, mark, counts, truth, mine: guess }));
  },
};

const markClasses = (isTruth, isMine) => `${isTruth ? "truth" : ""} ${isMine ? "mine" : ""}`.trim();

// [{from, to, count}]: the guesses from the lowest to the highest, counted in at most MOST_BARS intervals. Each
// possible guess lies in one of them.
export function histogram(counts, scale) {
  const { low, high, step = 1, log } = scale;
  const steps = Math.round((high - low) / step);
  const barCount = log ? MOST_BARS : Math.ceil((steps + 1) / Math.ceil((steps + 1) / MOST_BARS));
  const stepsOfBar = Math.ceil((steps + 1) / barCount);
  const placeOf = (x) =>
    log ? barCount * scaleShareAt(scale, x) : Math.floor(Math.round((x - low) / step) / stepsOfBar);
  const bars = Array.from({ length: barCount }, (_, n) =>
    log
      ? { from: scaleNumberAt(scale, n / barCount), to: scaleNumberAt(scale, (n + 1) / barCount), count: 0 }
      : { from: low + n * stepsOfBar * step, to: Math.min(high, low + ((n + 1) * stepsOfBar - 1) * step), count: 0 },
  );
  for (const [value, count] of Object.entries(counts)) {
    const bar = bars[Math.min(barCount - 1, Math.floor(placeOf(Number(value))))];
    if (bar) bar.count += count;
  }
  return bars;
}

// Returns an SVG of marks over the picture, in units of a patch: a disc for each guessed place, the query's patch, the
// truth, the place that the reader's keys have reached, the reader's guess.
export function guessMap({ rows, columns, mark, counts = {}, truth = null, mine: guess = null, aim = null }) {
  const svg = makeSvg("svg", { viewBox: `0 0 ${columns} ${rows}`, preserveAspectRatio: "none" });
  const draw = (tag, className, attributes) => svg.append(makeSvg(tag, { class: className, ...attributes }));
  const centreOf = (patch) => ({ cx: (patch % columns) + 0.5, cy: Math.floor(patch / columns) + 0.5 });
  const square = (patch) => ({ x: patch % columns, y: Math.floor(patch / columns), width: 1, height: 1 });
  const leastRadius = Math.max(rows, columns) / 60; // a disc of one guess must be visible on any grid
  for (const [patch, count] of Object.entries(counts))
    draw("circle", "guessed", { ...centreOf(Number(patch)), r: Math.max(0.4, leastRadius) * Math.sqrt(count) });
  if (Number.isInteger(mark)) draw("rect", "asks", square(mark));
  if (truth !== null) draw("rect", "truth", square(truth));
  if (aim !== null) draw("rect", "aim", square(aim));
  if (guess !== null) draw("circle", "mine", { ...centreOf(guess), r: Math.max(0.6, 2 * leastRadius) });
  return svg;
}

const HEAT_STEPS = 15; // the largest hexadecimal digit
// the greatest opacity of the dark cover on small weights, and of the bright cover on large weights
const [COLD_OPACITY, HOT_OPACITY] = [0.6, 0.85];

// The head's weights as a canvas of one pixel per patch. heat: one hexadecimal digit per patch; small weights are dark.
function heatOf(heat, rows, columns) {
  const canvas = make("canvas", { className: "heat", width: columns, height: rows });
  const context = canvas.getContext("2d");
  for (const [patch, digit] of [...heat].entries()) {
    const share = Number.parseInt(digit, 16) / HEAT_STEPS;
    context.fillStyle =
      share < 0.5
        ? `rgb(0 0 0 / ${COLD_OPACITY * (1 - 2 * share)})`
        : `rgb(255 170 60 / ${HOT_OPACITY * (2 * share - 1)})`;
    context.fillRect(patch % columns, Math.floor(patch / columns), 1, 1);
  }
  return canvas;
}

export const appendElement = (box, tag, fields, text) => box.appendChild(make(tag, fields, text));
