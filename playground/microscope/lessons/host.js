// Shows the parts of a lesson's step in the browser, without Python. playground/lessons/parts.py describes the parts;
// playground/serving/site_files.py writes how they depend on the settings.
// A lesson is {settings: {name: text}, defaults: {name: text}, options: {name: [[text, value], …]}, scripts: {name:
// {script, box, look, mount: the script if it is loaded already, then with styles: their file}}, read(file) and
// fileAt(file), link(page, words): a page's address, plotly() → a promise, set(changes), subject: the visitor's own
// photograph for this step (see subject.js), or null, stays: a sentence which says that a part keeps the sample's
// numbers}.
// PLAYERS has a function for each kind of part. The function's arguments are the part's element, `currentPart()`, which
// returns the part for the present settings, the lesson, and a signal that is aborted when the reader leaves the step.
// The function returns {draw(), end()}.

import { withHeader } from "../core/container.js";
import { wordsOf } from "../core/measures.js";
import { softmaxRow } from "../core/nine.js";
import { markedBlocks, markedWords } from "../drawing/listing.js";
import { chartOf, dataOf, partOf, pictureOf, questionOf } from "./subject.js";

// Shows the parts in `box`. Returns {draw(), end()} for all of them.
export default playParts;
export function playParts(box, parts, lesson, signal) {
  lesson.data = {}; // the drawings' data, by the drawings' names
  const places = parts.map((part) => {
    const place = document.createElement("div");
    if (part.after) place.dataset.after = part.after;
    return place;
  });
  box.replaceChildren(...places);
  let partsNow = parts;
  const playedParts = parts.map((part, n) => {
    const place = part.stays && lesson.subject ? belowLine(places[n], lesson.stays) : places[n];
    return playPart(place, () => partsNow[n], lesson, signal);
  });
  const draw = () => {
    for (const [n, part] of playedParts.entries()) drawPart(part, places[n], signal);
  };
  lesson.reveal = () => {
    const guessedIds = (document.documentElement.dataset.guessed ?? "").split(" ");
    for (const [n, place] of places.entries()) {
      const wasHidden = place.hidden;
      place.hidden = Boolean(place.dataset.after) && !guessedIds.includes(place.dataset.after);
      if (wasHidden && !place.hidden) drawPart(playedParts[n], place, signal); // a hidden place had no size to draw in
    }
  };
  lesson.reveal();
  addEventListener("guess-locked", lesson.reveal, { signal: signal });
  return {
    draw,
    // Shows the same parts with the data of other settings. False if these are other parts, which `draw` can't show.
    renew(newParts) {
      if (JSON.stringify(newParts.map(frameOf)) !== JSON.stringify(partsNow.map(frameOf))) return false;
      partsNow = newParts;
      draw();
      return true;
    },
    end() {
      for (const part of playedParts) part.end?.();
    },
  };
}

// What `draw` does not change in a part.
const frameOf = ({ kind, name, id, title, label, options, question, parts }) => [
  ...[kind, name, id, title, label, options, question?.id],
  ...(parts ?? []).map(frameOf),
];

// Draws a part. If its numbers can't be fetched, its place says why.
const drawPart = (part, place, signal) =>
  Promise.resolve(part.draw()).catch((error) => {
    if (!signal.aborted) (place.shadowRoot ?? place).textContent = error.says ?? "The numbers did not come: try again.";
  });

function playPart(place, partNow, lesson, signal) {
  const currentPart = () => (partNow().kind === "each" ? variantFor(partNow(), lesson) : partNow());
  const { kind } = currentPart();
  place.className = `lesson-${kind}`;
  return PLAYERS[kind](place, currentPart, lesson, signal);
}

// Adds a line to `place` that says to which picture the numbers belong. Returns a new element below the line.
function belowLine(place, markup) {
  const [line, box] = ["p", "div"].map((tag) => document.createElement(tag));
  line.className = "lesson-whose";
  line.innerHTML = markedWords(markup);
  place.append(line, box);
  return box;
}

// The part for the present settings. If these were not computed ahead, the nearest computed settings replace them.
// `played` tells drawings which settings were computed.
function variantFor({ by, of, same }, { settings }) {
  const wantedValues = by.map((name) => settings[name]);
  const nearestVariant = Object.keys(of)
    .map((key) => ({ key, values: key.split(" | ") }))
    .map(({ key, values }) => ({ key, values, matches: values.filter((value, n) => value === wantedValues[n]).length }))
    .reduce((bestVariant, variant) => (variant.matches > bestVariant.matches ? variant : bestVariant));
  for (const [n, value] of nearestVariant.values.entries()) settings[by[n]] = value;
  const part = of[nearestVariant.key];
  return { ...part, ...(same && { data: { ...same, ...part.data } }), played: Object.keys(of) };
}

