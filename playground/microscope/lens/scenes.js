// Saved scenes: the sheet that lists them, and keys that step through them. The host stores the scenes; if it does not,
// there is no sheet.

import { LONGEST_NAME, moveScene, readSceneAddress, readScenes, sceneAddress, writeScenes } from "../core/view.js";
import { make, setText, setVisible } from "../drawing/dom.js";

export function bindScenes(lens) {
  const { choice, data, refs } = lens;
  refs.sceneAdd.addEventListener("click", () => {
    const { list } = data.scenes;
    changeScenes(
      lens,
      [...list, { name: sceneName(lens), address: sceneAddress(choice.place, choice.view) }],
      list.length,
    );
    refs.sceneList.lastElementChild?.scrollIntoView({ block: "nearest" });
  });
  refs.sceneList.addEventListener("click", (event) => {
    const action = event.target.closest("[data-scene-act]")?.dataset.sceneAct;
    const item = event.target.closest("li");
    if (!action || !item) return;
    const { list } = data.scenes;
    const index = Number(item.dataset.place);
    if (action === "go") return showScene(lens, index);
    const currentScene = list[choice.scene.at];
    const changedList = action === "drop" ? list.toSpliced(index, 1) : moveScene(list, index, Number(action));
    changeScenes(lens, changedList, changedList.indexOf(currentScene));
  });
  // A new name is saved at every letter; the list is not redrawn while a person types.
  refs.sceneList.addEventListener("input", (event) => {
    const index = Number(event.target.closest("li").dataset.place);
    saveList(data, data.scenes.list.with(index, { ...data.scenes.list[index], name: event.target.value }));
  });
  // Typing a name triggers no shortcut. Enter ends the typing.
  refs.sceneList.addEventListener("keydown", (event) => {
    if (event.target.tagName !== "INPUT") return;
    if (event.key !== "Escape") event.stopPropagation();
    if (event.key === "Enter") event.target.blur();
  });
}

// Reads the stored scenes, when the lens is ready and at every run of the page, because another tab may have changed
// the list. An unchanged list keeps its elements, because a person may be typing or clicking there.
export function readSavedScenes(lens) {
  const { data, page } = lens;
  setVisible(page.refs.scenes, Boolean(data.host.scenes));
  if (!data.host.scenes) return;
  const list = readScenes(data.host.scenes.read());
  const text = writeScenes(list);
  if (text === data.scenes.kept) return;
  Object.assign(data.scenes, { list, kept: text });
  writeList(lens);
}

// Steps through the scenes with a presenter's keys. Returns false if there are no scenes.
export function stepScene(lens, step) {
  const { choice, data } = lens;
  const { list } = data.scenes,
    { at: position } = choice.scene;
  if (!list.length) return false;
  const last = list.length - 1;
  const nextPosition = position < 0 ? (step > 0 ? 0 : last) : Math.min(last, Math.max(0, position + step));
  if (nextPosition !== position) showScene(lens, nextPosition);
  return true;
}

// The number of the shown scene, as "2 / 5 · "; "" if no scene is shown.
export const sceneWords = ({
  choice: {
    scene: { at: position },
  },
  data: {
    scenes: { list },
  },
}) => (list[position] ? `${position + 1} / ${list.length} · ` : "");

function showScene(lens, index) {
  const { choice, data, page } = lens;
  const { address } = data.scenes.list[index];
  const scene = readSceneAddress(address);
  choice.scene.at = index;
  writeList(lens);
  if (scene.place === (choice.scene.heading ?? choice.place)) return page.showView(scene.view); // needs no new trace
  choice.scene.heading = scene.place;
  data.host.scenes.show(address);
}

function changeScenes(lens, list, position) {
  const { choice, data, page } = lens;
  saveList(data, list);
  choice.scene.at = position;
  writeList(lens);
  page.schedule();
}

function saveList(data, scenes) {
  const list = readScenes(writeScenes(scenes)); // readScenes drops scenes that are too many or too long
  const text = writeScenes(list);
  Object.assign(data.scenes, { list, kept: text });
  data.host.scenes.write(text);
}

const sceneName = ({ choice, data }) =>
  [
    data.main.picture.title,
    `layer ${choice.view.layer}, head ${data.main.pack.headNumbers[choice.view.head]}`,
    { on: "", off: "no scale" }[choice.view.scale] ?? `scale ${choice.view.scale}`,
  ]
    .filter(Boolean)
    .join(" · ");

function writeList({ choice, data, page }) {
  const { list } = data.scenes,
    { at: position } = choice.scene;
  page.refs.sceneList.replaceChildren(...list.map((scene, index) => sceneItem(scene, index, index === position)));
  setText(
    page.refs.sceneNote,
    list.length
      ? "Page Down and Page Up step through them, as a clicker does; in Present the arrow keys too. " +
          "They are kept in this browser."
      : "Save views in the order in which you want to show them; then step through them with a clicker.",
  );
}

function sceneItem({ name: value }, index, isShown) {
  const label = { "aria-label": `Name of scene ${index + 1}` };
  const input = make("input", { value, maxLength: LONGEST_NAME, spellcheck: false, ...label });
  const buttons = [
    ["-1", "↑", `Move scene ${index + 1} up`],
    ["1", "↓", `Move scene ${index + 1} down`],
    ["drop", "×", `Delete scene ${index + 1}`],
  ].map((texts) => sceneButton(...texts));
  const go = sceneButton("go", String(index + 1), `Show scene ${index + 1}`);
  return make("li", { className: isShown ? "shown" : "", "data-place": index }, go, input, ...buttons);
}

const sceneButton = (action, text, label) =>
  make("button", { title: label, "aria-label": label, "data-scene-act": action }, text);
