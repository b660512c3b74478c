// Maps that the source computes: relevance, occlusion and the logit lens. They explain the feature of the locked patch,
// a label (if the model has a classifier), or a typed text. An occlusion arrives step by step. Beside a relevance map
// stands its rank correlation with the occlusion, once the correlation is measured.

import { decodeHalves } from "../core/core.js";
import { percent } from "../core/numbers.js";
import { CHOICES, queryOf } from "../core/view.js";
import { asks, tableWords, trustWords, WAYS, wayOf, wayWords } from "../core/ways.js";
import { make, setText, setVisible } from "../drawing/dom.js";
import { askOnce } from "./asking.js";
import { entryShown, isExplained, keepInMap, MOST_FLOWS } from "./features.js";
import { canAsk, explanationKey, labelNow, labelsOf, overlayNow } from "./state.js";

const MAP_REQUEST_DELAY = 150; // ms without a new choice before a request
const MOST_MEASURED = 40; // the most entries of data.labels, and of data.correlations

const BOX_HTML = `
  <label data-part="label">of <select aria-label="What is explained"></select></label>
  <label data-part="text">like <input type="text" maxlength="60" size="24" spellcheck="false"
    placeholder="a cat" aria-label="A text, which patches are compared with"></label>
  <label data-part="blank">blanked by <select aria-label="What blanked patches become"></select></label>
  <progress max="1" value="0" aria-label="Passes of the occlusion"></progress>
  <span role="status"></span>`;

export function bindExplained(page) {
  const box = make("div", { className: "explained", innerHTML: BOX_HTML, hidden: true });
  page.refs.legend.before(box);
  const [labelSelect, blankSelect] = box.querySelectorAll("select");
  for (const value of CHOICES.blank) blankSelect.add(new Option(tableWords("blanked", "beside", [value]), value));
  const textInput = box.querySelector("input");
  textInput.addEventListener("change", () => page.choose({ text: textInput.value.trim() }));
  labelSelect.addEventListener("change", () => page.choose({ label: labelSelect.value }));
  blankSelect.addEventListener("change", () => page.choose({ blank: blankSelect.value }));
  page.explained = {
    box,
    labelSelect,
    blankSelect,
    textInput,
    progressBar: box.querySelector("progress"),
    status: box.querySelector("[role=status]"),
    timer: 0,
    optionsKey: "", // key of the options in the list of labels
  };
}

// ------------------------------------------------------------------------------------------------------- questions

// Requests the map after a delay that each new choice restarts.
export function askForExplained(lens) {
  const { page } = lens;
  clearTimeout(page.explained.timer);
  if (isExplained(lens.choice.view))
    page.explained.timer = setTimeout(() => lens.data.main && page.alive && askAbout(lens), MAP_REQUEST_DELAY);
}

function askAbout(lens) {
  const { data, view, main, shown } = lens;
  if (!isExplained(view)) return;
  const { trace, id } = entryShown(lens);
  if (wayOf(view).explains !== "text" && !labelsOf(lens) && canAsk(data, "labels"))
    return askOnce(
      lens,
      "labels",
      id,
      (options) => data.host.source.labels(trace, options),
      (labels) => keepInMap(data.labels, id, labels, MOST_MEASURED),
    );
  const requestSubject = requestSubjectOf(lens);
  if (!requestSubject || !canAsk(data, view.what)) return;
  const subjectKey = explanationKey(lens);
  const overlay = overlayNow(lens);
  const query = asks(view) ? queryOf(shown.token, main.pack) : null;
  const showOverlay = (values, details = {}) => {
    data.overlay = { what: view.what, query, about: subjectKey, id, values: decodeHalves(values), ...details };
  };
  const { source } = data.host;
  if (wayOf(view).uses.includes("blank")) {
    const step = overlay ? overlay.step + 1 : 0;
    if (overlay && step >= overlay.steps) return;
    askOnce(
      lens,
      "occlusion",
      `${id} ${subjectKey} ${step}`,
      (options) => source.occlusion(trace, { ...requestSubject, by: view.blank, step }, options),
      ({ matrix, ...details }) => {
        showOverlay(matrix, { ...details, step });
        if (details.foretells === undefined) return;
        const measured = { ...details, by: view.blank };
        keepInMap(data.correlations, `${id} ${explainedKey(lens)}`, measured, MOST_MEASURED);
      },
    );
  } else if (!overlay)
    askOnce(
      lens,
      view.what,
      `${id} ${subjectKey}`,
      (options) => source[view.what](trace, requestSubject, options),
      (values) => showOverlay(values),
    );
}