const settingValues = ({ settings, options }) =>
  Object.fromEntries(
    Object.entries(settings).map(([name, text]) => [
      name,
      options[name]?.find(([optionText]) => optionText === text)?.[1] ?? text,
    ]),
  );

const settingText = ({ options }, name, value) =>
  options[name]?.find(([, optionValue]) => optionValue === value)?.[0] ?? String(value);

// The index of the chosen option. If the setting's value is not offered, the default is set.
function chosenOption({ setting, options }, { settings, defaults }) {
  const indexNow = () => options.findIndex(([value]) => value === settings[setting]);
  if (indexNow() < 0) settings[setting] = defaults[setting];
  return indexNow();
}

// Turns links to the app's pages, [text](./page?settings), into links to the pages of this site.
const withPageLinks = (html, link) =>
  html.replace(/\[([^\]]+)\]\(\.\/(\w*)\?([^)\s]*)\)/g, (_, text, page, words) => {
    const settings = new URLSearchParams(words.replaceAll("&amp;", "&"));
    const address = link(page || "microscope", Object.fromEntries(settings));
    return `<a href="${address.replaceAll("&", "&amp;")}">${text}</a>`;
  });

// The part about the sample or, if the visitor has a photograph, a promise of the part about the photograph.
const partForSubject = (part, { subject }) => (part.own && subject ? partOf(part, subject) : part);

// Shows a part once its promise has resolved, unless a newer one was shown meanwhile.
function showLatest(currentPart, lesson, signal, display) {
  let callCount = 0;
  return {
    async draw() {
      const [part, callNumber] = [currentPart(), ++callCount];
      const ownOrSample = partForSubject(part, lesson);
      if (ownOrSample === part) return display(part);
      const ownPart = await ownOrSample;
      if (callNumber === callCount && !signal.aborted) display(ownPart);
    },
  };
}

