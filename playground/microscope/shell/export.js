// The sheet of Export: the figure, its file, and the options for it. The server lists all options and the chosen ones
// (/api/exports, see playground/serving/routes_figures.py).
//
// A still figure of a sample has an address, and the preview is an <img> of it. Animations, interactive figures, and
// figures of a person's own picture are requested with the key and shown as blobs.

import { say, show } from "../drawing/dom.js";
import { addressOf } from "./http.js";
import { ownPictures } from "./own.js";

const BLOB_KEPT_FOR = 60000; // ms that a file stays in memory after its download has begun
const COPIED_FOR = 2000; // ms
const EXPORT_HEADINGS = {
  kind: "As",
  table: "File",
  held: "Holding",
  pack: "Numbers",
  layout: "Showing",
  purpose: "For",
  background: "Background",
  caption: "caption",
  footer: "where it comes from",
  sweep: "Moving",
};
const EXPORT_LISTS = ["layout", "purpose"]; // long ones: a list to open; the others are words in a row
const EXPORT_SWITCHES = ["caption", "footer"];
const EXPORT_LOOK = ["layout", "purpose", "background", "caption", "footer"];
const CHOICES_OF_KIND = {
  html: ["kind", "held", "pack"],
  numbers: ["kind", "table", "layout"],
  webp: ["kind", ...EXPORT_LOOK, "sweep"],
};

const pickedForExport = {}; // the last options, for the whole document: the next sheet begins with them

// ---- what is asked

// The choices of each kind of file, in their order. A lesson's page has a fixed layout.
export const choicesOfExport = (kind, layout) =>
  (CHOICES_OF_KIND[kind] ?? ["kind", ...EXPORT_LOOK]).filter((name) => name !== "layout" || !layout);

// The query of /api/exports: what is on view, and those chosen options that this kind of file has.
export function wordsOfExport({ words, layout, theme }, choices) {
  const chosen = {};
  for (const name of choicesOfExport(choices.kind, layout)) if (name in choices) chosen[name] = String(choices[name]);
  if (choices.kind === "html" && theme === "dark") chosen.theme = theme; // "light" is as the reader has it
  const place = Object.entries({ ...words, ...chosen, ...(layout ? { only: layout } : {}) });
  return new URLSearchParams(place.filter(([, value]) => value !== null && value !== undefined));
}

const isOfOwnPicture = (name, value) => name === "mine" || String(value).startsWith("mine:");

// A link to what is on view. Own pictures never stand in an address.
export function linkOfExport(page, words) {
  const url = new URL(page);
  [url.search, url.hash] = ["", ""];
  for (const [name, value] of Object.entries(words)) {
    if (!isOfOwnPicture(name, value) && value !== null && value !== undefined) url.searchParams.set(name, value);
  }
  return url.href;
}

const LINK = "The link to this view";

export const wordsOfExportWait = (ahead) =>
  ahead ? `Waiting: ${ahead} ${ahead === 1 ? "person" : "people"} before you` : "";

// ---- the sheet

