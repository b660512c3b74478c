// The face See shows the lens with one picture, one sentence and two switches; the other face is Lab. Both share state
// and drawing code. Only See has this layout, this sentence about the row, and the parts below.
import { entropyBits, holdsHead, largestIndex, rowInto } from "../core/core.js";
import { localNumber, percent } from "../core/numbers.js";
import { outsideShare, sayRow, unbrokenPercent } from "../core/says.js";
import { sentenceOf } from "../core/sentence.js";
import { FIRST_WAY, wayOf } from "../core/ways.js";
import { cutTo, fitCanvas, oneTabStop, setMath, setText, setVisible } from "../drawing/dom.js";
import { closeSums, openSums, sumsAreOpen } from "../lens/arithmetic.js";
import { factsOf } from "../lens/headline.js";
import { photoOf, rampOf, refresh, setPictures, sizeCanvases, WIDER_FACTOR } from "../lens/layout.js";
import { writeMarkupTexts } from "../lens/readouts.js";
import { isMean } from "../lens/state.js";
import { rowInWords, rowRecord } from "../lens/told.js";
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
import { createHeadsWall } from "./wall.js";
import { habitIn, seeWords } from "./words.js";

const BAR = 44; // px: the height of the page's bar above the lens
const PHONE_BAR = 48;
const LARGEST_EMPTY_GAP = 16; // px: a higher gap above the lens contains a line of advice
const SEE_COLUMN = 334; // px: the least width of the column beside the picture
const LOW_COLUMN = 262; // px: the column's width in a low window: a phone on its side, or a desktop at 200 %
const PRESENTED_COLUMN = 300; // px: in full screen
const MOMENTS_HEIGHT = 56; // px: height of the row of moments
const LEAST_BESIDE_WIDTH = 640; // px: in a narrower window all parts are below the picture
const LEAST_HEIGHT = 260; // px: least height of a picture above its column
const PARTS_BELOW_HEIGHT = 470; // px: height of the parts below a picture above its column
const ROW_BELOW_HEIGHT = 246; // px: height of the parts in a row below a panorama
const MOST_PORTRAIT_HEIGHT = 440; // px: greatest height of a portrait above its column
// the classes that layout.js sets on the lens in Lab, depending on its room
const LAB_SIZES = "filled compact short low tall tight broad slender spare shallow".split(" ");
const LONG_SENTENCE = 104; // letters; a longer sentence has smaller type, so that it takes no more lines
const LONGEST_ABOVE_INVITATION = 68; // letters: a longer sentence needs the lines in which the invitation stands
const PATCH_WORD = /\b(patch(?:es)?|Felde?r?n?)\b/i; // a patch in each language
const PRESENTED_HEIGHT = 480; // px: on a higher picture in full screen, lines, numbers and labels grow with it
const ROOMY_HEIGHT = 102; // px free below the picture, from which the moments are drawn larger

const DESKTOP_ORDER = ["picture", "wide", "tall", "page", "link"];
const PHONE_ORDER = ["tall", "picture", "page", "link", "wide"];

const HEAD_MARKUP = `
  <p class="see-says" data-see="says"></p>
  <p class="see-invites" data-see="invites"></p>
  <button type="button" class="see-plays" data-see="plays" aria-pressed="false">
    <svg viewBox="0 0 12 12" aria-hidden="true"><path d="M1 0l11 6-11 6z"/></svg></button>
  <button class="provenance" data-see="from"></button>`;
const STAIRS_MARKUP = `
  <p data-see="largest"></p><canvas data-see="stairs" aria-hidden="true"></canvas><p data-see="dashed"></p>`;

