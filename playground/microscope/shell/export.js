// The sheet of Export: a preview of the figure, the options for it, and the download. The server lists all options and
// the chosen ones (/api/exports, see playground/serving/routes_figures.py).
// A still figure of a sample has an address, and the preview is an <img> of it. Interactive figures, and figures of a
// person's own picture are requested with the person's key and shown as blobs.

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
const EXPORT_LISTS = ["layout", "width"]; // drawn as a select, for they have many options
const EXPORT_SWITCHES = ["caption"];
const LOOK_OPTIONS = ["layout", "width", "background", "map", "caption"];
const CHOICES_OF_KIND = { html: ["kind", "held"], numbers: ["kind", "table", "layout"] };

const exportOptions = {}; // the options that the person chose last; the next sheet begins with them

// ---- the request

// The choices for a kind of file, in their order.
const choicesOfExport = (kind) => CHOICES_OF_KIND[kind] ?? ["kind", ...LOOK_OPTIONS];

// The query of /api/exports: the view, and those chosen options that this kind of file has.
export function wordsOfExport({ words, theme }, choices) {
  const options = {};
  for (const name of choicesOfExport(choices.kind)) if (name in choices) options[name] = String(choices[name]);
  if (choices.kind === "html" && theme === "dark") options.theme = theme; // otherwise the reader's system decides
  const entries = Object.entries({ ...words, ...options });
  return new URLSearchParams(entries.filter(([, value]) => value !== null && value !== undefined));
}

// ---- the sheet

// Fills the sheet. words: parameters of choice and view; ask: sends a request, as in http.js; theme: "light" or "dark";
// share(): opens the sheet that makes loops; signal: aborted when the sheet closes. Returns update(changes): new values
// of words or theme while the sheet is open.
export function fillExport(box, { words, ask: sendRequest, theme = "light", share, signal }) {
  const current = { words, theme };
  let lastAnswer = null; // the server's last answer
  let previewRequest = null; // the AbortController of the running preview
  let isSaving = false; // whether a download is running

  const root = make("div", "exporting");
  const frame = make("div", "export-preview");
  const button = make("button", "export-download", "Download");
  const status = make("p", "export-status");
  const choices = make("div", "export-choices");
  const command = lineToCopy("The command that makes it again");
  const address = lineToCopy("The address of this figure, for a slide or a web page");
  button.disabled = true;
  status.setAttribute("role", "status");
  const shareButton = make("button", "export-share", "A loop, or a still picture, made in this browser");
  shareButton.onclick = share;
  root.append(frame, button, status, shareButton, choices, command.element, address.element);
  box.append(root);

  const controls = {};
  for (const name of Object.keys(EXPORT_HEADINGS)) {
    controls[name] = exportChoice(name, (value) => {
      exportOptions[name] = value;
      redraw();
    });
    choices.append(controls[name].element);
  }

  button.addEventListener("click", download);
  signal?.addEventListener("abort", () => {
    previewRequest?.abort();
    stopLoadingImage(frame.querySelector("img"));
  });
  redraw();

  function sendWhileOpen(path, options) {
    return askAgain(ownPictures.bringAgain, path, options, sendRequest);
  }

  // Cancels the former request. The old preview stays until the new one has arrived.
  async function redraw() {
    previewRequest?.abort();
    const request = (previewRequest = new AbortController());
    root.setAttribute("aria-busy", "true");
    if (!isSaving) setText(status, "Drawing …");
    try {
      const query = wordsOfExport(current, exportOptions);
      const options = { method: "GET", signal: request.signal };
      const answer = await (await sendWhileOpen(`api/exports?${query}`, options)).json();
      request.signal.throwIfAborted();
      draw(answer);
      const image = await pictureAt(answer.preview, request.signal);
      if (request.signal.aborted) return stopLoadingImage(image);
      showImage(image, answer);
      if (!isSaving) setText(status, "");
    } catch (error) {
      if (request.signal.aborted) return;
      saySorry(error);
    } finally {
      if (previewRequest === request) root.removeAttribute("aria-busy");
    }
  }

  function draw(answer) {
    lastAnswer = answer;
    const choiceNames = choicesOfExport(answer.chosen.kind);
    for (const [name, control] of Object.entries(controls)) {
      setVisible(control.element, choiceNames.includes(name));
      control.draw(answer.offers[name], answer.chosen[name]);
    }
    button.disabled = false;
    setText(button, `Download ${answer.file.name}`);
    command.draw(answer.command);
    address.draw(answer.file.method === "GET" ? addressOf(answer.file.address) : "");
  }

  // The preview's image. A still figure of a sample is loaded by its address; if that fails, a second request tells the
  // reason.
  async function pictureAt({ address: path, method }, abortSignal) {
    if (method === "GET") {
      const image = await loadedImage(addressOf(path), abortSignal).catch(() => null);
      if (image) return image;
      abortSignal.throwIfAborted();
    }
    const blob = await (await sendWhileOpen(path, { method, signal: abortSignal })).blob();
    return loadedImage(URL.createObjectURL(blob), abortSignal);
  }

  function showImage(image, answer) {
    const formerImage = frame.querySelector("img");
    image.alt = `The figure: ${titleOfExported(answer, "layout")}`;
    frame.replaceChildren(image);
    frame.dataset.background = answer.chosen.background;
    stopLoadingImage(formerImage);
  }

  async function download() {
    if (isSaving || !lastAnswer) return;
    isSaving = true;
    button.setAttribute("aria-disabled", "true");
    const { name, method, address: path } = lastAnswer.file;
    setText(status, `Making ${name} …`);
    try {
      const answer = await sendWhileOpen(path, { method });
      downloadFile(new File([await answer.blob()], name)); // even after the sheet closes
      setText(status, `${name} is downloaded.`);
    } catch (error) {
      saySorry(error);
    } finally {
      isSaving = false;
      button.removeAttribute("aria-disabled");
    }
  }

  const saySorry = (error) => setText(status, error.says ?? "The figure could not be drawn: try again.");

  return function update(changes = {}) {
    Object.assign(current, changes);
    redraw();
  };
}

