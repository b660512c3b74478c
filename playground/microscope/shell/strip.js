// The samples in a row, and a picture that is dropped or pasted anywhere on the page.
//
// data: {samples: [{name, title, hint, src}], chosen: a name, or "mine" for the person's own picture,
//        own: {title, src} or null}
// Out go the triggers "pick" (a sample's name) and "photo" ({name, data: base64, stamp}). If there is a microscope on
// the page, it sends them instead and answers without a rerun of the page; what to show as chosen then comes from it.

import { createSender } from "./resend.js";

const SENT_AS_IT_IS = 8e6; // bytes; a larger file is shrunk here first, because it travels inside a message
const MOST_SENT = 32e6; // as large as an upload may be
const LONGEST_SIDE = 2048;

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("[data-strip]") ?? parentElement;
  let kept = parentElement.__strip;
  if (!kept) {
    kept = parentElement.__strip = Object.seal({
      root,
      data: null, //        what came last
      say: null, //         Streamlit's setTriggerValue
      sender: createSender(() => kept.say),
      tell: null, //        gives a choice to the microscope or to the sender
      stop: new AbortController(), // of the listeners on the document
    });
    listen(kept);
  }
  kept.say = setTriggerValue;
  kept.tell = (what, value) => {
    const taken = !document.dispatchEvent(
      new CustomEvent("attention-chosen", { detail: { what, value }, cancelable: true }),
    );
    if (!taken) kept.sender.send(what, value);
  };
  if (root.childElementCount !== data.samples.length + 3) build(root, data, kept);
  if (data !== kept.data) show(root, (kept.data = data)); // old data would undo what the microscope has said since
  return () => {
    kept.stop.abort();
    kept.sender.stop();
    delete parentElement.__strip;
  };
}

// Done once, because a button that is made again loses the keyboard's focus, and its picture flickers.
function build(root, data, kept) {
  const mine = { name: "mine", title: "", hint: "", src: "" }; // hidden as long as there is none
  const buttons = [...data.samples, mine].map((sample) => {
    const button = document.createElement("button");
    const image = document.createElement("img");
    Object.assign(image, { src: sample.src, alt: sample.title, draggable: false });
    Object.assign(button, { title: `${sample.title}. ${sample.hint}` });
    button.dataset.sample = sample.name;
    button.append(image);
    button.addEventListener("click", () => kept.tell("pick", sample.name));
    return button;
  });
  const words = document.createElement("span");
  Object.assign(words, { className: "own", title: "Drop or paste a picture anywhere on this page" });
  const name = document.createElement("h1");
  name.append("Attention", document.createElement("br"), "Playground");
  root.replaceChildren(name, ...buttons, words);
}

function show(root, data) {
  for (const button of root.querySelectorAll("button"))
    button.setAttribute("aria-pressed", String(button.dataset.sample === data.chosen));
  const mine = root.querySelector('[data-sample="mine"]');
  mine.hidden = !data.own;
  if (data.own && mine.firstChild.src !== data.own.src) {
    mine.title = `Yours: ${data.own.title}`;
    Object.assign(mine.firstChild, { src: data.own.src, alt: mine.title });
    mine.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  root.querySelector(".own").textContent = data.chosen === "mine" ? `yours: ${data.own.title}` : "or drop yours";
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
  const inUploader = (event) => event.composedPath().some((e) => e.dataset?.testid === "stFileUploader");
  document.addEventListener("attention-shown", ({ detail }) => show(kept.root, detail), { signal });
  document.addEventListener("dragover", (event) => inUploader(event) || event.preventDefault(), { signal });
  document.addEventListener("drop", (event) => inUploader(event) || take(event.dataTransfer.files, event), { signal });
  document.addEventListener("paste", (event) => take(event.clipboardData.files, event), { signal });
}

async function send(kept, file) {
  const blob = file.size <= SENT_AS_IT_IS ? file : await shrunk(file);
  const reader = new FileReader();
  reader.onload = () =>
    kept.tell("photo", { name: file.name || "pasted picture", data: reader.result.split(",")[1], stamp: Date.now() });
  reader.readAsDataURL(blob);
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
