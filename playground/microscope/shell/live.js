// The camera's picture again and again, or a film's: each frame goes through the network in this browser's worker, and
// the patch under the cursor stays. A locked patch freezes the picture. Nothing is kept, and nothing is sent.

import { choice } from "./choice.js";
import { wordsOfTrouble } from "./http.js";
import { source } from "./httpsource.js";
import { notify } from "./notice.js";

const WIDEST = 640; // pixels of a frame
const COUNTED = 1000; // ms over which pictures are counted
const LIVE_REST = 60; // ms between two looks at whether it goes on
const NO_CAMERA = "The camera can't be used: the browser has none, or is not allowed to use it.";
const NO_FILM = "This browser can't play that film.";

const frames = new Map(); // id → an ImageBitmap

// The picture of a frame as workersource.js wants it, or null: no frame is called so.
export function liveFrame(id) {
  const bitmap = frames.get(id);
  if (!bitmap) return null;
  const { width, height } = bitmap;
  const [film] = id.split(" ");
  return { id, film, title: "live", credit: "", hint: "", start: undefined, width, height, file: async () => bitmap };
}

// `place` gets the line that says that it runs; `modelFor(wanted)` gives a promise of the model to look with; `back()`
// shows what is chosen.
export function createLive({ lens, place, modelFor, back, stageLeft }) {
  let now = null; // {picture: what was chosen when it began, film, frames: how many there were, end}
  let films = 0;

  // `open()` gives a promise of {video, end}.
  async function begin(open, words) {
    stop();
    document.documentElement.classList.add("live-runs");
    const mine = { picture: pictureChosen(), film: `live-${++films}`, frames: 0, end: () => {} };
    now = mine;
    try {
      const { video, end } = await open();
      mine.end = end;
      if (now !== mine) return end();
      const line = writeLine(place, video, words, () => leave());
      mine.end = () => {
        line.remove();
        end();
      };
      await run(mine, video, line);
    } catch (error) {
      if (now !== mine) return;
      leave();
      notify(wordsOfTrouble(error));
    }
  }

  async function run(mine, video, line) {
    const times = [];
    let [next, model, before] = [null, null, null];
    while (now === mine) {
      const held = lens.view.locked && before;
      line.frozen(held);
      if (held || document.hidden || video.readyState < 2) {
        await later(LIVE_REST);
        continue;
      }
      const { id, trace } = await (next ?? frameOf(mine, video));
      line.looksIn(trace.title);
      const view = trace.model === model ? null : viewFirst(trace.model, before);
      const shown = await lens.show({ main: trace, view });
      frames.delete(before);
      [before, model] = [id, shown ? trace.model : model];
      // The next one is worked on while this one is drawn.
      next = now === mine && !lens.view.locked ? frameOf(mine, video) : null;
      next?.catch(() => {}); // it is heard when its turn comes
      await nextFrame();
      times.push(performance.now());
      while (times.at(-1) - times[0] > COUNTED) times.shift();
      line.count(times);
    }
    for (const id of frames.keys()) if (id.startsWith(`${mine.film} `)) frames.delete(id);
  }

  // What is seen now, and the model begins to work on it.
  async function frameOf(mine, video) {
    const model = await modelFor(choice.now.model);
    const id = `${mine.film} ${++mine.frames}`;
    const picture = await pictureOfFrame(video);
    if (now !== mine) throw new Error("It was stopped."); // nobody would take it out of `frames` again
    frames.set(id, picture);
    const trace = { ...(await source.open({ mine: id, model, first: "yes" })), sparing: true, offers: ["layers"] };
    const { view } = lens;
    if (model === lens.read()?.model && view.layer !== null) source.layers(trace, [view.layer]).catch(() => {});
    return { id, trace };
  }

  // Another network has other layers; the first frame opens where the picture before it was looked at.
  const viewFirst = (model, before) => (before || model !== lens.read()?.model ? {} : { ...lens.view, locked: false });

  function stop() {
    now?.end();
    now = null;
    document.documentElement.classList.remove("live-runs");
  }
  function leave() {
    stop();
    back();
  }
  stageLeft.addEventListener("abort", stop);

  return {
    camera: () => begin(openCamera, "The camera runs"),
    stop,
    film: (file) => begin(() => openFilm(file), "The film runs"),
    // Whether a new choice is nothing but another model; another picture ends it.
    goesOn() {
      if (!now) return false;
      if (now.picture === pictureChosen() && !choice.now.beside) return true;
      stop();
      return false;
    },
  };
}

const pictureChosen = () => choice.now.mine ?? choice.now.sample;
const later = (ms) => new Promise((go) => setTimeout(go, ms));
const nextFrame = () => Promise.race([new Promise((go) => requestAnimationFrame(go)), later(200)]);

function pictureOfFrame(video) {
  const { videoWidth: width, videoHeight: height } = video;
  const shrunk = Math.min(1, WIDEST / width);
  const [resizeWidth, resizeHeight] = [width, height].map((side) => Math.max(1, Math.round(side * shrunk)));
  return createImageBitmap(video, { resizeWidth, resizeHeight, resizeQuality: "medium" });
}

async function openCamera() {
  const video = document.createElement("video");
  const stream = await navigator.mediaDevices
    ?.getUserMedia({ video: { facingMode: "user", width: { ideal: WIDEST } } })
    .catch(() => null);
  if (!stream) throw Object.assign(new Error(NO_CAMERA), { says: NO_CAMERA });
  Object.assign(video, { srcObject: stream, muted: true, playsInline: true });
  await video.play();
  return { video, end: () => stream.getTracks().forEach((track) => track.stop()) };
}

async function openFilm(file) {
  const video = document.createElement("video");
  const src = URL.createObjectURL(file);
  Object.assign(video, { src, muted: true, loop: true, playsInline: true });
  const end = () => [video.pause(), URL.revokeObjectURL(src)];
  await video.play().catch(() => {
    end();
    throw Object.assign(new Error(NO_FILM), { says: NO_FILM });
  });
  return { video, end };
}

// The camera's own picture, small, and a sentence that says that it runs.
function writeLine(place, video, words, stop) {
  const line = document.createElement("div");
  line.className = "live-line";
  line.setAttribute("role", "status");
  const [dot, says, count, button] = ["i", "span", "span", "button"].map((tag) => document.createElement(tag));
  count.setAttribute("aria-live", "off");
  Object.assign(button, { type: "button", textContent: "Stop" });
  button.addEventListener("click", stop);
  line.append(dot, video, says, count, button);
  place.prepend(line);
  return {
    remove: () => line.remove(),
    looksIn(model) {
      const sentence = `${words}, in ${model}. Nothing is kept or sent.`;
      if (says.textContent !== sentence) says.textContent = sentence;
    },
    frozen: (is) => {
      line.classList.toggle("frozen", Boolean(is));
      if (is) count.textContent = "frozen: click the patch again to go on";
    },
    count: (times) => {
      const seconds = (times.at(-1) - times[0]) / 1000;
      count.textContent = seconds > 0 ? `${((times.length - 1) / seconds).toFixed(1)} pictures a second` : "";
    },
  };
}
