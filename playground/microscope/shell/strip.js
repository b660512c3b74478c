// A person's own photographs in a row, the latest first, then the samples; and a picture that is dropped or pasted
// anywhere on the page.
//
// data: {samples: [{name, title, hint, src}], chosen: a sample's name, or "mine:" and the id of one's own,
//        own: [{id, title, src}] that the server has, uploads: the path under which it takes files of this session}
// Out go the triggers "pick" (a sample's name, "mine:" and an id, or "forget:") and "photo" ({name, file, stamp}: the
// file itself went before, as an upload, for messages are short). If there is a microscope on the page, it sends them
// instead and answers without a rerun of the page; what to show as chosen then comes from it.
//
// Own photographs stay in the browser (album.js). The server keeps the last few; one that it has not is sent again when
// it is chosen.

import { emptyAlbum, keepPhotograph, MOST, readAlbum } from "./album.js";
import { createSender } from "./resend.js";
import { UPLOADER, uploadFile } from "./streamlitparts.js";

const SENT_AS_IT_IS = 8e6; // bytes; a larger file is shrunk here first, which takes less time than to send it
const MOST_SENT = 32e6; // as large as an upload may be
const LONGEST_SIDE = 2048;
const NEXT_SERVER = 15000; // ms until it has drawn the page
const LONGEST_NAME = 60; // letters of a file's name; the server cuts there too
const MINE = "mine:",
  FORGET = "forget:";

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("[data-strip]") ?? parentElement;
  let kept = parentElement.__strip;
  if (!kept) {
    kept = parentElement.__strip = Object.seal({
      root,
      data: null, //        what came last, from Streamlit
      shown: null, //       what is shown: that, or what the microscope has said since
      album: [], //         the person's photographs, see album.js
      sent: null, //        {blob, title} of what was sent last, until the server has named it; `to` which `uploads`
      say: null, //         Streamlit's setTriggerValue
      sender: createSender(() => kept.say),
      tell: null, //        gives a choice to the microscope or to the sender
      stop: new AbortController(), // of the listeners on the document
    });
    listen(kept);
    readAlbum().then((album) => {
      kept.album = [...album, ...kept.album];
      if (kept.shown) show(kept, kept.shown);
    });
  }
  kept.say = setTriggerValue;
  kept.tell = (what, value) => {
    const taken = !document.dispatchEvent(
      new CustomEvent("attention-chosen", { detail: { what, value }, cancelable: true }),
    );
    if (!taken) kept.sender.send(what, value);
  };
  if (root.dataset.built !== String(data.samples.length)) build(root, data, kept);
  if (data !== kept.data) {
    show(kept, (kept.data = data)); // old data would undo what the microscope has said since
    if (kept.sent?.to && kept.sent.to !== data.uploads) bring(kept, kept.sent); // that server is gone
  }
  return () => {
    kept.stop.abort();
    kept.sender.stop();
    delete parentElement.__strip;
  };
}

// Done once, because a button that is made again loses the keyboard's focus, and its picture flickers.
function build(root, data, kept) {
  const buttons = data.samples.map((sample) =>
    thumbnail({ ...sample, title: `${sample.title}. ${sample.hint}` }, () => kept.tell("pick", sample.name)),
  );
  const mine = document.createElement("span"),
    words = document.createElement("span");
  mine.className = "mine";
  Object.assign(words, { className: "own", title: "Drop or paste a picture anywhere on this page" });
  const name = document.createElement("h1");
  name.append("Attention", document.createElement("br"), "Playground");
  root.replaceChildren(name, mine, ...buttons, words);
  root.dataset.built = data.samples.length;
  root.addEventListener("keydown", walk);
}

function thumbnail({ name, title, src }, choose) {
  const button = document.createElement("button");
  const image = document.createElement("img");
  Object.assign(image, { src, alt: title, draggable: false });
  button.title = title;
  button.dataset.sample = name;
  button.append(image);
  button.addEventListener("click", choose);
  return button;
}

function show(kept, data) {
  const { root } = kept;
  kept.shown = data;
  keepWhatWasSent(kept, data);
  const known = new Set(kept.album.map((photograph) => photograph.id));
  showMine(kept, [...kept.album, ...data.own.filter((own) => !known.has(own.id))].slice(-MOST));
  for (const button of root.querySelectorAll("button"))
    button.setAttribute("aria-pressed", String(button.dataset.sample === data.chosen));
  const own = data.own.find(({ id }) => data.chosen === MINE + id);
  const words = root.querySelector(".own");
  words.textContent = own ? `yours: ${own.title}` : "or drop yours";
  words.classList.toggle("invites", !own);
  makeOneStop(root);
}

// The Tab key stops once at the strip, at the chosen picture; inside, the arrow keys move.
function makeOneStop(root) {
  const pictures = [...root.querySelectorAll("[data-sample]")];
  const stop = pictures.find((button) => button.getAttribute("aria-pressed") === "true") ?? pictures[0];
  for (const button of pictures) button.tabIndex = button === stop ? 0 : -1;
}

function walk(event) {
  const pictures = [...event.currentTarget.querySelectorAll("[data-sample]")];
  const from = pictures.indexOf(event.target);
  const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: pictures.length - 1 }[event.key];
  if (from < 0 || !pictures[to]) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  pictures[to].tabIndex = 0;
  pictures[to].focus();
}

