// The bar on top of every page: pages, pictures, the model and what else is chosen, a photograph, sharing, the face.
// host: see `hostOf` in toolbarmount.js. update(part of a host) redraws what changed; the choice is always read from
// `choice.now`.
import { make, oneTabStop, setMath, setText, setVisible } from "../drawing/dom.js";
import { pageTitle, seeWords } from "../lens/words.js";
import { storyWords } from "../story/words.js";
import { LANGUAGES } from "../words/languages.js";
import { isTraceFile } from "./choice.js";
import { forgetNotice, notify } from "./notice.js";
import { fillOpenPicture, picturesAmong, takeDroppedAndPasted } from "./openpicture.js";
import { chosenKeyOf, createStrip } from "./strip.js";
import { besideAsModel, createIcon, createSheet, fillCompare, titleOfBeside } from "./toolbarparts.js";

// The menu of pages: real links, so that a page can be opened in a tab of its own.

// pages: [{name, title, number}]; link(page, words): an address; go(page, words): opens it within the app; workbench():
// the address of the workbench with what is on view, null where there is none.
export function fillPages(box, { pages, page, words, link, go, version, face, workbench }) {
  const menu = make("nav", { className: "pages", "aria-label": "Pages" });
  const addEntry = (name, query, number, title) => {
    const titleElement = make("span");
    const anchor = make("a", { href: link(name, query) }, make("span", "", number ?? ""), titleElement);
    setMath(titleElement, title);
    anchor.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // the browser opens a new tab
      event.preventDefault();
      go(name, query);
    });
    menu.append(anchor);
    return anchor;
  };
  addEntry(pages[0].name, { ...words, story: "1" }, null, storyWords(face.language, "story")).className = "story-entry";
  const firstLesson = pages.find(({ number }) => number);
  for (const { name, title, number } of pages) {
    if (name === firstLesson?.name) menu.append(make("b", "more-about", seeWords(face.language, "moreAbout")));
    const anchor = addEntry(name, words, number, pageTitle(face.language, { name, title }));
    if (name === page) anchor.setAttribute("aria-current", "page");
  }
  if (page === pages[0].name)
    addEntry(page, { ...words, present: "1" }, null, seeWords(face.language, "present")).className = "apart";
  if (workbench) {
    const title = make("span", "", "Workbench, in Python");
    menu.append(make("a", { href: workbench(), className: "workbench-entry" }, make("span"), title));
  }
  oneTabStop(menu, () => [...menu.querySelectorAll("a")]);
  menu.append(languageChooser(face));
  box.append(menu, make("small", "", `Attention Playground ${version}`));
}

// The buttons that choose See's language.
function languageChooser(face) {
  const language = seeWords(face.language, "language");
  const buttons = Object.entries(LANGUAGES).map(([lang, textContent]) => {
    const button = make("button", { textContent, lang, "aria-pressed": String(face.language === lang) });
    button.onclick = () => {
      face.setLanguage(lang);
      for (const option of buttons) option.setAttribute("aria-pressed", String(option === button));
    };
    return button;
  });
  return make("p", { className: "languages", role: "group", "aria-label": language }, ...buttons);
}

const MICROSCOPE_PAGE = "microscope"; // the only page with a comparison, and with two faces
const WEIGHTS_NAME = /\.(safetensors|bin|pth?|ckpt)$/i;
const MODEL_DROPPED =
  "This page opens pictures. A model's .safetensors opens with attention-playground --models FOLDER.";

const NO_FIGURE = "The server, which draws figures, has no .trace: in Python playground.save(seen, FILE) draws it.";