const PLAYERS = {
  words: (place, currentPart, lesson, signal) =>
    showLatest(currentPart, lesson, signal, (words) => {
      place.classList.toggle("small", Boolean(words.small));
      place.innerHTML = withPageLinks(markedBlocks(wordsOf(words, lesson.subject?.pack)), lesson.link);
    }),

  run: (place, currentPart) => ({
    draw() {
      place.innerHTML = markedBlocks(currentPart().needs);
    },
  }),

  ask: (place, currentPart, lesson, signal) => {
    const question = () => {
      const part = currentPart();
      return part.own && lesson.subject ? questionOf(part, lesson.subject) : { ...part, ...part.question };
    };
    // The question may have been guessed on an earlier visit, hence `reveal` after mounting.
    return mountedScript(place, "guess", lesson, signal, question, () => lesson.reveal());
  },

  choice(place, currentPart, lesson) {
    const { setting, label, options } = currentPart();
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", label);
    if (options.length < 2) place.style.display = "none"; // one option is no choice
    const labelElement = document.createElement("span");
    labelElement.innerHTML = markedWords(label);
    const buttons = options.map(([value, words]) => {
      const button = Object.assign(document.createElement("button"), { type: "button" });
      button.innerHTML = markedWords(words);
      button.addEventListener("click", () => [lesson.set({ [setting]: value }), control.draw()]);
      return button;
    });
    place.append(labelElement, ...buttons);
    const control = {
      draw() {
        const chosenIndex = chosenOption(currentPart(), lesson);
        for (const [n, button] of buttons.entries()) button.setAttribute("aria-pressed", String(n === chosenIndex));
      },
    };
    return control;
  },

  slider(place, currentPart, lesson) {
    const { setting, label, options } = currentPart();
    if (options.length < 2) place.style.display = "none";
    const labelLine = document.createElement("label");
    const [legend, output] = [document.createElement("span"), document.createElement("output")];
    const dial = Object.assign(document.createElement("input"), { type: "range", min: 0, max: options.length - 1 });
    legend.innerHTML = markedWords(label);
    labelLine.append(legend, dial, output);
    dial.addEventListener("input", () => [lesson.set({ [setting]: options[Number(dial.value)][0] }), control.draw()]);
    place.append(labelLine);
    const control = {
      draw() {
        const chosenIndex = chosenOption(currentPart(), lesson);
        dial.value = String(chosenIndex);
        output.textContent = options[chosenIndex]?.[1] ?? "";
      },
    };
    return control;
  },

  pick(place, currentPart, lesson) {
    const { setting, label, options } = currentPart();
    const labelLine = document.createElement("label");
    const [legend, selectElement] = [document.createElement("span"), document.createElement("select")];
    legend.innerHTML = markedWords(label);
    selectElement.append(...options.map(([value, words]) => new Option(words, value)));
    selectElement.addEventListener("change", () => lesson.set({ [setting]: selectElement.value }));
    labelLine.append(legend, selectElement);
    place.append(labelLine);
    return {
      draw() {
        selectElement.selectedIndex = chosenOption(currentPart(), lesson);
      },
    };
  },

  picture: (place, currentPart, { subject }, signal, counter = { times: 0 }) => ({
    async draw() {
      const [part, callNumber] = [currentPart(), ++counter.times];
      const { data, caption, width, words } = part.own && subject ? await pictureOf(part, subject) : part;
      if (callNumber !== counter.times || signal.aborted) return;
      const [figure, captionElement] = ["figure", "figcaption"].map((tag) => document.createElement(tag));
      const image = Object.assign(new Image(), { src: data, alt: words });
      if (width) image.width = width;
      captionElement.innerHTML = markedWords(caption);
      figure.append(image, ...(caption ? [captionElement] : []));
      place.replaceChildren(figure);
    },
  }),

  drawing(place, currentPart, lesson, signal) {
    const files = new Map(); // from file to a promise of its bytes: unchanged data stay the same object
    const { name } = currentPart();
    return mountedScript(place, name, lesson, signal, () => {
      const { data, file, settings, played, own: ownMeasures } = currentPart();
      const values = settingValues(lesson);
      const hostData = {
        ...Object.fromEntries(settings.map((setting) => [setting, values[setting]])),
        ...{ view_id: "here", microscope: lesson.link("microscope", {}), played },
      };
      if (ownMeasures && lesson.subject)
        return dataOf(ownMeasures, lesson.subject, data).then((ownData) => withHostData(ownData, hostData));
      if (file && !files.has(file)) files.set(file, lesson.read(file));
      if (file) return files.get(file).then((bytes) => withHostData(bytes, hostData));
      lesson.data[name] = data;
      return { ...data, ...hostData };
    });
  },

  exercise(place, currentPart, lesson, signal) {
    const exerciseData = async () => ({
      ...(await partForSubject(currentPart(), lesson)),
      settings: { ...lesson.settings },
    });
    return mountedScript(place, "exercise", lesson, signal, exerciseData);
  },

  chart(place, currentPart, lesson, signal) {
    let [Plotly, callCount] = [null, 0];
    return {
      async draw() {
        Plotly = await lesson.plotly();
        if (signal.aborted || !place.clientWidth) return; // a hidden chart has no width
        const [{ figure, height, name, moves, own: ownMeasures }, callNumber] = [currentPart(), ++callCount];
        const sampleFigure = { ...figure, data: figure.data.map((trace) => ({ ...trace })) };
        const { data, layout } =
          ownMeasures && lesson.subject ? await chartOf(sampleFigure, ownMeasures, lesson.subject) : sampleFigure;
        if (signal.aborted || callNumber !== callCount) return;
        if (moves) {
          const numbers = { ...moves.numbers, ...Object.assign({}, ...Object.values(lesson.data)) };
          Object.assign(data.at(moves.trace), MOVES[moves.rule](settingValues(lesson), numbers));
        }
        Plotly.react(place, data, chartLayout(layout, height, place), chartConfig(name));
      },
      end: () => Plotly?.purge(place),
    };
  },

  table: (place, currentPart, lesson, signal) =>
    showLatest(currentPart, lesson, signal, ({ head, rows }) => {
      const cells = (line, tag) => line.map((text) => `<${tag}>${markedWords(text)}</${tag}>`).join("");
      const rowsHtml = rows.map((line) => `<tr>${cells(line, "td")}</tr>`).join("");
      place.innerHTML = `<table><thead><tr>${cells(head, "th")}</tr></thead><tbody>${rowsHtml}</tbody></table>`;
    }),

  code: (place, currentPart) => ({
    draw() {
      const code = document.createElement("code");
      code.textContent = currentPart().text;
      const listing = document.createElement("pre");
      listing.append(code);
      place.replaceChildren(listing);
    },
  }),

  fold(place, currentPart, lesson, signal) {
    const [details, summary, box] = ["details", "summary", "div"].map((name) => document.createElement(name));
    summary.innerHTML = markedWords(currentPart().title);
    details.append(summary, box);
    place.append(details);
    const part = PLAYERS.row(box, currentPart, lesson, signal);
    details.addEventListener("toggle", () => details.open && drawPart(part, box, signal)); // closed parts have no size
    return part;
  },

  column: (place, currentPart, lesson, signal) => PLAYERS.row(place, currentPart, lesson, signal),

  row(place, currentPart, lesson, signal) {
    const { parts, shares } = currentPart();
    if (new Set(shares).size > 1) place.style.setProperty("--shares", shares.map((share) => `${share}fr`).join(" "));
    const playedParts = parts.map((_, n) => {
      const cell = document.createElement("div");
      place.append(cell);
      const { kind } = currentPart().parts[n];
      cell.className = `lesson-${kind}`;
      return PLAYERS[kind](cell, () => currentPart().parts[n], lesson, signal);
    });
    return {
      draw() {
        for (const [n, part] of playedParts.entries()) drawPart(part, place.children[n], signal);
      },
      end() {
        for (const part of playedParts) part.end?.();
      },
    };
  },
};

