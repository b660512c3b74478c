// The story: fourteen scenes about the attention of one patch of the photograph on view. The scenes stand beside the
// picture of See (see/), and all their numbers are measured on that picture.

import { patchAfterKey, patchAt, patchText } from "../core/grid.js";
import { numberWords } from "../core/guesses.js";
import { percent } from "../core/numbers.js";
import { DEFAULT_VIEW, sameToken } from "../core/view.js";
import { FIRST_WAY } from "../core/ways.js";
import { choiceButtons, numberDial } from "../drawing/asking.js";
import { make, makeCanvas, setMath, setText, setVisible } from "../drawing/dom.js";
import { markedBlocks, markedWords } from "../drawing/listing.js";
import { photoOf, refresh } from "../lens/layout.js";
import { downloadFile } from "../lens/saving.js";
import { canAsk } from "../lens/state.js";
import { factsAhead, findFact } from "./asked.js";
import { createMarksSvg, drawFigure, drawSceneMarks, photoAs } from "./figures.js";
import { largestError, notebookOf } from "./notebook.js";
import { isBefore, isQuestion, marksOf, neighbourOf, QUESTION_COUNT, SCENE_COUNT } from "./questions.js";
import { codeOf, factsOfStory, recordForClass, sceneAt, truthOf, verdictOn } from "./scenes.js";
import { storyWords } from "./words.js";

const PANEL_MARKUP = `
  <header><p class="story-count"></p><button class="story-end" type="button">×</button></header>
  <h2 tabindex="-1"></h2>
  <div class="story-text"></div>
  <div class="story-figure"></div>
  <div class="story-guess"></div>
  <div class="story-after" aria-live="polite"></div>
  <div class="story-class"></div>`;
const PLACE_SCENE = 1; // the scene whose guess is a patch
const MAP_PHOTO_WIDTH = 560; // px of the photograph under guessed places
const FOOT_MARKUP = `<button class="story-back" type="button"></button><ol></ol>
  <button class="story-next" type="button"></button>`;

