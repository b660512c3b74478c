// The camera's picture or a video, frame by frame: each frame goes through the network in this browser's worker, and
// the query stays. Locking a patch freezes the picture. Nothing is stored or sent.

import { choice } from "./choice.js";
import { wordsOfTrouble } from "./http.js";
import { source } from "./httpsource.js";
import { notify } from "./notice.js";

const WIDEST = 640; // pixels along a frame's longer side
const COUNTED = 1000; // ms over which the frame rate is measured
const LIVE_REST = 60; // ms between two checks whether to go on
const NO_CAMERA = "The camera can't be used: the browser has none, or is not allowed to use it.";
const NO_FILM = "This browser can't play that film.";

const frames = new Map(); // id → an ImageBitmap

// A frame as workersource.js reads pictures, or null if there is no such frame.
export function liveFrame(id) {
  const bitmap = frames.get(id);
  if (!bitmap) return null;
  const { width, height } = bitmap;
  const [film] = id.split(" ");
  return { id, film, title: "live", credit: "", hint: "", start: undefined, width, height, file: async () => bitmap };
}

// `place` gets a line that says that it runs; `modelFor(wanted)` returns a promise of the model to use; `back()` shows
// the chosen picture again.
export function createLive({ lens, place, modelFor, back, stageLeft }) {
  let running = null; // {picture: what was chosen when it began, film, frames: how many there were, end}
  let films = 0;

  // `open()` gives a promise of {video, end}.
  async function begin(open, words) {
    stop();
    document.documentElement.classList.add("live-runs");
    const session = { picture: pictureChosen(), film: `live-${++films}`, frames: 0, end: () => {} };
    running = session;
    try {
      const { video, end } = await open();
      session.end = end;
      if (running !== session) return end();
      const line = writeLine(place, video, words, () => leave());
      session.end = () => {
        line.remove();
        end();
      };
      await run(session, video, line);
    } catch (error) {
      if (running !== session) return;
      leave();
      notify(wordsOfTrouble(error));
    }
  }

  async function run(session, video, line) {
    const times = [];
    let [next, model, before] = [null, null, null];
    while (running === session) {
      const isHeld = lens.view.locked && before;
      line.frozen(isHeld);
      if (isHeld || document.hidden || video.readyState < 2) {
        await later(LIVE_REST);
        continue;
      }
      const { id, trace } = await (next ?? frameOf(session, video));
      line.looksIn(trace.title);
      const view = trace.model === model ? null : viewFirst(trace.model, before);
      const shown = await lens.show({ main: trace, view });
      frames.delete(before);
      [before, model] = [id, shown ? trace.model : model];
      // Computes the next frame while this one is drawn.
      next = running === session && !lens.view.locked ? frameOf(session, video) : null;
      next?.catch(() => {}); // its error is handled when its turn comes
      await nextFrame();
      times.push(performance.now());
      while (times.at(-1) - times[0] > COUNTED) times.shift();
      line.count(times);
    }
    for (const id of frames.keys()) if (id.startsWith(`${session.film} `)) frames.delete(id);
  }

  // Takes a frame and starts the model on it.
  async function frameOf(session, video) {
    const model = await modelFor(choice.now.model);
    const id = `${session.film} ${++session.frames}`;
    const picture = await pictureOfFrame(video);
    if (running !== session) throw new Error("It was stopped."); // nobody would take it out of `frames` again
    frames.set(id, picture);
    const trace = { ...(await source.open({ mine: id, model, first: "yes" })), sparing: true, offers: ["layers"] };
    const { view } = lens;
    if (model === lens.read()?.model && view.layer !== null) source.layers(trace, [view.layer]).catch(() => {});
    return { id, trace };
  }

  // The first frame in a new model keeps only the patch of the former view, because layers differ.
  const viewFirst = (model, former) => (former || model !== lens.read()?.model ? {} : { ...lens.view, locked: false });

  function stop() {
    running?.end();
    running = null;
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
    // Whether the new choice changes only the model; a new picture ends the film.
    goesOn() {
      if (!running) return false;
      if (running.picture === pictureChosen() && !choice.now.beside) return true;
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
