// The two faces of the lens on a page. Both have the photograph, the sentence about the row, its source, the moments.
// See adds two switches and drawers; Lab adds the rows of controls of lens/rows.js. The story is told in See.
import { holdsHead, largestIndex, rowInto } from "../core/core.js";
import { localNumber, percent } from "../core/numbers.js";
import { outsideShare, sayRow } from "../core/says.js";
import { sentenceOf } from "../core/sentence.js";
import { FIRST_WAY, sizeWords, unitOf, wayOf } from "../core/ways.js";
import { collectRefs, cutTo, fitCanvas, make, oneTabStop, setMath, setText, setVisible } from "../drawing/dom.js";
import { closeSums, openSums, sumsAreOpen } from "../lens/arithmetic.js";
import { factsOf } from "../lens/headline.js";
import { photoOf, refresh } from "../lens/layout.js";
import { writeMarkupTexts } from "../lens/readouts.js";
import { sceneWords } from "../lens/scenes.js";
import { rowInWords } from "../lens/told.js";
import { seeWords } from "../lens/words.js";
import {
  BAR_COUNT,
  barsAt,
  CURVE_MARKUP,
  createCurve,
  createStaircase,
  drawStaircase,
  isMoving,
  largestShares,
  setBars,
} from "./curve.js";
import { createMoments } from "./moments.js";
import { createPlay } from "./play.js";
import { createShared } from "./shared.js";

const BAR = 44; // px: the height of the page's bar above the lens
const LONG_SENTENCE = 104; // letters; a longer sentence has smaller type, so that it takes no more lines

const HEAD_MARKUP = `
  <h1 class="see-says" data-ref="says"></h1>
  <p class="see-invites" data-ref="invites"></p>
  <button type="button" class="see-plays" data-ref="plays" aria-pressed="false">
    <svg viewBox="0 0 12 12" aria-hidden="true"><path d="M1 0l11 6-11 6z"/></svg></button>
  <button class="provenance" data-ref="from"></button>`;
const STAIRS_MARKUP = `
  <p data-ref="largest"></p><canvas data-ref="stairs" aria-hidden="true"></canvas><p data-ref="dashed"></p>`;

