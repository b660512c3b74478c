// The sheet of Export: a preview of the figure, the options for it, and the download. The server lists all options and
// the chosen ones (/api/exports, see playground/serving/routes_figures.py).

import { make, setText, setVisible } from "../drawing/dom.js";
import { downloadFile } from "../lens/saving.js";
import { addressOf, askAgain } from "./http.js";
import { ownPictures } from "./own.js";

const COPIED_DURATION = 2000; // ms
const EXPORT_HEADINGS = {
  kind: "As",
  table: "File",
  held: "Holding",
  layout: "Showing",
  width: "For",
  background: "Background",
  map: "Colours",
  caption: "caption",
};
const LOOK_OPTIONS = ["layout", "width", "background", "map", "caption"];
const CHOICES_OF_KIND = { html: ["kind", "held"], numbers: ["kind", "table", "layout"] };
const choicesOfExport = (kind) => CHOICES_OF_KIND[kind] ?? ["kind", ...LOOK_OPTIONS];

const exportOptions = {}; // the options that the person chose last; the next sheet begins with them

// The query of /api/exports: the view, and those chosen options that this kind of file has.
function wordsOfExport(words, theme) {
  const { kind } = exportOptions;
  const options = choicesOfExport(kind).map((name) => [name, exportOptions[name]]);
  if (kind === "html" && theme === "dark") options.push(["theme", theme]); // otherwise the reader's system decides
  const entries = [...Object.entries(words), ...options];
  return new URLSearchParams(entries.filter(([, value]) => value !== null && value !== undefined));
}

// words: parameters of choice and view; share(): opens the sheet that makes loops.
export function fillExport(box, { words, ask: sendRequest, theme, share, signal: closing }) {
  let lastAnswer = null; // the server's last answer
  let request = new AbortController(); // of the running preview
  let isSaving = false; // whether a download is running

  const frame = make("div", "export-preview");
  const button = make("button", { className: "export-download", disabled: true, onclick: download }, "Download");
  const status = make("p", { className: "export-status", role: "status" });
  const still = "A loop, or a still picture, made in this browser";
  const shareButton = make("button", { className: "export-share", onclick: share }, still);
  const controls = Object.keys(EXPORT_HEADINGS).map((name) => exportChoice(name, redraw));
  const choices = make("div", "export-choices", ...controls.map(({ element }) => element));
  const command = lineToCopy("The command that makes it again");
  const address = lineToCopy("The address of this figure, for a slide or a web page");
  const parts = [frame, button, status, shareButton, choices, command.element, address.element];
  const root = make("div", "exporting", ...parts);
  box.append(root);
  closing.addEventListener("abort", () => request.abort());

  const send = (path, options) => askAgain(ownPictures.bringAgain, path, options, sendRequest);
  const saySorry = (error) => setText(status, error.says ?? "The figure could not be drawn: try again.");
  redraw();

  // Cancels the former request. The old preview stays until the new one has arrived.
  async function redraw() {
    request.abort();
    request = new AbortController();
    const { signal } = request;
    root.setAttribute("aria-busy", "true");
    if (!isSaving) setText(status, "Drawing …");
    try {
      const answer = await (await send(`api/exports?${wordsOfExport(words, theme)}`, { signal })).json();
      draw(answer);
      const { address: path, method } = answer.preview;
      const image = await imageOf(await (await send(path, { method, signal })).blob());
      signal.throwIfAborted();
      const layout = answer.offers.layout.find(({ name }) => name === answer.chosen.layout);
      image.alt = `The figure: ${layout?.title ?? ""}`;
      frame.replaceChildren(image);
      frame.dataset.background = answer.chosen.background;
      if (!isSaving) setText(status, "");
    } catch (error) {
      if (!signal.aborted) saySorry(error);
    }
    if (!signal.aborted) root.removeAttribute("aria-busy");
  }

  function draw(answer) {
    lastAnswer = answer;
    const { chosen, offers, file } = answer;
    const names = choicesOfExport(chosen.kind);
    for (const control of controls) {
      setVisible(control.element, names.includes(control.name));
      control.draw(offers[control.name], chosen[control.name]);
    }
    button.disabled = false;
    setText(button, `Download ${file.name}`);
    command.draw(answer.command);
    address.draw(file.method === "GET" ? addressOf(file.address) : "");
  }

  async function download() {
    if (isSaving || !lastAnswer) return;
    isSaving = true;
    button.setAttribute("aria-disabled", "true");
    const { name, method, address: path } = lastAnswer.file;
    setText(status, `Making ${name} …`);
    try {
      const answer = await send(path, { method });
      downloadFile(new File([await answer.blob()], name)); // even after the sheet closes
      setText(status, `${name} is downloaded.`);
    } catch (error) {
      saySorry(error);
    } finally {
      isSaving = false;
      button.removeAttribute("aria-disabled");
    }
  }
}

// A decoded image, ready to be painted.
async function imageOf(blob) {
  const image = make("img", { src: URL.createObjectURL(blob) });
  await image.decode().finally(() => URL.revokeObjectURL(image.src));
  return image;
}

// The control for one choice: {name, element, draw(options: [{name, title}], value)}.
function exportChoice(name, onChoice) {
  const isSwitch = name === "caption";
  const words = EXPORT_HEADINGS[name];
  /** @type {any} */
  const control = isSwitch ? make("input", { type: "checkbox" }) : make("select", { "aria-label": words });
  control.onchange = () => {
    exportOptions[name] = isSwitch ? control.checked : control.value;
    onChoice();
  };
  const heading = make("span", "", words);
  const element = isSwitch ? make("label", "export-switch", control, heading) : make("label", "", heading, control);
  let drawnOptions = "";
  function draw(options, value) {
    if (isSwitch) return (control.checked = value);
    const optionsText = JSON.stringify(options);
    if (optionsText !== drawnOptions)
      control.replaceChildren(...options.map((option) => make("option", { value: option.name }, option.title)));
    drawnOptions = optionsText;
    control.value = value;
  }
  return { name, element, draw };
}

// A line to copy, under its heading.
function lineToCopy(heading) {
  const codeElement = make("code", { tabIndex: 0 }); // it can be selected by keyboard if the clipboard is forbidden
  const button = make("button", { "aria-label": `Copy: ${heading}` }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(codeElement.textContent);
      setText(button, "Copied");
    } catch {
      getSelection().selectAllChildren(codeElement);
      setText(button, "Marked");
    }
    setTimeout(() => setText(button, "Copy"), COPIED_DURATION);
  });
  const element = make("div", "export-copy", make("span", "", heading), button, codeElement);
  return {
    element,
    draw(line) {
      setVisible(element, Boolean(line));
      setText(codeElement, line);
    },
  };
}