export function createToolbar(root, host) {
  const hostNow = { ...host };
  const { choice, ownPictures, face } = hostNow;
  const sheet = createSheet();

  // ---- the buttons, and the sheets that are lines in the sheet of *More*
  const pagesOpener = opener("pages", "Pages", fillWithPages);
  const picturesOpener = opener("pictures", "Pictures", fillWithPictures);
  const moreOpener = opener("more", "More", fillWithMore);
  const photoOpener = opener("photo", "Your photo", fillWithOpening);
  const shareButton = make("button", { className: "sending", onclick: () => hostNow.share() });
  const faceButton = make("button", { className: "other-face", onclick: turn });
  const waitingLine = make("span", { className: "unseen", role: "status" });

  root.classList.add("toolbar");
  const openers = [pagesOpener, picturesOpener, moreOpener, photoOpener];
  const buttons = [...openers.map(({ button }) => button), shareButton, faceButton];
  root.replaceChildren(...buttons, waitingLine);
  for (const button of buttons.slice(1)) button.tabIndex = -1;
  oneTabStop(root, () => buttons.filter((button) => button.checkVisibility()));

  const isMicroscope = () => hostNow.page === MICROSCOPE_PAGE;

  function turn() {
    if (isMicroscope()) face.step(face.now === "see" ? "lab" : "see");
    else hostNow.go(MICROSCOPE_PAGE, choice.words());
  }

  // ---- the sheets
  function opener(kind, label, fill) {
    const words = make("span", "label");
    const fields = { className: `opener ${kind}`, "aria-haspopup": "dialog", "aria-expanded": "false" };
    const button = make("button", fields, words, createIcon("down"));
    button.onclick = () => {
      if (sheet.opener() === button) sheet.close();
      else sheet.open(button, kind, label, fill);
    };
    return { button, label: words };
  }

  function fillWithPictures(box) {
    const strip = createStrip({
      ...hostNow,
      choice: { ...choice, set: (changes) => [choice.set(changes), sheet.close()] },
    });
    box.append(strip.element);
    strip.draw();
    return strip.draw;
  }

  function fillWithPages(box) {
    const goToPage = (page, words) => [sheet.close(), hostNow.go(page, words)];
    fillPages(box, { ...hostNow, words: choice.words(), go: goToPage });
  }

  function fillWithOpening(box, signal) {
    const { labelled, kept } = hostNow;
    const { language } = face;
    fillOpenPicture(box, { take: takeFiles, labelled, kept, takeLabelled: ownPictures.openLabelled, signal, language });
  }

  const fillWithModels = (box, _, target = choice) =>
    hostNow.sheets.models(box, { choice: target, ask: hostNow.ask, done: sheet.close });

  const fillWithCompare = (box) =>
    fillCompare(box, {
      ...hostNow,
      fillWithModels: (part) => fillWithModels(part, null, besideAsModel(choice)),
      done: sheet.close,
    });

  function fillWithExport(box, signal) {
    const share = () => [sheet.close(), hostNow.share()];
    hostNow.sheets.export(box, {
      words: { ...choice.words(), ...hostNow.viewWords() },
      ask: hostNow.ask,
      theme: hasDarkPaper(root) ? "dark" : "light",
      share,
      signal,
    });
  }

  const comparedTitle = () => titleOfBeside(choice.now, hostNow);

  // Sheets that open from a line of *More*: {kind, title(): the line's words, fill, isOffered()}
  const lines = [
    { kind: "pictures", title: () => seeWords(face.language, "pictures"), fill: fillWithPictures, isOffered: isNarrow },
    { kind: "model", title: () => `Model: ${titleOfModel()}`, fill: fillWithModels, isOffered: () => true },
    {
      kind: "compare",
      title: () => (comparedTitle() ? `Compared with ${comparedTitle()}` : "Compare"),
      fill: fillWithCompare,
      isOffered: isMicroscope,
    },
    {
      kind: "export",
      title: () => "Export",
      fill: fillWithExport,
      isOffered: () => isMicroscope() && Boolean(hostNow.sheets.export) && !isTraceFile(choice.now.mine),
    },
  ];
  const openLine = ({ kind, fill }, anchor = moreOpener.button) =>
    sheet.open(anchor, kind, kind[0].toUpperCase() + kind.slice(1), fill);

  function openExport() {
    if (isTraceFile(choice.now.mine)) return notify(NO_FIGURE, { stays: true });
    const anchor = [shareButton, moreOpener.button, photoOpener.button].find((button) => button.checkVisibility());
    openLine(lines.at(-1), anchor);
  }

  // The bar of a phone has no room for *Pictures*.
  function isNarrow() {
    return !picturesOpener.button.checkVisibility();
  }

  function fillWithMore(box) {
    const select = make("select", { "aria-label": "Patches, rows by columns" });
    select.onchange = () => {
      const detail = Number(select.value);
      sheet.close();
      choice.set({ detail });
    };
    const patches = make("label", "wide", "Patches", select);
    const elements = lines.map((line) => {
      const label = make("span");
      const element = make("button", { className: "wide", onclick: () => openLine(line) }, label, createIcon("on"));
      return { element, redraw: () => [setText(label, line.title()), setVisible(element, line.isOffered())] };
    });
    const [picturesLine, modelLine, ...others] = elements.map(({ element }) => element);
    box.append(picturesLine, modelLine, patches, ...others);
    const redraw = () => {
      for (const line of elements) line.redraw();
      const grids = hostNow.grids ?? [];
      const optionOf = ({ detail, grid }) => make("option", { value: detail }, grid.join(" × "));
      select.replaceChildren(...grids.map(optionOf));
      select.value = String(choice.now.detail);
      setVisible(patches, grids.length > 1);
    };
    redraw();
    return redraw;
  }

  // ---- own pictures
  let sendingCount = 0;
  function wait(change) {
    sendingCount += change;
    photoOpener.button.classList.toggle("waits", sendingCount > 0);
    setText(waitingLine, sendingCount ? "Your picture is on its way" : "");
  }

  async function takeFiles(files) {
    if (files.some(({ name }) => WEIGHTS_NAME.test(name)))
      return [sheet.close(), notify(MODEL_DROPPED, { stays: true })];
    const pictures = picturesAmong(files);
    if (!pictures.length) return;
    sheet.close();
    forgetNotice(true);
    wait(pictures.length);
    for (const file of pictures) {
      try {
        const { isGrey } = await ownPictures.open(file);
        if (isGrey) notify(seeWords(face.language, "greyTrace"), { stays: true });
      } catch (trouble) {
        const sentence = sentenceOf(trouble);
        notify(pictures.length > 1 ? `${file.name}: ${sentence}` : sentence, { stays: true });
      }
      wait(-1);
    }
  }

  // The server's sentences, and those of a .trace, are English.
  function sentenceOf({ status, says, body }) {
    const words = (key, values) => seeWords(face.language, key, values);
    if (!status) return words("notArrived");
    if (body?.word) return words(body.word, body.values);
    return face.language === "en" ? says : words("refusedFile", { says });
  }

  // ---- the choice
  const titleOfModel = () => hostNow.titles?.[choice.now.model] ?? choice.now.model ?? "Model";

  function draw() {
    setVisible(root, !hostNow.hidden);
    if (hostNow.hidden) return sheet.close();
    const words = (key) => seeWords(face.language, key);
    const isSee = isMicroscope() && face.now === "see";
    root.dataset.picture = chosenKeyOf(choice.now);
    const ownPicture = ownPictures.list.find(({ id }) => id === choice.now.mine);
    writeAttribute(picturesOpener.button, "title", ownPicture ? `Yours: ${ownPicture.title}` : "");
    setText(pagesOpener.label, "Attention Playground");
    setText(picturesOpener.label, words("pictures"));
    setText(photoOpener.label, words("yourPhoto"));
    setText(shareButton, words("share"));
    setVisible(shareButton, isMicroscope());
    setText(faceButton, words(isSee ? "lab" : "see"));
    writeAttribute(faceButton, "title", words(isSee ? "labSays" : "seeSays"));
    setVisible(moreOpener.button, !isSee);
    setText(moreOpener.label, titleOfModel());
    writeAttribute(moreOpener.button, "aria-label", `Model: ${titleOfModel()}`);
    sheet.redraw();
  }

  let shownChoice = choice.now;
  function onChoice() {
    const { sample, mine: ownId } = choice.now;
    if (!sendingCount && (sample !== shownChoice.sample || ownId !== shownChoice.mine)) forgetNotice(true);
    shownChoice = choice.now;
    draw();
  }

  choice.follow(onChoice);
  ownPictures.follow(draw);
  face.follow(draw);
  takeDroppedAndPasted(
    takeFiles,
    () => !hostNow.hidden,
    (key) => seeWords(face.language, key),
  );
  draw();

  return {
    openExport,
    update(part) {
      if (part.page !== undefined && part.page !== hostNow.page) sheet.close();
      Object.assign(hostNow, part);
      draw();
    },
  };
}

function writeAttribute(element, attribute, words) {
  if (element.getAttribute(attribute) !== words) element.setAttribute(attribute, words);
}

// Whether the page's text is lighter than its paper.
function hasDarkPaper(element) {
  const [red, green, blue] = (getComputedStyle(element).color.match(/[\d.]+/g) ?? [0, 0, 0]).map(Number);
  return red + green + blue > 382;
}