// A drawing's data with the host's settings and links.
const withHostData = (data, hostData) =>
  data instanceof Uint8Array ? withHeader(data, hostData) : { ...data, ...hostData };

// Mounts the script of a drawing in a shadow root, as in the app, so that styles of other parts don't apply to it.
function mountedScript(place, name, lesson, signal, dataOf, afterMount = () => {}) {
  const { script, styles, box, look: className = "", mount: builtIn } = lesson.scripts[name];
  const shadow = place.attachShadow({ mode: "open" });
  const root = document.createElement("div");
  root.className = `${box} ${className}`.trim();
  root.dataset[box] = "";
  shadow.append(root);
  const loading = Promise.all([
    builtIn ? { default: builtIn } : import(lesson.fileAt(script)),
    styles && lesson.read(styles),
  ]).then(([{ default: mount, styles: rules }, bytes]) => {
    const styleSheet = new CSSStyleSheet();
    styleSheet.replaceSync(rules ?? new TextDecoder().decode(bytes));
    shadow.adoptedStyleSheets = [styleSheet];
    return mount;
  });
  const setStateValue = (setting, value) => {
    const changes = setting === "settings" ? value : { [setting]: value };
    const knownChanges = Object.entries(changes).filter(([name]) => name in lesson.settings);
    const texts = knownChanges.map(([name, newValue]) => [name, settingText(lesson, name, newValue)]);
    lesson.set(Object.fromEntries(texts));
  };
  let callCount = 0;
  const part = {
    end: null,
    async draw() {
      const callNumber = ++callCount;
      const [mount, data] = await Promise.all([loading, dataOf()]);
      if (signal.aborted || callNumber !== callCount) return;
      const close = mount({ data, parentElement: shadow, setStateValue });
      part.end = () => {
        shadow.__drawing?.tellNow(); // reports a choice even if the reader leaves at once
        close?.();
      };
      afterMount();
    },
  };
  return part;
}

// ------------------------------------------------------------------------------------------------------------- charts

const chartConfig = (name) => ({
  displaylogo: false,
  responsive: true,
  toImageButtonOptions: { format: "svg", filename: name },
  modeBarButtonsToRemove: ["zoom2d", "pan2d", "select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
});

function chartLayout(layout, height, place) {
  const { color, fontFamily } = getComputedStyle(place);
  const lineColour = "rgba(128, 128, 128, 0.25)";
  const axis = { gridcolor: lineColour, zerolinecolor: lineColour, automargin: true };
  const template = {
    layout: {
      font: { color, family: fontFamily, size: 12 },
      paper_bgcolor: "rgba(0, 0, 0, 0)",
      plot_bgcolor: "rgba(0, 0, 0, 0)",
      xaxis: axis,
      yaxis: axis,
    },
  };
  const margins = { margin: { l: 8, r: 8, t: 36, b: 8 }, hoverlabel: { align: "left" } };
  return { ...structuredClone(layout), ...margins, template, height, autosize: true };
}

// Rules for chart points that move with a drawing's settings (Moves in playground/lessons/parts.py). A rule takes the
// settings, the chart's numbers and the drawing's numbers, and returns the point's trace.

const DECIMALS = { deviation: 2, entropy: 2, peak: 3 };
const QUANTITY_SAYS = {
  deviation: (value) => `scores lie ${value} apart`,
  entropy: (value) => `the row has an entropy of ${value} bits`,
  peak: (value) => `the largest weight is ${value}`,
  gradient: (value) => `the derivative by q·k has a norm of ${value}`,
};

export const MOVES = {
  row_of_bars({ dk, power }, { widths, scores, quantity }) {
    const value = softmaxRow(scores[widths.indexOf(dk)], dk ** -power)[quantity];
    const decimals = DECIMALS[quantity];
    const text = decimals ? value.toFixed(decimals) : value.toPrecision(2);
    const hovertemplate = `the row of the bars: ${QUANTITY_SAYS[quantity](text)}<extra></extra>`;
    return { x: [dk], y: [value], hovertemplate };
  },
};
