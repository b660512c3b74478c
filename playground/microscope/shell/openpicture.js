// Opens an own picture: a chosen file, a photograph by the camera, a dropped or pasted file; or a labelled small
// picture by its number.

import { make } from "../drawing/dom.js";
import { seeWords } from "../lens/words.js";
import { onlyThisTab } from "./http.js";
import { MOST_PHOTOGRAPHS, ownPictures } from "./own.js";
import { createIcon } from "./toolbarparts.js";

// A computer's camera; the browser asks for permission only when the button is pressed. (Phones use a file input with
// `capture`, below.)

// Replaces `button` by the camera's picture and a button that takes a photograph. onFiles(file) receives the
// photograph. words(key): the sentences of See in the reader's language
export async function startCamera(button, onFiles, signal, words) {
  button.disabled = true;
  let stream = null;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  } catch {
    return button.replaceWith(make("p", { className: "trouble", role: "alert" }, words("noCamera")));
  }
  const stopStream = () => stream.getTracks().forEach((track) => track.stop());
  if (signal.aborted) return stopStream(); // the sheet was closed in the meantime
  signal.addEventListener("abort", stopStream);
  const fields = { srcObject: stream, autoplay: true, muted: true, playsInline: true, className: "camera" };
  const video = make("video", fields);
  const shutterButton = make("button", { className: "wide main", disabled: true }, words("takePhoto"));
  video.onloadeddata = () => {
    shutterButton.disabled = false;
    shutterButton.focus({ preventScroll: true });
  };
  shutterButton.onclick = () => fileOfFrame(video).then(onFiles);
  button.replaceWith(video, shutterButton);
}

async function fileOfFrame(video) {
  const canvas = make("canvas", { width: video.videoWidth, height: video.videoHeight });
  canvas.getContext("2d").drawImage(video, 0, 0);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.92));
  return new File([blob], "camera.jpg", { type: blob.type });
}

const ACCEPTED_TYPES = "image/*,.heic,.heif,.avif,.trace";
const PICTURE_TYPE = /^image\//,
  PICTURE_NAME = /\.(heic|heif|avif|trace)$/i; // browsers that do not know these formats report no type

// The pictures among `files`. If no file looks like a picture, only the first file, so that the server reports the
// error.
export function picturesAmong(files) {
  const fileList = [...(files ?? [])];
  const pictures = fileList.filter((file) => PICTURE_TYPE.test(file.type) || PICTURE_NAME.test(file.name));
  return (pictures.length ? pictures : fileList.slice(0, 1)).slice(0, MOST_PHOTOGRAPHS);
}

// labelled: {count, word: the key of a line about them} of numbered pictures; kept: the key of a sentence on privacy.
export function fillOpenPicture(box, { take: onFiles, labelled, takeLabelled, kept = "keptApp", signal, language }) {
  const words = (key, values) => seeWords(language, key, values);
  const onPhone = matchMedia("(pointer: coarse)").matches;
  const chooser = fileButton(words(onPhone ? "choosePictures" : "chooseFiles"), "picture", onFiles);
  chooser.input.multiple = true;
  if (onPhone) {
    const photograph = fileButton(words("takePhoto"), "camera", onFiles);
    photograph.input.setAttribute("capture", "environment");
    box.append(photograph.label, chooser.label);
  } else {
    box.append(chooser.label);
    if (navigator.mediaDevices?.getUserMedia) box.append(cameraButton(onFiles, signal, words)); // missing without https
    box.append(noteLine(words("dropNote")));
  }
  if (labelled?.count) box.append(numberChooser(labelled, takeLabelled, words, language));
  box.append(noteLine(words(onlyThisTab() || !ownPictures.isStored ? "notKept" : kept)));
}

function fileButton(words, icon, onFiles) {
  const input = make("input", { type: "file", accept: ACCEPTED_TYPES, className: "unseen" });
  input.onchange = () => onFiles([...input.files]);
  return { label: make("label", "wide", createIcon(icon), words, input), input };
}

function cameraButton(onFiles, signal, words) {
  const button = make("button", "wide", createIcon("camera"), words("useCamera"));
  button.onclick = () => startCamera(button, (file) => onFiles([file]), signal, words);
  return button;
}

const noteLine = (words) => make("p", "note", words);

// A field that chooses a picture by its number.
function numberChooser({ count, word }, takeLabelled, words, language) {
  const title = words(word, { count: count.toLocaleString(language) });
  const legend = make("legend", "", title);
  const line = noteLine("");
  line.setAttribute("role", "status");
  const range = { min: 0, max: count - 1, step: 1, value: 0 };
  const input = make("input", { type: "number", ...range, "aria-label": title });
  // While a picture is loading, only the latest requested number is remembered.
  let [wantedNumber, isBusy] = [null, false];
  const openWanted = async () => {
    isBusy = true;
    while (wantedNumber !== null) {
      const number = wantedNumber;
      wantedNumber = null;
      line.textContent = await takeLabelled(number).then(
        ({ title }) => title,
        (trouble) => trouble.says ?? words("notArrived"),
      );
    }
    isBusy = false;
  };
  input.addEventListener("change", () => {
    wantedNumber = Math.max(0, Math.min(count - 1, Math.round(Number(input.value)) || 0));
    input.value = wantedNumber;
    if (!isBusy) openWanted();
  });
  return make("fieldset", "", legend, input, line);
}

const INVITATION_STYLE =
  "position: fixed; inset: 0; z-index: 1000; display: grid; place-items: center; pointer-events: none; " +
  "border: 6px dashed #0072b2; background: rgb(0 114 178 / 0.22); font: 600 2rem system-ui";

// Takes files dropped or pasted anywhere on the page. While a file is dragged, the page shows an invitation.
export function takeDroppedAndPasted(onFiles, isWanted, words) {
  const invitation = make("div", { style: INVITATION_STYLE });
  const showInvitation = (isOverPage) => {
    document.documentElement.classList.toggle("takes-a-picture", isOverPage);
    invitation.textContent = words("dropHere");
    if (isOverPage) document.body.append(invitation);
    else invitation.remove();
  };
  const takeFrom = (transfer, event) => {
    if (!isWanted() || event.defaultPrevented || !transfer?.files.length) return;
    event.preventDefault();
    event.stopPropagation();
    onFiles([...transfer.files]);
  };
  const onDragOver = (event) => {
    if (!isWanted() || ![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault(); // otherwise the browser would leave the page for the file
    showInvitation(true);
  };
  document.addEventListener("dragover", onDragOver);
  document.addEventListener("dragleave", (event) => event.relatedTarget ?? showInvitation(false));
  document.addEventListener("drop", () => showInvitation(false), { capture: true });
  document.addEventListener("drop", (event) => takeFrom(event.dataTransfer, event));
  document.addEventListener("paste", (event) => takeFrom(event.clipboardData, event));
}