// The subject of the request: {query}, {label, layer}, {text, layer} or {label}; null if nothing is chosen yet.
function requestSubjectOf(lens) {
  const { view, main, shown } = lens;
  const label = labelNow(lens);
  const { explains } = wayOf(view);
  if (explains === "text") return view.text ? { layer: view.layer, text: view.text } : null;
  if (explains === "label") return label && { layer: view.layer, label: label[0] };
  if (view.label !== "") return { label: view.label };
  return view.locked ? { query: queryOf(shown.token, main.pack) } : null;
}

// A key of the explained patch or label, the same for all maps that explain it.
const explainedKey = ({ view, main, shown }) => (asks(view) ? queryOf(shown.token, main.pack) : `label ${view.label}`);

export function explainedWaitingWords(lens) {
  const { view } = lens;
  const labels = labelsOf(lens);
  const way = wayOf(view);
  if (way.explains === "label" && !labels) return "Asking for the labels…";
  if (way.explains === "label" && !labels.length)
    return "This model shows no labels: it has none, or they may be wrong.";
  if (way.explains === "text" && !view.text) return "";
  if (asks(view) && !view.locked) return "Click a patch: this map is made for a locked one.";
  return wayWords(way, "waiting", [], view);
}

// The sentence that says that the map's data can't come; "" if they may still arrive.
export function missingSentence({ data, view }) {
  if (isExplained(view)) return "";
  const { needs, offer } = wayOf(view);
  const isRefused = data.requests.get(needs)?.open === false;
  return isRefused || (offer && !canAsk(data, offer)) ? "What this needs is not here." : "";
}

export function mapWaitingWords(lens) {
  const { view, main } = lens;
  if (missingSentence(lens)) return missingSentence(lens);
  const way = wayOf(view);
  if (way.needs !== "flows" || main.pack.tokens <= MOST_FLOWS) return wayWords(way, "waiting", [], view);
  return view.locked ? "Asking the model…" : "Click a patch: this map is made for a locked one.";
}

// ----------------------------------------------------------------------------------------------------------- words

export function paintExplained(lens) {
  const { view } = lens;
  const { explained } = lens.page;
  const { box, labelSelect, blankSelect, textInput, progressBar, status } = explained;
  const isShown = isExplained(view);
  setVisible(box, isShown);
  if (!isShown) return;
  const labels = labelsOf(lens) ?? [];
  writeOptions(lens, labels);
  const { explains, uses } = wayOf(view);
  setVisible(textInput.parentElement, explains === "text");
  if (textInput.getRootNode().activeElement !== textInput) textInput.value = view.text;
  setVisible(labelSelect.parentElement, labels.length > 0 && explains !== "text");
  labelSelect.value = explains === "label" && view.label === "" ? String(labels[0]?.[0] ?? "") : view.label;
  setVisible(blankSelect.parentElement, uses.includes("blank"));
  blankSelect.value = view.blank;
  const overlay = overlayNow(lens);
  const isRunning = uses.includes("blank") && Boolean(overlay) && overlay.step + 1 < overlay.steps;
  setVisible(progressBar, isRunning);
  if (isRunning) progressBar.value = overlay.passes / overlay.of;
  setText(status, explainedWords(lens, overlay));
}

function writeOptions({ view, page: { explained } }, labels) {
  const isRequired = wayOf(view).explains === "label";
  const key = `${isRequired} ${labels.map(([number]) => number).join()}`;
  if (explained.optionsKey === key) return;
  explained.optionsKey = key;
  const patchOption = isRequired ? [] : [new Option("the locked patch's feature", "")];
  const options = labels.map(([number, name, share]) => new Option(`${name} (${percent(share)})`, String(number)));
  explained.labelSelect.replaceChildren(...patchOption, ...options);
}

function explainedWords(lens, overlay) {
  const { data, view, main } = lens;
  const way = wayOf(view);
  if (way.explains === "label") return labelWords(lens, overlay);
  if (way.explains === "text") return "";
  const correlations = data.correlations.get(`${entryShown(lens).id} ${explainedKey(lens)}`);
  const passWords =
    way.uses.includes("blank") && overlay
      ? `${overlay.passes} passes${overlay.step + 1 < overlay.steps ? ` of ${overlay.of}` : ""}, ${overlay.how}. `
      : "";
  const relevance = WAYS.relevance; // the correlations are between relevance and occlusion
  if (correlations) return passWords + trustWords(relevance, main.pack.model, correlations);
  return passWords || (overlay ? `${trustWords(way, main.pack.model)} ${wayWords(way, "after")}` : "");
}

function labelWords({ view, main, shown }, overlay) {
  if (!overlay) return "";
  const readToken = main.pack.prefix.includes("cls") ? "the class token" : "all patches together";
  const share = `${percent(overlay.values[shown.token])} here`;
  const training = `it was trained to read ${readToken} after the last`;
  return `${share}, if the classifier read this patch after layer ${view.layer}; ${training}.`;
}