// The server has opened the file: it has a name, a small picture, and a place in the album.
function keepWhatWasSent(kept, data) {
  const own = data.own.find(({ id }) => data.chosen === MINE + id);
  if (!own || !kept.sent || kept.sent.title !== own.title) return;
  const photograph = { ...own, blob: kept.sent.blob, when: Date.now() };
  kept.sent = null;
  kept.album = [...kept.album.filter(({ id }) => id !== own.id), photograph].slice(-MOST);
  keepPhotograph(photograph);
}

function showMine(kept, photographs) {
  const mine = kept.root.querySelector(".mine");
  const ids = photographs.map(({ id }) => id).join(" ");
  if (mine.dataset.ids === ids) return;
  const more = photographs.length > mine.querySelectorAll("[data-sample]").length;
  mine.dataset.ids = ids;
  const buttons = photographs
    .toReversed()
    .map(({ id, title, src }) => thumbnail({ name: MINE + id, title: `Yours: ${title}`, src }, () => choose(kept, id)));
  const forget = document.createElement("button");
  Object.assign(forget, { className: "forget", textContent: "×" });
  forget.title = "Forget your photographs: they are kept in this browser only";
  forget.setAttribute("aria-label", "Forget your photographs");
  forget.addEventListener("click", () => forgetAll(kept));
  mine.replaceChildren(...buttons, ...(photographs.length ? [forget] : []));
  makeOneStop(kept.root);
  if (more) buttons[0].scrollIntoView({ block: "nearest", inline: "nearest" });
}

function choose(kept, id) {
  const photograph = kept.album.find((one) => one.id === id);
  if (!photograph || kept.shown.own.some((own) => own.id === id)) kept.tell("pick", MINE + id);
  else send(kept, new File([photograph.blob], photograph.title, { type: photograph.blob.type }));
}

function forgetAll(kept) {
  kept.album = [];
  emptyAlbum();
  kept.tell("pick", FORGET + Date.now());
  show(kept, { ...kept.shown, own: [] });
}

function listen(kept) {
  const { signal } = kept.stop;
  const take = (files, event) => {
    const file = [...files].find((f) => f.type.startsWith("image/")) ?? files[0];
    if (!file) return;
    event.preventDefault();
    event.stopPropagation();
    send(kept, file);
  };
  const inUploader = (event) => event.composedPath().some((e) => e.dataset?.testid === UPLOADER);
  document.addEventListener("attention-shown", ({ detail }) => show(kept, detail), { signal });
  const remember = (files) => {
    if (!files?.length) return;
    kept.sent = { blob: files[0], title: files[0].name.slice(0, LONGEST_NAME) }; // Streamlit's uploader sends it itself
    if (files[0].size <= MOST_SENT) document.dispatchEvent(new CustomEvent("attention-coming")); // else it refuses
  };
  document.addEventListener("change", (event) => inUploader(event) && remember(event.target.files), { signal });
  // Says where a file may be dropped, from the moment when it comes over the page until it leaves or falls.
  const invite = (on) => document.documentElement.classList.toggle("takes-a-picture", on);
  const dragged = (event) => {
    if (inUploader(event)) return;
    event.preventDefault();
    if (event.dataTransfer?.types.includes("Files")) invite(true);
  };
  document.addEventListener("dragover", dragged, { signal });
  document.addEventListener("dragleave", (event) => event.relatedTarget ?? invite(false), { signal });
  document.addEventListener("drop", () => invite(false), { signal, capture: true });
  document.addEventListener(
    "drop",
    (event) => {
      if (inUploader(event)) remember(event.dataTransfer.files);
      else take(event.dataTransfer.files, event);
    },
    { signal },
  );
  document.addEventListener("paste", (event) => take(event.clipboardData.files, event), { signal });
}

async function send(kept, file) {
  document.dispatchEvent(new CustomEvent("attention-coming"));
  const blob = file.size <= SENT_AS_IT_IS ? file : await shrunk(file);
  const title = (file.name || "pasted picture").slice(0, LONGEST_NAME);
  kept.sent = { blob, title, to: null };
  await bring(kept, kept.sent);
}

// Where it does not arrive, the server may be gone: the next one draws the page, and then it is brought there. If none
// does, this one says that nothing arrived.
async function bring(kept, sent) {
  const to = (sent.to = kept.data.uploads);
  const { file, arrived } = await uploadFile(to, sent.blob, sent.title);
  if (!arrived) await new Promise((go) => setTimeout(go, NEXT_SERVER));
  if (kept.sent === sent && sent.to === to) kept.tell("photo", { name: sent.title, file, stamp: Date.now() });
}

async function shrunk(file) {
  try {
    const bitmap = await createImageBitmap(file);
    const factor = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
    const canvas = new OffscreenCanvas(Math.round(bitmap.width * factor), Math.round(bitmap.height * factor));
    canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    return await canvas.convertToBlob({ type: "image/jpeg", quality: 0.92 });
  } catch {
    return file.size <= MOST_SENT ? file : file.slice(0, SENT_AS_IT_IS); // the server says what is wrong with it
  }
}
