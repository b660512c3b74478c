// Scenes in the lens: the sheet that lists them, and the steps from one to the next. Where they are kept is the host's
// business; without one that keeps them there is no sheet.

import {
  LONGEST_NAME,
  moveScene,
  openScene,
  readScenes,
  renameScene,
  sceneAddress,
  sceneAfter,
  writeScenes,
} from "../core/view.js";
import { say, show } from "../drawing/dom.js";
import { putOnClipboard } from "./saving.js";

export function bindScenes(lens) {
  const { refs } = lens;
  refs.sceneAdd.addEventListener("click", () => {
    const { list } = lens.scenes;
    changeScenes(lens, [...list, { name: sceneName(lens), address: sceneAddress(lens.place, lens.view) }], list.length);
    refs.sceneList.lastElementChild?.scrollIntoView({ block: "nearest" });
  });
  refs.sceneLink.addEventListener("click", () => shareScenes(lens));
  refs.sceneList.addEventListener("click", (event) => {
    const act = event.target.closest("[data-scene-act]")?.dataset.sceneAct;
    const item = event.target.closest("li");
    if (!act || !item) return;
    const { list, at } = lens.scenes;
    const place = Number(item.dataset.place);
    if (act === "go") return showScene(lens, place);
    const shown = list[at];
    const next = act === "drop" ? list.toSpliced(place, 1) : moveScene(list, place, Number(act));
    changeScenes(lens, next, next.indexOf(shown));
  });
  // Kept letter by letter, so that nothing typed is lost; the list is not drawn again under the hands that type.
  refs.sceneList.addEventListener("input", (event) => {
    const place = Number(event.target.closest("li").dataset.place);
    keepList(lens, renameScene(lens.scenes.list, place, event.target.value));
  });
  // What is typed into a name is no shortcut. Enter ends the typing.
  refs.sceneList.addEventListener("keydown", (event) => {
    if (event.target.tagName !== "INPUT") return;
    if (event.key !== "Escape") event.stopPropagation();
    if (event.key === "Enter") event.target.blur();
  });
}

// Called when the lens is there and at every run of the page, for the list may have changed elsewhere. If it has not,
// its elements stay: somebody may be typing into one, or have the mouse's button down on another.
export function readKept(lens) {
  show(lens.refs.scenes, Boolean(lens.host.scenes));
  if (!lens.host.scenes) return;
  const list = readScenes(lens.host.scenes.read());
  const text = writeScenes(list);
  if (text === lens.scenes.kept) return;
  Object.assign(lens.scenes, { list, kept: text });
  writeList(lens);
}

// A clicker's keys. False where there is nothing to step through.
export function stepScene(lens, by) {
  const { list, at } = lens.scenes;
  if (!list.length) return false;
  const to = sceneAfter(at, by, list.length);
  if (to !== at) showScene(lens, to);
  return true;
}

// "2 / 5 · ", or nothing.
export const sceneWords = ({ scenes: { list, at } }) => (list[at] ? `${at + 1} / ${list.length} · ` : "");

function showScene(lens, place) {
  const { scenes } = lens;
  const { address } = scenes.list[place];
  const scene = openScene(address);
  scenes.at = place;
  writeList(lens);
  if (scene.place === (scenes.heading ?? lens.place)) return lens.showView(scene.view); // at once, without the server
  scenes.heading = scene.place;
  lens.host.scenes.show(address);
}

function changeScenes(lens, list, at) {
  keepList(lens, list);
  lens.scenes.at = at;
  writeList(lens);
  lens.schedule();
}

function keepList(lens, wanted) {
  const list = readScenes(writeScenes(wanted)); // within the bounds
  const kept = writeScenes(list);
  Object.assign(lens.scenes, { list, kept });
  lens.host.scenes.write(kept);
}

const sceneName = (lens) =>
  [
    lens.main.picture.title,
    `layer ${lens.view.layer}, head ${lens.main.pack.headNumbers[lens.view.head]}`,
    { on: "", off: "no scale" }[lens.view.scale] ?? `scale ${lens.view.scale}`,
  ]
    .filter(Boolean)
    .join(" · ");

function writeList(lens) {
  const { list, at } = lens.scenes;
  lens.refs.sceneList.replaceChildren(...list.map((scene, place) => sceneItem(scene, place, place === at)));
  show(lens.refs.sceneLink, list.length > 0);
  say(
    lens.refs.sceneNote,
    list.length
      ? "Page Down and Page Up step through them, as a clicker does; in Present the arrow keys too. " +
          "They are kept in this browser."
      : "Save views in the order in which you want to show them; then step through them with a clicker.",
  );
}

function sceneItem({ name }, place, shown) {
  const item = document.createElement("li");
  item.dataset.place = place;
  item.classList.toggle("shown", shown);
  const input = document.createElement("input");
  Object.assign(input, { value: name, maxLength: LONGEST_NAME, spellcheck: false });
  input.setAttribute("aria-label", `Name of scene ${place + 1}`);
  item.append(
    sceneButton("go", String(place + 1), `Show scene ${place + 1}`),
    input,
    sceneButton("-1", "↑", `Move scene ${place + 1} up`),
    sceneButton("1", "↓", `Move scene ${place + 1} down`),
    sceneButton("drop", "×", `Delete scene ${place + 1}`),
  );
  return item;
}

function sceneButton(act, text, label) {
  const button = document.createElement("button");
  button.dataset.sceneAct = act;
  Object.assign(button, { textContent: text, title: label });
  button.setAttribute("aria-label", label);
  return button;
}

async function shareScenes(lens) {
  const link = `${location.href.split("#")[0]}#scenes=${encodeURIComponent(writeScenes(lens.scenes.list))}`;
  const copied = await putOnClipboard(lens, link);
  say(lens.refs.message, copied ? "Link to your scenes copied." : link);
  setTimeout(() => say(lens.refs.message, ""), copied ? 4000 : 20000);
}
