// The story inside a deck of slides, in a frame of its own with all that it needs (see playground/figures/html.py). The
// deck says which scene (lessons/slides.js); keys that a clicker presses here go to the deck.
import { createLens } from "../lens/lens.js";
import { createSee } from "../see/see.js";
import { languageOf } from "../see/words.js";
import { createStory } from "../story/story.js";

const ofFile = (id) => document.getElementById(id);
const DECK_KEYS = { PageDown: 1, ArrowRight: 1, PageUp: -1, ArrowLeft: -1 };

async function startLecture() {
  const told = JSON.parse(ofFile("start").textContent);
  const scene = { n: told.scene ?? 1 };
  const bytes = Uint8Array.from(atob(ofFile("pack").textContent), (letter) => letter.charCodeAt(0));
  const unzipped = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const pack = new Uint8Array(await new Response(unzipped).arrayBuffer());
  await ofFile("picture").decode();
  ofFile("still").hidden = true;
  const language = () => languageOf(navigator.languages ?? []);
  const deck = (message) => parent.postMessage(message, "*"); // it has no secrets, and its parent has no address
  const way = {
    at: () => scene.n,
    go: (n) => n && deck({ scene: n }),
    lesson: () => null,
    place: () => told.place,
  };
  const lens = createLens(ofFile("place"), {
    source: { offers: [], layers: async () => pack, picture: async () => ofFile("picture") },
    view: told.view,
    ui: { height: "window" },
    link: null,
    see: (of) =>
      createSee(of, {
        ...{ face: "see", language, turned() {}, bar: 0 },
        story: (within, see) => createStory(within, see, { language, way, klass: NOBODY }),
      }),
  });
  addEventListener("message", ({ data, source }) => {
    if (source !== parent || !Number.isInteger(data?.scene)) return;
    scene.n = data.scene;
    lens.refresh();
  });
  addEventListener(
    "keydown",
    (event) => {
      if (event.target.closest("input") || event.altKey || event.ctrlKey || event.metaKey) return;
      if (!(event.key in DECK_KEYS) && event.key.toLowerCase() !== "n") return;
      event.preventDefault();
      event.stopImmediatePropagation();
      deck(event.key in DECK_KEYS ? { by: DECK_KEYS[event.key] } : { notes: true });
    },
    { capture: true },
  );
  const { title, parts, model } = told;
  await lens.show({ main: { id: "file", title: model, model, picture: { id: "picture", title, parts } } });
  deck({ ready: true });
}

// No class guesses along with a file.
const NOBODY = {
  ...{ now: () => null, follow() {}, go() {}, keepsBoard: () => false },
  headIn: () => ({ drawHead() {} }),
};

startLecture();