// options: {face: "see" | "lab", language: () => "en", turned(face), shared: () => a promise of the script of a shared
// page, tryAt: () => an address for others or "", bar: px above the lens, alone: whether the page has no buttons for
// Share and Lab, story(lens, see): creates story/story.js}
export function createSee(lens, options) {
  const { face, language, turned, shared = null, tryAt = () => "", bar = BAR, alone = false, story = null } = options;
  const { choice, data, frame, page, root, refs } = lens;
  const makePart = (tag, className, html, place, position) => {
    const element = make(tag, { className, innerHTML: html });
    place[position](element);
    return element;
  };
  const headBox = makePart("div", "see-head", HEAD_MARKUP, refs.below, "prepend");
  const stairsBox = makePart("div", "see-stairs", STAIRS_MARKUP, refs.scale, "after");
  const nineTitle = makePart("h3", "see-nine", "", refs.two, "before");
  const tabBar = makePart("div", "see-tabs", "", headBox, "after");
  const outsideLine = makePart("p", "see-outside", "", refs.two, "after");
  const divideLabel = makePart("span", "see-divide", "", refs.switch, "after");
  setMath(divideLabel, "÷ √d_k");
  const doorBar = makePart("div", "see-doors", "", refs.end, "prepend");
  const moments = createMoments(lens, makePart("div", "see-moments", "", refs.stage, "after"), { language, hold });
  const playCanvas = makePart("canvas", "see-film", "", refs.picture, "after");
  const plainCanvas = makePart("canvas", "plain", "", refs.picture, "before");
  const curve = createCurve(frame, makePart("div", "see-arc", CURVE_MARKUP, refs.picture, "after"));
  const see = {
    face,
    untouched: false, // whether the photograph is shown alone: nobody points, and no moment is shown
    bar, //              px of the page's bar above the lens
    language,
    opened: "", //       "why" | "numbers" | "moments"; "": none
    lockedForWhy: false,
    stairs: createStaircase(),
    otherRow: new Float32Array(0), // the row at the other setting of the √d_k switch
    story: null,
    // Which drawer is open. The wall of heads is one of them, and a choice of the view.
    get drawer() {
      return choice.view.beside === "wall" ? "heads" : see.opened;
    },
    get on() {
      const isPresented = choice.presenting && choice.view.beside !== "filter"; // only Lab can show the filter
      return see.face === "see" || isPresented;
    },
  };
  const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
  let spokenLanguage = language();
  const words = (key, values) => seeWords(spokenLanguage, key, values);
  const { says: sentenceElement, from: sourceElement, invites: invitation, plays: playButton } = collectRefs(headBox);
  const { largest: largestNote, stairs: chart, dashed: dashedNote } = collectRefs(stairsBox);
  const doorButtons = ["why", "heads", "numbers", "moments"].map((name) => {
    const onclick = () => openDrawer(see.drawer === name ? "" : name);
    return doorBar.appendChild(make("button", { "data-door": name, "aria-expanded": "false", onclick }));
  });
  oneTabStop(doorBar, () => doorButtons);
  const turnButton = make("button", { onclick: () => turnFace() });
  if (alone) doorBar.append(refs.sending, turnButton);
  const onFigures = () => [setVisible(refs.sendingSheet, false), data.host.figures()];
  const figures = { className: "figures", "data-say": "shareFigures", hidden: !data.host.figures, onclick: onFigures };
  refs.sendingSheet.append(make("button", figures));

  // ---- on a phone: two switches, and the panel of the last pressed one
  const tabButtons = ["divide", "nine"].map((name) => {
    const onclick = () => {
      const isOpen = root.dataset.panel === name;
      root.dataset.panel = name;
      if (name === "divide" && isOpen) page.choose({ scale: choice.view.scale === "on" ? "off" : "on" });
      refresh(lens);
    };
    return tabBar.appendChild(make("button", { onclick }));
  });
  root.dataset.panel = "divide";
  root.dataset.drawer = "";
  refs.stage.nextElementSibling.addEventListener("click", () => see.drawer === "moments" && openDrawer(""));

  // ---- words that do not depend on the row
  function writeWords() {
    spokenLanguage = language();
    for (const button of doorButtons)
      setText(button, words(button.dataset.door === "moments" ? "wall" : button.dataset.door));
    setText(turnButton, words(see.on ? "lab" : "see"));
    turnButton.title = words(see.on ? "labSays" : "seeSays");
    setText(nineTitle, words("convolution"));
    setText(largestNote, words("largest", { count: BAR_COUNT }));
    moments.writeWords();
    writeMarkupTexts(page);
    sourceElement.title = words("stepThrough");
    playButton.title = words("play");
    playButton.setAttribute("aria-label", words("play"));
    root.lang = language();
    refs.rows.lang = see.on ? language() : "en";
    refs.switch.querySelector(".on").dataset.text = see.on ? words("switchOn") : "ON";
    refs.switch.querySelector(".off").dataset.text = see.on ? words("switchOff") : "OFF";
  }

  // ---- drawers, which lie over the column beside or below the photograph; the wall of heads lies over all of the lens
  const coveredParts = [refs.rows];
  const openDrawer = (name) => cutTo(coveredParts, () => changeDrawer(name));
  function changeDrawer(name) {
    const former = see.drawer;
    if (former === "why") {
      closeSums(page);
      if (see.lockedForWhy) page.choose({ locked: false });
    }
    if (name === "why") see.lockedForWhy = !choice.view.locked;
    see.opened = name === "heads" ? "" : name;
    if (name) hold(true);
    if (name === "heads") page.choose({ beside: "wall" });
    else if (former === "heads") page.choose({ beside: "convolution" });
    markDrawer();
    if (name === "why") openSums(lens);
    refresh(lens);
  }

  let markedDrawer = "";
  function markDrawer() {
    if (markedDrawer === see.drawer) return;
    markedDrawer = root.dataset.drawer = see.drawer;
    writeMarkupTexts(page);
    for (const button of doorButtons) button.setAttribute("aria-expanded", String(button.dataset.door === see.drawer));
  }

  const play = createPlay(lens, playCanvas, playButton, { isStill: () => reducedMotion.matches, changed: paintWords });
  function togglePlay() {
    if (see.story?.covers()) return; // the layers would tell the answer to the story's question
    if (see.drawer) openDrawer("");
    play.toggle();
  }

  // ---- the line under the sentence is one tab stop: arrow keys step through layers and heads
  sourceElement.addEventListener("click", () => openDrawer(see.drawer === "heads" ? "" : "heads"));
  sourceElement.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: ["head", -1], ArrowRight: ["head", 1], ArrowUp: ["layer", 1], ArrowDown: ["layer", -1] };
    const [key, change] = moves[event.key] ?? [];
    if (!key) return;
    event.preventDefault();
    event.stopPropagation();
    hold(true);
    page.choose({ [key]: choice.view[key] + change });
  });

  // ---- the photograph has no marks until the pointer is over it; a shown moment stays until then
  function hold(isHeld) {
    const isHiding = isHeld && !see.story?.covers(); // the answer to the story's question stays hidden
    if (see.untouched === isHiding) page.schedule();
    see.untouched = !isHiding;
    root.classList.toggle("untouched", see.untouched);
    if (!isHiding) curve.draw(null);
  }
  for (const name of ["pointermove", "pointerdown"])
    refs.picture.addEventListener(name, (event) => {
      play.pointed(event);
      hold(true);
    });
  refs.picture.addEventListener("pointerleave", (event) => {
    if (!see.on || choice.view.locked || event.pointerType !== "mouse") return;
    hold(false);
    page.schedule();
  });

  function turnFace(newFace = see.face === "see" ? "lab" : "see") {
    if (newFace === see.face) return;
    if (see.drawer) openDrawer("");
    play.stop();
    if (newFace === "lab") see.story?.end(); // the story belongs to See
    see.face = newFace;
    hold(true);
    writeWords();
    refresh(lens);
    requestAnimationFrame(() => refresh(lens)); // the parts have their new sizes now
    turned(newFace);
  }

  // Called for full screen, in See and in Lab. The shown moment stays.
  function present() {
    if (see.drawer) openDrawer("");
    hold(true);
    writeWords();
    requestAnimationFrame(() => refresh(lens)); // the parts have their new sizes now
  }

  // ---- a frame
  function paint() {
    play.serve();
    markDrawer();
    if (see.opened === "why" && !sumsAreOpen(page)) openDrawer(""); // the reader closed the sums by × or Escape
    choice.layersWanted = true; // Play and the moments show them
    root.classList.toggle("no-row", !isPlainRow());
    paintPlain();
    paintWords();
    if (see.on) paintStairs();
    curve.draw(see.untouched || !isPlainRow() ? null : curve.points(frame.pictureWidth, frame.pictureHeight));
    moments.show(!see.untouched && isPlainRow());
    play.paint();
    see.story?.paint();
  }

  function paintPlain() {
    const photo = photoOf(lens, data.main);
    if (plainCanvas.photo === photo) return;
    plainCanvas.photo = photo;
    fitCanvas(plainCanvas, frame.pictureWidth, frame.pictureHeight, frame.ratio);
    plainCanvas.getContext("2d").drawImage(photo.clear, 0, 0);
    root.classList.toggle("untouched", see.untouched);
  }

  const isPlainRow = () => choice.view.what === FIRST_WAY && choice.view.direction === "row";

  function paintWords() {
    const { view } = choice;
    const { shown } = frame;
    const { main } = data;
    const { pack, answers, mark, mainDomain } = shown;
    const isReady = answers.ready[view.head] && !shown.layerMissing;
    const start = view.head * pack.tokens;
    setVisible(outsideLine, isReady && mark >= 0);
    let sentence = { before: words(page.touch ? "touch" : "point"), place: "", after: "" };
    if (play.layer() >= 0) sentence.before = words("playing", { layer: play.layer() });
    else if (!isReady) sentence.before = words("comes");
    else if (choice.opening.kind === "nothing" && !choice.opening.touched)
      sentence.before = words(mark < 0 ? "unstriking" : "unstrikingPatch");
    else if (!see.untouched && shown.row) sentence = sayRow(spokenLanguage, shown.row);
    else if (!see.untouched) sentence = sentenceOf(factsOf(lens)); // the sentence of Lab
    writeSentence(sentence);
    const isNew = !choice.everHovered && !see.untouched && isReady; // the sentence itself invites while untouched
    setText(invitation, isNew ? words(page.touch ? "touch" : "point") : "");
    if (isReady && mark >= 0) writeOutside(percent(outsideShare(answers.weights, start, pack, mark)));
    const isOff = choice.view.scale !== "on";
    if (refs.credit.textContent !== (main.picture.credit ?? "")) {
      setText(refs.credit, main.picture.credit ?? "");
      root.style.setProperty("--doors", `${refs.end.offsetHeight}px`); // the credit may need a line of its own
    }
    setMath(tabButtons[0], `÷ √d_k ${words(isOff ? "switchOff" : "switchOn").toLowerCase()}`);
    setText(tabButtons[1], "3×3");
    for (const [i, name] of ["divide", "nine"].entries())
      tabButtons[i].setAttribute("aria-pressed", String(root.dataset.panel === name));
    const isOfFeatures = wayOf(view).needs === "features";
    const isPlaying = play.layer() >= 0;
    const sources = [
      isOfFeatures && "fromFeatures",
      (see.untouched || isPlaying) && "fromNothing",
      view.cut && "fromCut",
    ];
    const isBare = Math.abs(shown.scale - 1) < 1e-9; // without any division
    const sourceKey = sources.find(Boolean) ?? (shown.altered ? (isBare ? "fromOff" : "fromScaled") : "from");
    setMath(
      sourceElement,
      sceneWords(lens) +
        words(sourceKey, {
          layer: isPlaying ? play.layer() : view.layer,
          head: pack.headNumbers[view.head],
          count: pack.layers * (pack.header.heads_in_all ?? pack.heads),
          times: localNumber(spokenLanguage, (shown.scale / pack.scale).toPrecision(2)),
          brightest: mainDomain && isReady ? sizeWords(mainDomain.high, unitOf(view)).replace(" ", "\u00a0") : "…",
          model: pack.header.engine
            ? words("computed", { model: main.trace.title, engine: pack.header.engine })
            : main.trace.title,
        }),
    );
  }

  // Replaces the elements instead of their text: browsers count no layout shift of new elements.
  function writeSentence({ before, place, after }) {
    const sentenceText = before + place + after;
    if (sentenceElement.saidText === sentenceText) return;
    sentenceElement.saidText = sentenceText;
    sentenceElement.classList.toggle("long", sentenceText.length > LONG_SENTENCE);
    const placeElement = make("b", place && "key");
    setMath(placeElement, place);
    sentenceElement.replaceChildren(...explainedParts(before), placeElement, ...explainedParts(after));
  }

  // A text as elements: the word "patch" in it explains itself.
  const splitAtPatch = (text) => text.split(new RegExp(`(${words("patchWord")})`, "i"));
  const explainedParts = (text) =>
    splitAtPatch(text).map((piece, i) => {
      const part = make("span");
      setMath(part, piece);
      if (i % 2) part.dataset.explains = words("patchMeans");
      part.classList.toggle("asks", piece.toLowerCase() === words("thisPatch").toLowerCase());
      return part;
    });

  function writeOutside(share) {
    const text = words("outside", { share });
    if (outsideLine.saidText === text) return;
    outsideLine.saidText = text;
    if (!outsideLine.firstChild || outsideLine.children[1].dataset.explains !== words("patchMeans")) {
      outsideLine.replaceChildren(...explainedParts(text));
      outsideLine.children[1].tabIndex = 0; // the other "patch" is in the sentence, and no stop of the Tab key
    } else outsideLine.firstChild.textContent = splitAtPatch(text)[0];
  }

  // ---- ÷ √d_k
  function paintStairs() {
    const { view } = choice;
    const { shown, sorted } = frame;
    const { pack, answers, token, mainDomain } = shown;
    if (!chart.width || !answers.ready[view.head] || !isPlainRow() || !mainDomain) return;
    const { scale } = pack;
    const isAltered = Math.abs(shown.scale - scale) > 1e-9 * scale;
    const time = performance.now();
    setBars(see.stairs, largestShares(sorted), isAltered, time, reducedMotion.matches);
    const dashedShare = largestAtScale(pack, view, token, isAltered ? scale : 1);
    const style = { ramp: frame.ramp, domain: mainDomain, colours: frame.colours, unit: frame.ratio };
    drawStaircase(chart.getContext("2d"), chart.width, chart.height, barsAt(see.stairs, time), dashedShare, style);
    setMath(dashedNote, words(isAltered ? "dashedOn" : "dashedOff", { share: percent(dashedShare) }));
    if (isMoving(see.stairs, time)) requestAnimationFrame(() => page.alive && see.on && paintStairs());
  }

  function largestAtScale(pack, view, token, scale) {
    if (!holdsHead(pack, view.layer, view.head)) return 0;
    if (see.otherRow.length !== pack.tokens) see.otherRow = new Float32Array(pack.tokens);
    rowInto(see.otherRow, 0, pack, view.layer, view.head, token, scale);
    return see.otherRow[largestIndex(see.otherRow, 0, pack.tokens)];
  }

  writeWords();
  see.story = story?.(lens, { hold }) ?? null;
  return Object.assign(see, {
    fit: () => chart.clientWidth && fitCanvas(chart, chart.clientWidth, chart.clientHeight, frame.ratio),
    paint,
    showReading: () => writeSentence({ before: words("comes"), place: "", after: "" }),
    turn: turnFace,
    present,
    stepMoment: moments.step,
    play: togglePlay,
    stopPlay: play.stop,
    writeWords,
    openDrawer,
    hold,
    sentenceText: () => sentenceElement.textContent,
    // for screen readers
    spokenText: () =>
      [
        (!see.untouched && rowInWords(frame.shown, spokenLanguage)) || sentenceElement.textContent,
        sourceElement.textContent,
      ].join(" "),
    words,
    ...createShared(lens, {
      words,
      language,
      shared,
      tryAt,
      isPlain: isPlainRow,
      sentence: () => sayRow(language(), frame.shown.row),
      inWords: () => rowInWords(frame.shown, language()),
      source: () => sourceElement.textContent,
      withLayers: play.withLayers,
      curve: (w, h) => (isPlainRow() ? curve.points(w, h) : null),
    }),
  });
}