const titleOfExported = ({ offers, chosen: options }, choice) =>
  offers[choice].find(({ name }) => name === options[choice])?.title ?? "";

// A decoded image, ready to be painted.
async function loadedImage(src, signal) {
  const image = make("img");
  const stopLoading = () => image.removeAttribute("src"); // stops the browser's own request
  signal.addEventListener("abort", stopLoading, { once: true });
  try {
    image.src = src;
    await image.decode();
    signal.throwIfAborted();
    return image;
  } catch (error) {
    stopLoadingImage({ src });
    throw error;
  } finally {
    signal.removeEventListener("abort", stopLoading);
  }
}

function stopLoadingImage(image) {
  if (image?.src.startsWith("blob:")) URL.revokeObjectURL(image.src);
}

// ---- parts of the sheet

// The control for one choice: {element, draw(options: [{name, title}], value)}. onChoice(value) is called when a person
// chooses.
function exportChoice(name, onChoice) {
  if (EXPORT_SWITCHES.includes(name)) return exportSwitch(name, onChoice);
  return EXPORT_LISTS.includes(name) ? exportList(name, onChoice) : exportRow(name, onChoice);
}

function exportSwitch(name, onChoice) {
  const input = make("input", { type: "checkbox", onchange: () => onChoice(input.checked) });
  const element = make("label", "export-switch", input, EXPORT_HEADINGS[name]);
  return { element, draw: (_, value) => (input.checked = value) };
}

function exportList(name, onChoice) {
  const list = make("select", { onchange: () => onChoice(list.value) });
  const element = make("label", "export-list", make("span", "", EXPORT_HEADINGS[name]), list);
  const drawOptions = onlyOnChange((options) => {
    list.replaceChildren(...options.map(({ name: value, title }) => make("option", { value }, title)));
  });
  return {
    element,
    draw(options, value) {
      drawOptions(options);
      list.value = value;
    },
  };
}

// Radio buttons, so that arrow keys move between options.
function exportRow(name, onChoice) {
  const row = make("div");
  const group = `export-${name}`;
  const element = make("fieldset", "export-row", make("legend", "", EXPORT_HEADINGS[name]), row);
  const drawOptions = onlyOnChange((options) => {
    const focusedValue = row.querySelector("input:focus")?.value;
    row.replaceChildren(
      ...options.map(({ name: value, title }) => {
        const input = make("input", { type: "radio", name: group, value, onchange: () => onChoice(value) });
        return make("label", "", input, make("span", "", title));
      }),
    );
    [...row.querySelectorAll("input")].find(({ value }) => value === focusedValue)?.focus();
  });
  return {
    element,
    draw(options, value) {
      drawOptions(options);
      for (const input of row.querySelectorAll("input")) input.checked = input.value === value;
    },
  };
}

function onlyOnChange(drawOptions) {
  let drawnOptions = "";
  return (options) => {
    const optionsText = JSON.stringify(options);
    if (optionsText !== drawnOptions) drawOptions(options);
    drawnOptions = optionsText;
  };
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