// options: {face: "see" | "lab", language: () => "en", turned(face), shared: () => a promise of the script of a shared
// page, tryAt: () => an address for others or "", bar: px above the lens, story(lens, see): creates story/story.js}
export function createSee(lens, { face, language, turned, shared = null, tryAt = () => "", bar = BAR, story = null }) {
  const { choice, data, frame, page } = lens;
  const { root, refs } = page;
  const makePart = (tag, className, html, place, position) => {
    const element = document.createElement(tag);
    element.className = className;
    element.innerHTML = html;
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
  const doorBar = makePart("div", "see-doors", "", refs.below, "append");
  const moments = createMoments(lens, makePart("div", "see-moments", "", refs.stage, "after"), { language, hold });
  const playCanvas = makePart("canvas", "see-film", "", refs.picture, "after");
  const plainCanvas = makePart("canvas", "plain", "", refs.picture, "before");
  const curve = createCurve(frame, makePart("div", "see-arc", CURVE_MARKUP, refs.picture, "after"));
  const see = {
    face,
    untouched: false, // whether the photograph is shown alone: nobody points, and no moment is shown
    drawer: "", //       which drawer is open: "why" | "heads" | "numbers" | "moments"; "": none
    lockedForWhy: false,
    stairs: createStaircase(),
    otherRow: new Float32Array(0), // the row at the other setting of the √d_k switch
    spaceAbove: 0, //    px of the page above the lens at the last layout
    story: null,
    get on() {
      const isPresented = choice.presenting && choice.view.beside !== "filter"; // only Lab can show the filter
      return (see.face === "see" || isPresented) && !page.ui.bare;
    },
  };
  const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
  let spokenLanguage = language();
  const words = (key, values) => seeWords(spokenLanguage, key, values);
  const partNamed = (box, name) => box.querySelector(`[data-see="${name}"]`);
  const sentenceElement = partNamed(headBox, "says");
  const sourceElement = partNamed(headBox, "from");
  const invitation = partNamed(headBox, "invites");
  const playButton = partNamed(headBox, "plays");
  const chart = partNamed(stairsBox, "stairs");
  const dashedNote = partNamed(stairsBox, "dashed");
  const doorButtons = ["why", "heads", "numbers", "moments"].map((name) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.door = name;
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => openDrawer(see.drawer === name ? "" : name));
    doorBar.append(button);
    return button;
  });
  oneTabStop(doorBar, () => doorButtons);
  const figuresButton = makePart("button", "figures", "", refs.sendingSheet, "append");
  figuresButton.addEventListener("click", () => {
    setVisible(refs.sendingSheet, false);
    data.host.figures();
  });
  const credit = makePart("span", "see-credit", "", doorBar, "append");

  // ---- on a phone: two switches, and the panel of the last pressed one
  const tabButtons = ["divide", "nine"].map((name) => {
    const button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", () => {
      const isOpen = root.dataset.panel === name;
      root.dataset.panel = name;
      if (name === "divide" && isOpen) page.choose({ scale: choice.view.scale === "on" ? "off" : "on" });
      refresh(lens);
    });
    tabBar.append(button);
    return button;
  });
  root.dataset.panel = "divide";
  root.dataset.drawer = "";
  refs.stage.nextElementSibling.addEventListener("click", () => see.drawer === "moments" && openDrawer(""));

  // ---- words that do not depend on the row
  function writeWords() {
    spokenLanguage = language();
    for (const button of doorButtons)
      setText(button, words(button.dataset.door === "moments" ? "wall" : button.dataset.door));
    setText(nineTitle, words("convolution"));
    setText(partNamed(stairsBox, "largest"), words("largest", { count: BAR_COUNT }));
    moments.writeWords();
    writeMarkupTexts(page);
    sourceElement.title = words("stepThrough");
    playButton.title = words("play");
    playButton.setAttribute("aria-label", words("play"));
    root.lang = see.on ? language() : "en";
    refs.switch.querySelector(".on").dataset.text = see.on ? words("switchOn") : "ON";
    refs.switch.querySelector(".off").dataset.text = see.on ? words("switchOff") : "OFF";
  }

  // ---- drawers, which lie over the column beside or below the photograph
  const coveredParts = [refs.below.querySelector(".panel"), refs.below.querySelector(".beside")];
  const openDrawer = (name) => cutTo(coveredParts, () => changeDrawer(name));
  function changeDrawer(name) {
    if (see.drawer === "why") {
      closeSums(page);
      if (see.lockedForWhy) page.choose({ locked: false });
    }
    if (name === "why") see.lockedForWhy = !choice.view.locked;
    if (see.drawer === "heads" && name !== "heads") page.choose({ beside: "convolution" });
    see.drawer = name;
    root.dataset.drawer = name;
    writeMarkupTexts(page);
    for (const button of doorButtons) button.setAttribute("aria-expanded", String(button.dataset.door === name));
    if (name) hold(true);
    if (name === "heads") page.choose({ beside: "wall" });
    if (name === "why") openSums(choice, frame, page);
    refresh(lens);
  }

  const play = createPlay(lens, playCanvas, playButton, { isStill: () => reducedMotion.matches, changed: paintWords });
  function togglePlay() {
    if (see.story?.covers()) return; // the layers would tell the answer to the story's question
    if (see.drawer) openDrawer("");
    play.toggle();
  }

  const headsWall = createHeadsWall(lens, { words, tell: tellCell, close: () => openDrawer("") });

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
    root.classList.toggle("untouched", see.on && see.untouched);
    if (!isHiding) curve.draw(null);
  }
  for (const name of ["pointermove", "pointerdown"])
    refs.picture.addEventListener(name, (event) => {
      if (!see.on) return;
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
    see.story?.end();
    see.face = newFace;
    frame.tag.low = false;
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

  // ---- sizes
  // Pulls the lens up over free space below the page's bar. Returns the top of the lens.
  function pullUp(bar) {
    root.style.marginTop = "";
    const top = root.getBoundingClientRect().top + window.scrollY;
    see.spaceAbove = Math.max(bar, top); // at least `bar`: the bar may not be on the page yet
    if (top <= bar || top > bar + LARGEST_EMPTY_GAP) return see.spaceAbove;
    root.style.marginTop = `${bar - top}px`;
    see.spaceAbove = bar;
    return bar;
  }

  // Sets the position and the height of See, even before there is a picture.
  function setPlaceAndSize() {
    root.dataset.face = "see";
    const width = root.clientWidth;
    const isBeside = width >= LEAST_BESIDE_WIDTH && width > window.innerHeight;
    const heightAbove = choice.presenting ? 0 : isBeside || !bar ? bar : PHONE_BAR;
    const height = window.innerHeight - pullUp(heightAbove) - (choice.presenting ? 0 : page.ui.below);
    root.style.setProperty("--room", `${Math.max(0, height)}px`);
    root.dataset.way = "see";
    root.dataset.size = isBeside ? "wide" : "narrow";
    return { width, height, beside: isBeside };
  }

  function layOut(aspect) {
    const { width, height, beside: isBeside } = setPlaceAndSize();
    const isLow = isBeside && height < 420; // a phone on its side: the moments are in the column
    root.classList.remove(...LAB_SIZES);
    root.classList.toggle("sideways", isLow);
    root.classList.toggle("tabbed", isLow || !isBeside);
    root.style.setProperty("--aspect", String(aspect));
    const column = isLow ? LOW_COLUMN : choice.presenting ? PRESENTED_COLUMN : SEE_COLUMN;
    const momentsHeight = isLow || choice.presenting ? 0 : MOMENTS_HEIGHT; // a presenter's keys step through them
    const besideWidth = Math.min(width - column, (height - momentsHeight) * aspect);
    const overWidth = Math.min(width, (height - momentsHeight - ROW_BELOW_HEIGHT) * aspect);
    const isOver = isBeside && !isLow && overWidth > WIDER_FACTOR * besideWidth; // a panorama
    const maxHeight = aspect < 1 ? MOST_PORTRAIT_HEIGHT : Math.max(LEAST_HEIGHT, height - PARTS_BELOW_HEIGHT);
    const pictureHeight = isBeside ? (isOver ? overWidth : besideWidth) / aspect : Math.min(width / aspect, maxHeight);
    const spareHeight = height - pictureHeight - (isOver ? ROW_BELOW_HEIGHT : 0);
    root.classList.toggle("over", isOver);
    root.classList.toggle("roomy", isBeside && !isLow && !choice.presenting && spareHeight >= ROOMY_HEIGHT);
    frame.tag.low = true; // the tag with the weight is drawn below the curve
    frame.seenWidth = 0;
    setPictures(frame, page, pictureHeight * aspect, aspect);
    root.style.setProperty("--sw", `${frame.pictureWidth}px`);
    frame.ratio = Math.min(3, window.devicePixelRatio || 1);
    frame.unit = frame.ratio * (choice.presenting ? Math.max(1, frame.pictureHeight / PRESENTED_HEIGHT) : 1);
    sizeCanvases(frame, page);
    root.style.setProperty("--doors", `${doorBar.offsetHeight}px`);
    if (chart.clientWidth) fitCanvas(chart, chart.clientWidth, chart.clientHeight, frame.ratio);
  }

  // ---- a frame
  function paint() {
    play.serve();
    if (!see.on) return;
    if (see.drawer === "why" && !sumsAreOpen(page)) openDrawer(""); // the reader closed the sums by × or Escape
    choice.filmWanted = true; // the film in a drawer shows all layers
    root.classList.toggle("no-row", !isPlainRow());
    paintPlain();
    paintWords();
    paintStairs();
    curve.draw(see.untouched || !isPlainRow() ? null : curve.points(frame.pictureWidth, frame.pictureHeight));
    moments.show(!see.untouched && isPlainRow());
    if (see.drawer === "heads") headsWall.paint();
    play.paint();
    see.story?.paint();
  }

  function paintPlain() {
    const photo = photoOf(data, frame, page, data.main);
    if (plainCanvas.photo === photo) return;
    plainCanvas.photo = photo;
    fitCanvas(plainCanvas, frame.pictureWidth, frame.pictureHeight, frame.ratio);
    plainCanvas.getContext("2d").drawImage(photo.clear, 0, 0);
    root.classList.toggle("untouched", see.untouched);
  }

  const isPlainRow = () => choice.view.what === FIRST_WAY && choice.view.direction === "row" && !isMean(choice, frame);

  function paintWords() {
    const { view } = choice;
    const { shown } = frame;
    const { main } = data;
    const { pack, answers, mark, mainDomain } = shown;
    const isReady = answers.ready[view.head] && !shown.layerMissing && !shown.rough;
    const start = view.head * pack.tokens;
    setVisible(outsideLine, isReady && mark >= 0);
    let sentence = { before: words(page.touch ? "touch" : "point"), place: "", after: "" };
    if (play.layer() >= 0) sentence.before = words("playing", { layer: play.layer() });
    else if (!isReady) sentence.before = words("comes");
    else if (choice.opening.kind === "nothing" && !choice.opening.touched)
      sentence.before = words(mark < 0 ? "unstriking" : "unstrikingPatch");
    else if (!see.untouched && shown.row) sentence = sayRow(spokenLanguage, shown.row);
    else if (!see.untouched) {
      const { before, share, between, place, after } = sentenceOf(factsOf(choice, data, frame)); // the sentence of Lab
      sentence = { before: before + share + between, place, after };
    }
    writeSentence(sentence);
    const isNew = !choice.everHovered && !see.untouched && isReady; // the sentence itself invites while untouched
    const isShort = Object.values(sentence).join("").length <= LONGEST_ABOVE_INVITATION;
    setText(invitation, isNew && isShort ? words(page.touch ? "touch" : "point") : "");
    if (isReady && mark >= 0) writeOutside(percent(outsideShare(answers.weights, start, pack, mark)));
    const isOff = choice.view.scale !== "on";
    if (credit.textContent !== (main.picture.credit ?? "")) {
      setText(credit, main.picture.credit ?? "");
      root.style.setProperty("--doors", `${doorBar.offsetHeight}px`); // the credit may need a line of its own
    }
    sayMathIfChanged(tabButtons[0], `÷ √d_k ${words(isOff ? "switchOff" : "switchOn").toLowerCase()}`);
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
    sayMathIfChanged(
      sourceElement,
      words(sourceKey, {
        layer: isPlaying ? play.layer() : view.layer,
        head: pack.headNumbers[view.head],
        count: pack.layers * (pack.header.heads_in_all ?? pack.heads),
        times: localNumber(spokenLanguage, (shown.scale / pack.scale).toPrecision(2)),
        brightest: mainDomain && isReady ? unbrokenPercent(mainDomain.high) : "…",
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
    const placeElement = document.createElement("b");
    if (place) placeElement.className = "key";
    setMath(placeElement, place);
    sentenceElement.replaceChildren(...explainedParts(before), placeElement, ...explainedParts(after));
  }

  // A text as elements: the word "patch" in it explains itself.
  const explainedParts = (text) =>
    text.split(PATCH_WORD).map((piece, i) => {
      const part = document.createElement("span");
      setMath(part, piece);
      if (i % 2) part.dataset.explains = words("patchMeans");
      return part;
    });

  function writeOutside(share) {
    const text = words("outside", { share });
    if (outsideLine.saidText === text) return;
    outsideLine.saidText = text;
    if (!outsideLine.firstChild || outsideLine.children[1].dataset.explains !== words("patchMeans")) {
      outsideLine.replaceChildren(...explainedParts(text));
      outsideLine.children[1].tabIndex = 0; // the other "patch" is in the sentence, and no stop of the Tab key
    } else outsideLine.firstChild.textContent = text.split(PATCH_WORD)[0];
  }

  function tellCell(values) {
    const entropy = entropyBits(values, 0, frame.shown.pack.tokens);
    return sayRow(spokenLanguage, rowRecord(values, 0, entropy, data, frame.shown));
  }

  // ---- ÷ √d_k
  function paintStairs() {
    const { view } = choice;
    const { shown, sorted } = frame;
    const { pack, answers, token, mainDomain } = shown;
    if (!chart.width || shown.rough || !answers.ready[view.head] || !isPlainRow() || !mainDomain) return;
    const { scale } = pack;
    const isAltered = Math.abs(shown.scale - scale) > 1e-9 * scale;
    const time = performance.now();
    setBars(see.stairs, largestShares(sorted), isAltered, time, reducedMotion.matches);
    const dashedShare = largestAtScale(pack, view, token, isAltered ? scale : 1);
    const style = { ramp: rampOf(choice, frame), domain: mainDomain, colours: frame.colours, unit: frame.ratio };
    drawStaircase(chart.getContext("2d"), chart.width, chart.height, barsAt(see.stairs, time), dashedShare, style);
    sayMathIfChanged(dashedNote, words(isAltered ? "dashedOn" : "dashedOff", { share: percent(dashedShare) }));
    if (isMoving(see.stairs, time)) requestAnimationFrame(() => page.alive && see.on && paintStairs());
  }

  function largestAtScale(pack, view, token, scale) {
    if (!holdsHead(pack, view.layer, view.head)) return 0;
    if (see.otherRow.length !== pack.tokens) see.otherRow = new Float32Array(pack.tokens);
    rowInto(see.otherRow, 0, pack, view.layer, view.head, token, scale);
    return see.otherRow[largestIndex(see.otherRow, 0, pack.tokens)];
  }

  // Writes the sheet behind the Share button in the language of See. What this device sends comes first.
  function writeShared() {
    const wordsOfFace = (key, englishText) => (see.on ? words(key) : englishText);
    const wordKeys = {
      picture: "sharePicture",
      tall: "shareTall",
      wide: "shareWide",
      page: "sharePage",
      link: "shareLink",
    };
    const order = page.touch ? PHONE_ORDER : DESKTOP_ORDER;
    refs.shareWays.prepend(...order.map((way) => refs.shareWays.querySelector(`[data-share="${way}"]`)));
    for (const button of refs.shareWays.children) if (see.on) setText(button, words(wordKeys[button.dataset.share]));
    setText(refs.shareGo, wordsOfFace("share", "Share"));
    setText(figuresButton, wordsOfFace("shareFigures", "Figures for a paper"));
    setVisible(figuresButton, Boolean(data.host.figures));
  }

  writeWords();
  if (see.on) setPlaceAndSize();
  see.story = story?.(lens, { hold }) ?? null;
  return Object.assign(see, {
    // How many px the page above has moved the lens since the last layout.
    overflow: () => Math.ceil(Math.abs(root.getBoundingClientRect().top + window.scrollY - see.spaceAbove)),
    layOut,
    paint,
    showReading: () => see.on && writeSentence({ before: words("comes"), place: "", after: "" }),
    turn: turnFace,
    present,
    stepMoment: moments.step,
    play: togglePlay,
    stopPlay: play.stop,
    writeWords,
    openDrawer,
    hold,
    sumsAreOpen: () => sumsAreOpen(page),
    habit: (label) => habitIn(language(), label),
    sentenceText: () => sentenceElement.textContent,
    // for screen readers
    spokenText: () =>
      [
        (!see.untouched && rowInWords(frame.shown, spokenLanguage)) || sentenceElement.textContent,
        sourceElement.textContent,
      ].join(" "),
    words,
    writeShared,
    ...createShared(lens, {
      ...{ words, language, shared, tryAt, isPlain: isPlainRow },
      sentence: () => sayRow(language(), frame.shown.row),
      inWords: () => rowInWords(frame.shown, language()),
      source: () => sourceElement.textContent,
      withLayers: play.withLayers,
      curve: (w, h) => (isPlainRow() ? curve.points(w, h) : null),
    }),
  });
}

// Sets text with √d_k drawn as mathematics, only if the text changed: writing costs a layout.
function sayMathIfChanged(element, text) {
  if (element.saidText === text) return;
  element.saidText = text;
  setMath(element, text);
}