// words: of the choice and the view; layout: of a lesson's page, or null; theme: "light" or "dark"; signal: aborted
// when the sheet closes; share: sends on three seconds of it, or null. Gives update(part of these), for
// when the view changes while the sheet is open.
export function fillExport(box, { words, layout = null, ask, theme = "light", share = null, signal }) {
  const current = { words, layout, theme };
  let data = null; // the server's last answer
  let asking = null; // request of the preview
  let saving = false; //  a download is on its way

  const root = exportPart("div", "exporting");
  const frame = exportPart("div", "export-preview");
  const button = exportPart("button", "export-download", "Download");
  const status = exportPart("p", "export-status");
  const choices = exportPart("div", "export-choices");
  const note = exportPart("p", "export-note");
  const command = lineToCopy("The command that makes it again");
  const link = lineToCopy(LINK);
  const address = lineToCopy("The address of this figure, for a slide or a web page");
  button.type = "button";
  button.disabled = true;
  status.setAttribute("role", "status");
  const send = exportPart(
    "button",
    "export-share",
    "A loop of three seconds, or a still picture, made in this browser",
  );
  send.type = "button";
  show(send, Boolean(share));
  send.addEventListener("click", () => share());
  root.append(frame, button, status, send, choices, note, command.element, link.element, address.element);
  box.append(root);

  const controls = {};
  for (const name of Object.keys(EXPORT_HEADINGS)) {
    controls[name] = exportChoice(name, (value) => {
      pickedForExport[name] = value;
      redraw();
    });
    choices.append(controls[name].element);
  }

  button.addEventListener("click", download);
  signal?.addEventListener("abort", () => {
    asking?.abort();
    letGoOfImage(frame.querySelector("img"));
  });
  redraw();

  // Asks as http.js does; if the server has forgotten the picture, sends it again, once.
  async function get(path, { method, signal: until }) {
    const how = { signal: until, onWait: (ahead) => say(status, wordsOfExportWait(ahead) || "Drawing …") };
    const askedAt = performance.now();
    try {
      return await ask(path, { method, ...how });
    } catch (error) {
      if (!error.body?.forgotten || !(await ownPictures.bringAgain(error.body.forgotten, { ...how, asked: askedAt })))
        throw error;
      return ask(path, { method, ...how });
    }
  }

  // Cancels the former request. The old preview stays until the new one is there.
  async function redraw() {
    asking?.abort();
    const request = (asking = new AbortController());
    root.setAttribute("aria-busy", "true");
    if (!saving) say(status, "Drawing …");
    try {
      const query = wordsOfExport(current, pickedForExport);
      const how = { method: "GET", signal: request.signal };
      const answer = await (await get(`api/exports?${query}`, how)).json();
      request.signal.throwIfAborted();
      draw(answer);
      const [image, says] = await Promise.all([
        pictureAt(answer.preview, request.signal),
        answer.chosen.kind === "html"
          ? get(`api/exports/size?${query}`, how).then((response) => response.json())
          : null,
      ]);
      if (request.signal.aborted) return letGoOfImage(image);
      put(image, answer);
      say(note, says?.says ?? "");
      if (!saving) say(status, "");
    } catch (error) {
      if (request.signal.aborted) return;
      saySorry(error);
    } finally {
      if (asking === request) root.removeAttribute("aria-busy");
    }
  }

  function draw(answer) {
    data = answer;
    const kinds = choicesOfExport(answer.chosen.kind, current.layout);
    for (const [name, control] of Object.entries(controls)) {
      show(control.element, kinds.includes(name));
      control.draw(answer.offers[name], answer.chosen[name]);
    }
    button.disabled = false;
    say(button, `Download ${answer.file.name}`);
    say(note, "");
    command.draw(answer.command);
    const hasOwn = Object.entries(current.words).some(([name, value]) => value && isOfOwnPicture(name, value));
    link.draw(linkOfExport(location.href, current.words), `${LINK}${hasOwn ? ". Your own picture is not in it" : ""}`);
    address.draw(answer.file.method === "GET" ? addressOf(answer.file.address) : "");
  }

  // A still of a sample, by address. If it fails, asks the server for the reason.
  async function pictureAt({ address: where, method }, until) {
    if (method === "GET") {
      const image = await loadedImage(addressOf(where), until).catch(() => null);
      if (image) return image;
      until.throwIfAborted();
    }
    const blob = await (await get(where, { method, signal: until })).blob();
    return loadedImage(URL.createObjectURL(blob), until);
  }

  function put(image, answer) {
    const former = frame.querySelector("img");
    image.alt = `The figure: ${titleOfExported(answer, "layout")}`;
    frame.replaceChildren(image);
    frame.dataset.background = answer.chosen.background;
    letGoOfImage(former);
  }

  async function download() {
    if (saving || !data) return;
    saving = true;
    button.setAttribute("aria-disabled", "true");
    const { name, method, address: where } = data.file;
    say(status, `Making ${name} …`);
    try {
      saveBlob(await (await get(where, { method })).blob(), name); // the download goes on when the sheet is closed
      say(status, `${name} is downloaded.`);
    } catch (error) {
      saySorry(error);
    } finally {
      saving = false;
      button.removeAttribute("aria-disabled");
    }
  }

  const saySorry = (error) => say(status, error.says ?? "The figure could not be drawn: try again.");

  return function update(change = {}) {
    Object.assign(current, change);
    redraw();
  };
}

