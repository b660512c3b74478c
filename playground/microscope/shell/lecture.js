// The story in a frame of a slide deck, self-contained (see playground/figures/html.py). The deck sets the scene
// (lessons/slides.js); keys that a presenter presses here are sent to the deck.

import { createSee } from "../see/see.js";
import { createStory } from "../story/story.js";
import { languageOf } from "../words/languages.js";
import { bringFromPage, defineLens } from "./element.js";

const DECK_KEYS = { PageDown: 1, ArrowRight: 1, PageUp: -1, ArrowLeft: -1 };

function startLecture() {
  const {
    scene: firstScene = 1,
    place,
    view,
    title,
    parts,
    model,
  } = JSON.parse(document.getElementById("start").textContent);
  const scene = { n: firstScene };
  const language = () => languageOf(navigator.languages ?? []);
  const tellDeck = (message) => parent.postMessage(message, "*"); // "*": the deck is a file without an origin
  const way = { at: () => scene.n, go: (n) => n && tellDeck({ scene: n }), lesson: () => null, place: () => place };
  let story = null;
  const makeSee = (lens) =>
    createSee(lens, {
      face: "see",
      language,
      turned() {},
      bar: 0,
      story(box, see) {
        story = createStory(box, see, { language, way, klass: EMPTY_CLASS });
        return story;
      },
    });
  defineLens(async (element) => {
    const { source } = await bringFromPage(element);
    document.getElementById("still").hidden = true;
    const trace = { id: "file", title: model, model, picture: { id: "picture", title, parts } };
    return { source, trace, view, options: { see: makeSee } };
  });
  /** @type {any} */
  const element = document.querySelector("attention-lens");
  addEventListener("message", ({ data, source }) => {
    if (source !== parent || !Number.isInteger(data?.scene)) return;
    scene.n = data.scene;
    element.update({});
  });
  addEventListener(
    "keydown",
    (event) => {
      const target = /** @type {Element} */ (event.target);
      if (target.closest("input") || event.altKey || event.ctrlKey || event.metaKey) return;
      if (!(event.key in DECK_KEYS) && event.key.toLowerCase() !== "n") return;
      event.preventDefault();
      event.stopImmediatePropagation();
      tellDeck(event.key in DECK_KEYS ? { by: DECK_KEYS[event.key] } : { notes: true });
    },
    { capture: true },
  );
  const tellScenes = () => {
    const scenes = story.printed();
    if (!scenes) return void requestAnimationFrame(tellScenes);
    const { src: picture } = /** @type {HTMLImageElement} */ (document.getElementById("still"));
    tellDeck({ scenes, picture });
  };
  element.shown.then(
    () => {
      tellDeck({ ready: true });
      tellScenes();
    },
    () => {}, // the element shows the error
  );
}

// A class without members, for a story without a server.
const EMPTY_CLASS = { now: () => null, follow() {}, go() {}, headIn: () => ({ drawHead() {} }) };

startLecture();
