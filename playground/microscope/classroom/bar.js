// Draws the lecturer's controls of a class beside the story: the class's code, buttons, the number of people, and the
// number of answers. Guesses stay hidden until the lecturer reveals them.
import { make, makeSvg } from "../drawing/dom.js";
import { appendElement, classWords, drawGuesses } from "./words.js";

const QR_MARGIN = 4; // blank margin, in modules (the squares of the code), without which phones do not find the code

// host: see `lecturersClass` in shell/storyway.js
export function createClassBar(head, host) {
  let drawnKey = "";

  function drawHead(language) {
    const lesson = host.now();
    const { code, phones, networks, largest, open, minutes, trouble, asked, planned } = lesson ?? {};
    const stateParts = [Boolean(lesson), code, phones, networks, largest, open, minutes, trouble, asked, planned];
    const key = JSON.stringify([language, stateParts, host.says(), host.shownCode()]);
    if (drawnKey === key) return;
    drawnKey = key;
    head.replaceChildren();
    const words = (name, values) => classWords(language, name, values);
    if (host.says()) appendElement(head, "p", "class-says", host.says());
    if (!lesson) return void classButton(head, words("start"), () => host.begin());
    const line = appendElement(head, "div", "class-line");
    appendElement(line, "b", "class-code", lesson.code);
    appendElement(line, "span", "", words(networks > 1 ? "hereFrom" : "here", { count: phones, networks }));
    if (asked) appendElement(line, "span", "", words(asked <= planned ? "askedOf" : "asked", { asked, planned }));
    classButton(line, words(host.shownCode() ? "hideCode" : "showCode"), () => host.showCode(!host.shownCode()));
    if (host.shownCode()) drawCode(appendElement(head, "div", "class-invites"), lesson, words);
  }

  function drawCode(box, state, words) {
    if (state.trouble) {
      appendElement(box, "p", "class-says", words("unreachable", { command: state.trouble }));
    } else {
      box.append(qrPicture(state.qr));
      appendElement(box, "p", "", words("goTo"));
      appendElement(box, "p", "class-address", state.address.replace(/^https?:\/\//, ""));
    }
    appendElement(box, "p", "class-large", state.code);
    const buttons = appendElement(box, "p", "class-line");
    classButton(buttons, words("newCode"), () => host.act("code"));
    if (state.networks > 1) classButton(buttons, words("sendAway", state), () => host.act("away"));
    classButton(buttons, words(state.open ? "closeDoor" : "openDoor"), () => host.act("door", { open: !state.open }));
    if (state.asked) classButton(buttons, words("save"), () => host.save());
    classButton(buttons, words("end"), () => host.act("end"));
    const footer = appendElement(box, "p", "class-small");
    footer.append(make("a", { href: host.link() }, words("yourLink")));
    footer.append(` · ${words("left", { minutes: state.minutes })}`);
  }

  return { drawHead };
}

// Draws the class's question in place of the story's while a class runs. of: the question about this scene as the
// server returned it, or null; asked: the question as story/scenes.js prepared it.
export function drawClassBoard(
  box,
  { language, now: state, of: question, asked: storyQuestion, act, ask: askClass, picture = null, wantsPicture },
) {
  const words = (name, values) => classWords(language, name, values);
  box.replaceChildren();
  if (wantsPicture) {
    appendElement(box, "p", "class-status", words("sendPicture"));
    classButton(box, words("yes"), () => askClass(true), true);
    classButton(box, words("no"), () => askClass(false));
    return;
  }
  if (!question) return void classButton(box, words("open"), () => askClass(), true);
  if (question.phase === "asks") {
    appendElement(box, "p", "class-status", answeredWords(state, question, language));
    appendElement(box, "p", "class-quiet", words(question.answered.length > 1 ? "secondTime" : "covered"));
    classButton(box, words("reveal"), () => act("show"), true);
    return;
  }
  if (question.phase === "shows") classButton(box, words("tell"), () => act("truth", storyQuestion.told), true);
  if (question.phase === "shows" && question.answered.length < 2) classButton(box, words("again"), () => act("again"));
  drawGuesses(appendElement(box, "div"), question, { language, picture });
}

function answeredWords(state, question, language) {
  const answered = question.answered.at(-1);
  return classWords(language, "answered", { answered, here: Math.max(state.phones, answered) });
}

const classButton = (box, text, onclick, isMain = false) =>
  appendElement(box, "button", { className: isMain ? "class-main" : "", onclick }, text);

// Draws a QR code as SVG. rows: strings of 0 and 1 from the server.
export function qrPicture(rows) {
  const side = rows.length + 2 * QR_MARGIN;
  const darkSquares = rows.flatMap((row, y) =>
    [...row].flatMap((cell, x) => (cell === "1" ? [`M${x + QR_MARGIN} ${y + QR_MARGIN}h1v1h-1z`] : [])),
  );
  const fields = { viewBox: `0 0 ${side} ${side}`, class: "class-qr", "shape-rendering": "crispEdges" };
  return makeSvg("svg", fields, makeSvg("path", { d: darkSquares.join("") }));
}