const titleOfExported = ({ offers, chosen }, choice) =>
  offers[choice].find(({ name }) => name === chosen[choice])?.title ?? "";

function saveBlob(blob, name) {
  const link = document.createElement("a");
  Object.assign(link, { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), BLOB_KEPT_FOR);
}

// A decoded image, ready to be painted.
async function loadedImage(src, signal) {
  const image = document.createElement("img");
  const leave = () => image.removeAttribute("src"); // stops the browser's own request
  signal.addEventListener("abort", leave, { once: true });
  try {
    image.src = src;
    await image.decode();
    signal.throwIfAborted();
    return image;
  } catch (error) {
    letGoOfImage({ src });
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

function letGoOfImage(image) {
  if (image?.src.startsWith("blob:")) URL.revokeObjectURL(image.src);
}

// ---- its parts

function exportPart(tag, className = "", text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

// {element, draw(options: [{name, title}], value)} of one choice; take(value) is called when a person chooses.
function exportChoice(name, take) {
  if (EXPORT_SWITCHES.includes(name)) return exportSwitch(name, take);
  return EXPORT_LISTS.includes(name) ? exportList(name, take) : exportRow(name, take);
}

function exportSwitch(name, take) {
  const element = exportPart("label", "export-switch");
  const input = exportPart("input");
  input.type = "checkbox";
  input.addEventListener("change", () => take(input.checked));
  element.append(input, EXPORT_HEADINGS[name]);
  return { element, draw: (_, value) => (input.checked = value) };
}

function exportList(name, take) {
  const element = exportPart("label", "export-list");
  const list = exportPart("select");
  list.addEventListener("change", () => take(list.value));
  element.append(exportPart("span", "", EXPORT_HEADINGS[name]), list);
  const drawOptions = onlyOnChange((options) => {
    list.replaceChildren(
      ...options.map(({ name: value, title }) => Object.assign(exportPart("option", "", title), { value })),
    );
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
function exportRow(name, take) {
  const element = exportPart("fieldset", "export-row");
  const row = exportPart("div");
  const group = `export-${name}`;
  element.append(exportPart("legend", "", EXPORT_HEADINGS[name]), row);
  const drawOptions = onlyOnChange((options) => {
    const focused = row.querySelector("input:focus")?.value;
    row.replaceChildren(
      ...options.map(({ name: value, title }) => {
        const label = exportPart("label");
        const input = Object.assign(exportPart("input"), { type: "radio", name: group, value });
        input.addEventListener("change", () => take(value));
        label.append(input, exportPart("span", "", title));
        return label;
      }),
    );
    [...row.querySelectorAll("input")].find(({ value }) => value === focused)?.focus();
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
  let drawn = "";
  return (options) => {
    const written = JSON.stringify(options);
    if (written !== drawn) drawOptions(options);
    drawn = written;
  };
}

// A line to copy, under its heading.
function lineToCopy(heading) {
  const element = exportPart("div", "export-copy");
  const text = exportPart("code");
  const button = exportPart("button", "", "Copy");
  button.type = "button";
  button.setAttribute("aria-label", `Copy: ${heading}`);
  text.tabIndex = 0; // it can be selected by keyboard where the clipboard is forbidden
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      say(button, "Copied");
    } catch {
      getSelection().selectAllChildren(text);
      say(button, "Marked");
    }
    setTimeout(() => say(button, "Copy"), COPIED_FOR);
  });
  const about = exportPart("span", "", heading);
  element.append(about, button, text);
  return {
    element,
    draw(line, words = heading) {
      show(element, Boolean(line));
      say(text, line);
      say(about, words);
    },
  };
}
