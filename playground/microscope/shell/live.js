// Shows the frames of a camera: each frame goes through the network in this browser's worker, and the query
// stays at its place. Locking a patch freezes the picture. Nothing is stored or sent.

import { make } from "../drawing/dom.js";
import { choice } from "./choice.js";
import { wordsOfTrouble } from "./http.js";
import { source } from "./httpsource.js";
import { notify } from "./notice.js";

const MOST_WIDTH = 640; // pixels: a frame's largest width
const RATE_WINDOW = 1000; // ms over which the frame rate is measured
const FROZEN_CHECK_MS = 60; // ms until the next check whether a frozen picture is released
const NO_CAMERA = "The camera can't be used: the browser has none, or is not allowed to use it.";

const frames = new Map(); // id → an ImageBitmap

// A frame as a picture for workersource.js, or null if there is no such frame.
export function liveFrame(id) {
  const bitmap = frames.get(id);
  if (!bitmap) return null;
  const { width, height } = bitmap;
  const [film] = id.split(" ");
  return { id, film, title: "live", credit: "", hint: "", start: undefined, width, height, file: async () => bitmap };
}

// place: element for a line that says that the camera runs; modelFor(wanted): a promise of the model to use;
// back(): shows the chosen picture again.
export function createLive({ lens, place, modelFor, back: onReturn }) {
  let runningSession = null; // {picture: the choice when the session began, film: its id, frames: their number, end()}
  let filmCount = 0;

  async function begin() {
    stopSession();
    document.documentElement.classList.add("live-runs");
    const session = { picture: chosenPicture(), film: `live-${++filmCount}`, frames: 0, end: () => {} };
    runningSession = session;
    try {
      const { video, end: stopStream } = await openCamera();
      session.end = stopStream;
      if (runningSession !== session) return stopStream();
      const line = writeLine(place, video, () => leaveSession());
      session.end = () => {
        line.remove();
        stopStream();
      };
      await runFrames(session, video, line);
    } catch (error) {
      if (runningSession !== session) return;
      leaveSession();
      notify(wordsOfTrouble(error));
    }
  }

  async function runFrames(session, video, line) {
    const frameTimes = [];
    let [frameAhead, model, formerId] = [null, null, null];
    while (runningSession === session) {
      const isHeld = lens.view.locked && formerId;
      line.setFrozen(isHeld);
      if (isHeld || document.hidden || video.readyState < 2) {
        await waitFor(FROZEN_CHECK_MS);
        continue;
      }
      const { id, trace } = await (frameAhead ?? frameOf(session, video));
      line.writeModel(trace.title);
      const view = trace.model === model ? null : firstView(trace.model, formerId);
      const shownView = await lens.show({ main: trace, view });
      frames.delete(formerId);
      [formerId, model] = [id, shownView ? trace.model : model];
      // Computes the next frame while this one is drawn.
      frameAhead = runningSession === session && !lens.view.locked ? frameOf(session, video) : null;
      frameAhead?.catch(() => {}); // the error is handled when the frame is awaited
      await nextFrame();
      frameTimes.push(performance.now());
      while (frameTimes.at(-1) - frameTimes[0] > RATE_WINDOW) frameTimes.shift();
      line.writeRate(frameTimes);
    }
    for (const id of frames.keys()) if (id.startsWith(`${session.film} `)) frames.delete(id);
  }

  // Takes a frame and starts the model on it.
  async function frameOf(session, video) {
    const model = await modelFor(choice.now.model);
    const id = `${session.film} ${++session.frames}`;
    const picture = await pictureOfFrame(video);
    if (runningSession !== session) throw new Error("It was stopped."); // a frame stored now would never be deleted
    frames.set(id, picture);
    const trace = { ...(await source.open({ mine: id, model, first: "yes" })), sparing: true, offers: ["layers"] };
    const { view } = lens;
    if (model === lens.read()?.model && view.layer !== null) source.layers(trace, [view.layer]).catch(() => {});
    return { id, trace };
  }

  // The view of the first frame in a model: the present view, unlocked, if the picture before was in this model; else
  // {}, because layers differ between models.
  const firstView = (model, formerFrame) =>
    formerFrame || model !== lens.read()?.model ? {} : { ...lens.view, locked: false };

  function stopSession() {
    runningSession?.end();
    runningSession = null;
    document.documentElement.classList.remove("live-runs");
  }
  function leaveSession() {
    stopSession();
    onReturn();
  }

  return {
    camera: begin,
    stop: stopSession,
    // Whether the film goes on after a new choice, as it does if the chosen picture stays the same.
    goesOn() {
      if (!runningSession) return false;
      if (runningSession.picture === chosenPicture() && !choice.now.beside) return true;
      stopSession();
      return false;
    },
  };
}

const chosenPicture = () => choice.now.mine ?? choice.now.sample;
const waitFor = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const nextFrame = () => Promise.race([new Promise((resolve) => requestAnimationFrame(resolve)), waitFor(200)]);

function pictureOfFrame(video) {
  const { videoWidth: width, videoHeight: height } = video;
  const ratio = Math.min(1, MOST_WIDTH / width);
  const [resizeWidth, resizeHeight] = [width, height].map((side) => Math.max(1, Math.round(side * ratio)));
  return createImageBitmap(video, { resizeWidth, resizeHeight, resizeQuality: "medium" });
}

async function openCamera() {
  const stream = await navigator.mediaDevices
    ?.getUserMedia({ video: { facingMode: "user", width: { ideal: MOST_WIDTH } } })
    .catch(() => null);
  if (!stream) throw Object.assign(new Error(NO_CAMERA), { says: NO_CAMERA });
  const video = make("video", { srcObject: stream, muted: true, playsInline: true });
  await video.play();
  return { video, end: () => stream.getTracks().forEach((track) => track.stop()) };
}

// Writes a line with the small video and a sentence that the camera runs.
function writeLine(place, video, onStop) {
  const [label, count] = [make("span"), make("span", { "aria-live": "off" })];
  const button = make("button", { onclick: onStop }, "Stop");
  const line = make("div", { className: "live-line", role: "status" }, make("i"), video, label, count, button);
  place.prepend(line);
  return {
    remove: () => line.remove(),
    writeModel(model) {
      const sentence = `The camera runs, in ${model}. Nothing is kept or sent.`;
      if (label.textContent !== sentence) label.textContent = sentence;
    },
    setFrozen: (isFrozen) => {
      line.classList.toggle("frozen", Boolean(isFrozen));
      if (isFrozen) count.textContent = "frozen: click the patch again to go on";
    },
    writeRate: (frameTimes) => {
      const seconds = (frameTimes.at(-1) - frameTimes[0]) / 1000;
      count.textContent = seconds > 0 ? `${((frameTimes.length - 1) / seconds).toFixed(1)} pictures a second` : "";
    },
  };
}