// way, klass: see `storyWay` and `classOfStory` in shell/storyway.js; a file has no way.cat and no way.lab.
export function createStory(lens, see, { language, way, klass }) {
  const { choice, data, frame, page, root, refs } = lens;
  const panel = make("section", { className: "story", innerHTML: PANEL_MARKUP });
  const footer = make("nav", { className: "story-foot", innerHTML: FOOT_MARKUP });
  refs.below.append(panel);
  refs.stage.after(footer);
  const marksSvg = createMarksSvg(refs.picture);
  /** @returns {HTMLElement} */
  const findPart = (name) => panel.querySelector(`.story-${name}`);
  const title = panel.querySelector("h2");
  /** @type {HTMLButtonElement[]} */
  const [backButton, nextButton] = [footer.querySelector(".story-back"), footer.querySelector(".story-next")];
  const story = {
    pictureKey: "", // key of the picture, model and grid that `base` belongs to
    subject: "", // key of the picture and model
    pack: null, // the numbers that `base` belongs to
    base: null, // {layer, head, patch} of the story
    facts: null,
    late: {}, // the facts that were asked for and have come, see asked.js
    asking: null, // stops the requests for the former picture
    guesses: {}, // {scene: guess} for this base
    drawnKey: "", // key of the panel's content
    viewKey: "", // key of the last view that was set
    aim: -1, // the patch that the arrow keys have reached; Enter guesses it
    pressIsGuess: false, // whether the last press on the photograph was a guess, whose click event is ignored
  };
  const classHead = klass.headIn(findPart("class"));
  klass.follow(() => page.schedule());
  const words = (key, values) => storyWords(language(), key, values);

  findPart("end").addEventListener("click", () => way.go(0));
  backButton.addEventListener("click", () => way.go(neighbourOf(way.at(), -1, SCENE_COUNT)));
  nextButton.addEventListener("click", () => way.go(neighbourOf(way.at(), 1, SCENE_COUNT)));
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    way.go(0);
  });
  // When a scene asks for a place, a press on the photograph is the guess and does not lock the row.
  refs.picture.addEventListener("pointerdown", guessPlace, { capture: true });
  refs.picture.addEventListener("click", stopClick, { capture: true });
  refs.picture.addEventListener("keydown", guessByKeys);

  function stopClick(event) {
    if (story.pressIsGuess) event.stopImmediatePropagation();
    story.pressIsGuess = false;
  }

  function guessPlace(event) {
    story.pressIsGuess = asksPlace();
    if (!story.pressIsGuess) return;
    event.stopImmediatePropagation();
    const box = refs.picture.getBoundingClientRect();
    const { rows, columns } = data.main.pack;
    if (questionOfClass()) return; // a class guesses on phones, not on the projector
    takeGuess(patchAt((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height, rows, columns));
  }

  // Arrow keys move a frame over the photograph, Enter guesses its place.
  function guessByKeys(event) {
    if (!asksPlace() || questionOfClass()) return;
    const { rows, columns } = data.main.pack;
    const patch = patchAfterKey(event.key, story.aim < 0 ? story.base.patch : story.aim, rows, columns);
    if (patch >= 0) {
      story.aim = patch;
      drawMarks();
      setText(refs.live, nameOf(data.main.pack.prefixCount + patch));
    } else if (event.key === "Enter" && story.aim >= 0) takeGuess(story.aim);
    else return;
    event.preventDefault();
    event.stopPropagation(); // the lens would choose another row
  }

  const drawMarks = (changes) => {
    const state = {
      guessed: isGuessed() || !sceneNow().question,
      hidden: hidesRow(),
      aim: asksPlace() ? story.aim : -1,
    };
    drawSceneMarks(marksSvg, { ...sceneNow().marks, ...changes }, story.facts, state);
    const { guess, counts = [] } = questionOfClass() ?? {};
    if (guess?.kind !== "Place") return;
    for (const [round, roundCounts] of counts.entries()) {
      const map = klass.guessMap({ rows: guess.rows, columns: guess.columns, counts: roundCounts });
      map.classList.toggle("former", round < counts.length - 1);
      marksSvg.append(map);
    }
  };

  const sceneNow = () => sceneAt(way.at(), story.facts, language(), data.main.picture.parts ?? []);
  // The class's question of this scene and picture, if one is open.
  const questionOfClass = () => {
    const question = klass.now()?.question;
    return question && klass.now().scene.name === String(way.at()) && question.of === story.pictureKey
      ? question
      : null;
  };
  const isGuessed = () => {
    const question = questionOfClass();
    return question ? question.phase === "tells" : guessNow() !== undefined;
  };
  // The reader's answers to the ten questions outlast the photograph and the page.
  const guessNow = () => (isQuestion(way.at()) ? way.answers() : story.guesses)[way.at()];
  const asksPlace = () => way.at() === PLACE_SCENE && !isGuessed();
  // Whether to hide the row, which would show the answer to scene 1's question.
  const hidesRow = () => asksPlace() || isBefore(way.at());

  function takeGuess(guess) {
    if (isQuestion(way.at())) way.keepAnswers({ ...way.answers(), [way.at()]: guess });
    else story.guesses[way.at()] = guess;
    draw();
  }

  function updateBase() {
    const { main } = data;
    const { pack } = main;
    const subject = [main.picture.id, main.trace.model].join(" ");
    const key = [subject, pack.rows, pack.columns].join(" ");
    if (story.pictureKey === key) return;
    const former = { ...story };
    story.asking?.abort();
    const asked = { late: {}, asking: new AbortController() };
    Object.assign(story, { pictureKey: key, subject, pack, facts: null, drawnKey: "", viewKey: "", aim: -1, ...asked });
    if (former.subject === subject) return moveToGrid(former.pack, pack);
    const { view } = choice;
    const patch = frame.shown.mark >= 0 ? frame.shown.mark : Math.floor(pack.patches / 2);
    story.guesses = {};
    story.base = { layer: view.layer, head: view.head, patch };
  }

  // The same picture on another grid: the story goes on with its head, its place and the guesses.
  function moveToGrid(formerPack, pack) {
    const moved = (patch) => sameToken(formerPack.prefixCount + patch, formerPack, pack) - pack.prefixCount;
    story.base = { ...story.base, patch: moved(story.base.patch) };
    if (PLACE_SCENE in story.guesses) story.guesses[PLACE_SCENE] = moved(story.guesses[PLACE_SCENE]);
  }

  function setView(scene) {
    const { layer, head, patch } = story.base;
    const query = patchText(patch, data.main.pack.columns);
    const scale = isGuessed() || !scene.question ? (scene.view.scale ?? "on") : "on";
    const view = { ...DEFAULT_VIEW, what: FIRST_WAY, layer, head, query, scale, locked: true };
    const key = [way.at(), isGuessed(), query, layer, head].join(" ");
    if (story.viewKey === key) return;
    story.viewKey = key;
    choice.hover = -1;
    see.hold(!hidesRow());
    page.choose(view);
  }

  // ---- a frame
  function paint() {
    const n = way.at();
    if (!n) return leaveStory();
    root.dataset.story = String(n);
    const isProjected = Boolean(klass.now()); // the room reads along
    if (!root.classList.contains("tells") || root.classList.contains("projected") !== isProjected) {
      root.classList.add("tells");
      root.classList.toggle("projected", isProjected);
      refresh(lens); // the story's column is wider
    }
    updateBase();
    choice.layersLooked = true; // the scenes go through all layers
    const { pack } = data.main;
    story.facts ??= factsOfStory(pack, story.base, pack.header.patch ?? null);
    if (story.facts && !isQuestion(n)) askAhead(n);
    draw();
  }

  // Asks for what this scene and the next one tell beyond the pack.
  function askAhead(n) {
    const { main, host } = data;
    const about = {
      ...story.base,
      source: host.source,
      trace: main.trace,
      pack: main.pack,
      bitmap: main.picture.bitmap,
      hasLabels: canAsk(data, "labels"),
    };
    const { signal } = story.asking;
    for (const kind of factsAhead(n, (offer) => canAsk(data, offer))) {
      if (kind in story.late) continue;
      const take = (fact, comes = false) => {
        if (signal.aborted) return;
        story.late[kind] = fact;
        Object.assign(story.facts, { [kind]: fact, comes: { ...story.facts.comes, [kind]: comes } });
        story.drawnKey = "";
        page.schedule();
      };
      take(null, true);
      findFact(kind, about, signal).then(take, () => take(null)); // without it the scene tells less
    }
  }

  function leaveStory() {
    if (!root.classList.contains("tells")) return;
    root.classList.remove("tells", "projected");
    delete root.dataset.story;
    refresh(lens);
    story.drawnKey = story.viewKey = "";
    marksSvg.replaceChildren();
    if (choice.view.scale !== "on") page.choose({ scale: "on" });
  }

  function draw() {
    const n = way.at();
    const guessKey = JSON.stringify([guessNow() ?? null, classState()]);
    const key = [n, language(), story.pictureKey, Boolean(story.facts), guessKey].join("|");
    placeClass();
    classHead.drawHead(language());
    if (story.facts) setView(sceneNow());
    if (story.facts) klass.go(classRecord().scene);
    if (story.drawnKey === key) return;
    const isNewScene = story.drawnKey.split("|")[0] !== String(n);
    story.drawnKey = key;
    panel.lang = footer.lang = language();
    writeFoot(n);
    if (!story.facts) return writeWaiting();
    const scene = sceneNow();
    setMath(title, scene.title);
    const guessed = isGuessed() || !scene.question;
    findPart("text").innerHTML = markedBlocks(scene.text || (guessed ? scene.question.asks : ""));
    drawFigure(findPart("figure"), scene.figure, story.facts, {
      photo: photoAs(photoOf(lens, data.main).image),
      aspect: frame.pictureWidth / frame.pictureHeight,
      ratio: frame.ratio,
      guessed,
      language: language(),
      name: nameOf,
      code: codeOf(story.facts, way.place()),
      drawMarks,
      choose: (changes) => page.choose(changes),
    });
    writeGuess(scene);
    writeAfter(n, scene, guessed);
    drawMarks();
    const isRevealed = Boolean(questionOfClass() && questionOfClass().phase !== "asks");
    if (panel.classList.toggle("revealed", isRevealed)) panel.scrollTop = 0;
    if (!isNewScene) return;
    panel.scrollTop = 0;
    title.focus({ preventScroll: true });
  }

  // ---- a class
  // Puts the class's bar above the scene while a class runs; else below, where the bar does not disturb a single
  // reader.
  function placeClass() {
    const [box, header] = [findPart("class"), panel.querySelector("header")];
    const isAbove = box.previousElementSibling === header;
    setVisible(box, Boolean(klass.now() || klass.says?.()) || way.at() === 1); // a class starts with the story
    if (isAbove === Boolean(klass.now())) return;
    if (isAbove) panel.append(box);
    else header.after(box);
  }

  const classRecord = () =>
    recordForClass(way.at(), SCENE_COUNT, story.facts, data.main.picture.parts ?? [], story.pictureKey);

  // The state of the class that the board shows; a change redraws the story.
  const classState = () =>
    klass.now() && [klass.now().code, klass.now().phones, questionOfClass(), klass.wantsPicture()];

  const askClass = (mayTravel) => klass.ask(withAspect(classRecord()), data.main.trace.picture.address, mayTravel);

  const withAspect = ({ scene, question }) => ({
    scene,
    question: { ...question, guess: { ...question.guess, aspect: frame.pictureWidth / frame.pictureHeight } },
  });

  function smallPhotograph() {
    const { bitmap } = data.main.picture;
    const canvas = makeCanvas(MAP_PHOTO_WIDTH, (MAP_PHOTO_WIDTH * frame.pictureHeight) / frame.pictureWidth);
    canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    return canvas;
  }

  function writeBoard(box) {
    klass.board(box, {
      language: language(),
      now: klass.now(),
      of: questionOfClass(),
      asked: classRecord(),
      act: klass.act,
      ask: askClass,
      wantsPicture: klass.wantsPicture(),
    });
  }

  function writeWaiting() {
    setMath(title, words("title1"));
    findPart("text").textContent = words("comes");
    for (const name of ["figure", "guess", "after"]) findPart(name).replaceChildren();
  }

  function writeFoot(n) {
    const count = isQuestion(n) ? "" : ` · ${words("scene", { n, count: SCENE_COUNT })}`;
    findPart("count").textContent = words("story") + count;
    findPart("end").setAttribute("aria-label", words("end"));
    findPart("end").title = words("end");
    backButton.textContent = words("back");
    nextButton.textContent = words("next");
    backButton.disabled = neighbourOf(n, -1, SCENE_COUNT) === 0;
    setVisible(nextButton, neighbourOf(n, 1, SCENE_COUNT) !== 0);
    const dots = footer.querySelector("ol");
    const dotOf = (n) => make("li", { title: String(n), onclick: () => way.go(n) });
    if (!dots.children.length) dots.append(...Array.from({ length: SCENE_COUNT }, (_, i) => dotOf(i + 1)));
    for (const [i, dot] of [...dots.children].entries()) dot.classList.toggle("now", i + 1 === n);
  }

  function nameOf(token) {
    const { pack } = data.main;
    if (token < pack.prefixCount) return pack.prefix[token];
    const patch = token - pack.prefixCount;
    return `${Math.floor(patch / pack.columns)}, ${patch % pack.columns}`;
  }

  // ---- guesses
  function writeGuess({ question }) {
    const box = findPart("guess");
    box.replaceChildren();
    if (!question || (isGuessed() && !questionOfClass())) return;
    box.append(make("p", { className: "story-asks", innerHTML: markedWords(question.asks) }));
    if (klass.now()) writeBoard(box.appendChild(make("div", "class-board")));
    if (questionOfClass()) return;
    const { guess } = question;
    if (guess.kind === "Choice") box.append(...choiceButtons(guess, takeGuess));
    else if (guess.kind === "Number") box.append(...dialOf(guess));
    else box.append(make("p", "story-keys", words("byKeys")));
  }

  function dialOf(guess) {
    const output = make("output");
    const write = (x) => {
      output.textContent = numberWords(guess, x);
    };
    const dial = numberDial(guess, words("guess"), write);
    write(dial.value());
    return [dial.input, output, storyButton(words("guess"), () => takeGuess(dial.value()))];
  }

  function writeAfter(n, scene, isGuessed) {
    const box = findPart("after");
    box.replaceChildren();
    if (isBefore(n) && isGuessed && !questionOfClass()) box.append(make("p", "", words("noted")));
    else if (scene.question && isGuessed) {
      const answer = questionOfClass() ? scene.question.truth : guessNow();
      const { right, words: verdict } = verdictOn(scene.question, answer, language());
      const text = questionOfClass() ? truthOf(scene.question, language()) : verdict;
      const says = make("span", { innerHTML: markedWords(scene.question.says) });
      box.append(make("p", "", make("b", right ? "right" : "wrong", text), " ", says));
    }
    if (n === 1 && !isGuessed && way.answers && !questionOfClass())
      box.append(questionsLink(words("questionsFirst"), "b1"));
    if (String(n) === `a${QUESTION_COUNT}`) writeMarks(box);
    if (n === 1 && isGuessed && !story.facts.leads && way.cat)
      box.append(make("p", "", words("plain")), storyButton(words("cat"), way.cat));
    if (n === SCENE_COUNT && isGuessed) writeEnd(box);
    const lesson = isGuessed && scene.lesson && way.lesson(scene.lesson);
    if (lesson) box.append(linkOf(words("more", { lesson: lesson.title }), lesson));
  }

  const questionsLink = (text, at) => linkOf(text, { href: "", go: () => way.go(at) });

  // The reader's marks: how many of the ten questions were right before the story, and are now.
  function writeMarks(box) {
    const { before, after } = marksOf(way.answers());
    if (after === null) return;
    box.append(
      make(
        "p",
        "story-marks",
        words(before === null ? "marksAfter" : "marksBoth", { before, after, count: QUESTION_COUNT }),
      ),
    );
    box.append(
      storyButton(words("marksAgain"), () => {
        way.keepAnswers({});
        way.go("a1");
      }),
    );
  }

  // The end of the story: a button that runs the code, if there is a server; the story as a notebook; a link to Lab.
  function writeEnd(box) {
    const { layer, head, patch, pack } = story.facts;
    const status = make("p", "story-ran");
    const runButton = storyButton(words("run"), async () => {
      status.textContent = words("runs");
      const query = patchText(patch, pack.columns);
      const headPlace = { layer, head: pack.headNumbers[head], query };
      try {
        const { torch, full, halves: row16 } = await data.host.source.ran(data.main.trace, headPlace);
        const largestErrorText = (row) => largestError(row, story.facts.row).toExponential(0).replace("-", "−");
        status.textContent = words("ranSo", { torch, full: largestErrorText(full), halves: largestErrorText(row16) });
      } catch (error) {
        status.textContent = error.says ?? String(error);
      }
    });
    const notebookButton = storyButton(words("notebook"), () => {
      const { model } = way.place();
      const code = codeOf(story.facts, way.place());
      const photograph = smallPhotograph().toDataURL("image/jpeg", 0.8);
      const text = JSON.stringify(notebookOf(story.facts, { model, code, photograph }), null, 1);
      downloadFile(new File([text], "attention.ipynb", { type: "application/x-ipynb+json" }));
    });
    box.append(
      ...(canAsk(data, "ran") ? [runButton] : []),
      notebookButton,
      ...(way.lab ? [storyButton(words("lab"), way.lab)] : []),
      ...(way.answers ? [storyButton(words("questions"), () => way.go("a1"))] : []),
      status,
    );
  }

  function linkOf(text, { href, go: goTo }) {
    const onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      goTo();
    };
    const link = make("a", { href, onclick });
    setMath(link, text);
    return make("p", "", link);
  }

  // All scenes in words for paper, [html of a scene]; null before the facts are known.
  function printed() {
    if (!story.facts) return null;
    return Array.from({ length: SCENE_COUNT }, (_, i) => {
      const { title, text, question } = sceneAt(i + 1, story.facts, language(), data.main.picture.parts ?? []);
      if (!question) return markedBlocks(`**${title}**\n\n${text}`);
      const options = (question.guess.options ?? []).map(([, words]) => `- ${words}`).join("\n");
      const answer = `${truthOf(question, language())} ${question.says}`;
      return markedBlocks(`**${title}**\n\n${text}\n\n**${question.asks}**\n\n${options}\n\n${answer}`);
    });
  }

  return {
    paint,
    printed,
    tells: () => Boolean(way.at()),
    covers: () => Boolean(way.at()) && hidesRow(),
    end: () => Boolean(way.at()) && way.go(0),
    read: () => ({ n: way.at(), base: story.base, facts: story.facts && readableFacts(story.facts) }),
  };
}

// A short form of the facts, for tests and the console.
const readableFacts = ({ partner, share, distance, loudest, outside, pair }) => ({
  partner,
  share,
  distance,
  loudest,
  outside,
  dot: pair.dot,
  score: pair.score,
  shown: percent(share),
});

function storyButton(words, onclick) {
  const button = make("button", { onclick });
  setMath(button, words);
  return button;
}
