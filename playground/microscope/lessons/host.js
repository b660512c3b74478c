// Plays the parts of a lesson's step in the browser, without Python. playground/lessons/parts.py describes the parts;
// playground/serving/site_files.py writes which of them changes with which settings.
//
// A lesson is {settings: {name: text}, defaults: {name: text}, options: {name: [[text, value], …]}, scripts: {name:
// {script, styles, box, look, mount: the script where it is here already}}, read(file) and fileAt(file), plotly() → a
// promise, set(changes), subject: somebody's own photograph that the step is shown on, as subject.js has it, or null,
// stays: what is said then of a part that stays the sample's}. Every kind of part is a function of its place, of `get`,
// which gives the part as it is with the present settings, of the lesson, and of a signal that ends when the step is
// left; it gives {draw(), end()}.

import { withHeader } from "../core/container.js";
import { wordsOf } from "../core/measures.js";
import { softmaxRow } from "../core/nine.js";
import { markedBlocks, markedWords } from "../drawing/listing.js";
import { askedOf, chartOf, dataOf, partOf, pictureOf } from "./subject.js";

// Gives {draw, end}.
export default playParts;
export function playParts(box, parts, lesson, left) {
  lesson.data = {}; // of the drawings, by their names
  const places = parts.map((part) => {
    const place = document.createElement("div");
    if (part.after) place.dataset.after = part.after;
    return place;
  });
  box.replaceChildren(...places);
  const played = parts.map((part, n) => {
    const place = part.stays && lesson.subject ? belowLine(places[n], lesson.stays) : places[n];
    return playPart(place, part, lesson, left);
  });
  const draw = () => {
    for (const [n, part] of played.entries()) drawn(part, places[n], left);
  };
  lesson.reveal = () => {
    const guessed = (document.documentElement.dataset.guessed ?? "").split(" ");
    for (const [n, place] of places.entries()) {
      const wasHidden = place.hidden;
      place.hidden = Boolean(place.dataset.after) && !guessed.includes(place.dataset.after);
      if (wasHidden && !place.hidden) drawn(played[n], place, left); // it has a size now
    }
  };
  lesson.reveal();
  addEventListener("guess-locked", lesson.reveal, { signal: left });
  return {
    draw,
    end() {
      for (const part of played) part.end?.();
    },
  };
}

// Draws a part. If its numbers can't be fetched, its place says why.
const drawn = (part, place, left) =>
  Promise.resolve(part.draw()).catch((error) => {
    if (!left.aborted) (place.shadowRoot ?? place).textContent = error.says ?? "The numbers did not come: try again.";
  });

function playPart(place, part, lesson, left) {
  const get = part.kind === "each" ? () => asItIsNow(part, lesson) : () => part;
  const { kind } = get();
  place.className = `lesson-${kind}`;
  return PLAYED[kind](place, get, lesson, left);
}

// An element inside `place`, below a line that says whose numbers these are.
function belowLine(place, says) {
  const [line, within] = ["p", "div"].map((tag) => document.createElement(tag));
  line.className = "lesson-whose";
  line.innerHTML = markedWords(says);
  place.append(line, within);
  return within;
}

// A part as it is with the present settings. Values that were not computed ahead are replaced by some that were; a
// drawing is told which.
function asItIsNow({ by, of, same }, { settings }) {
  const wanted = by.map((name) => settings[name]);
  const nearest = Object.keys(of)
    .map((key) => ({ key, values: key.split(" | ") }))
    .map(({ key, values }) => ({ key, values, same: values.filter((value, n) => value === wanted[n]).length }))
    .reduce((best, one) => (one.same > best.same ? one : best));
  for (const [n, value] of nearest.values.entries()) settings[by[n]] = value;
  const part = of[nearest.key];
  return { ...part, ...(same && { data: { ...same, ...part.data } }), played: Object.keys(of) };
}

const typedSettings = ({ settings, options }) =>
  Object.fromEntries(
    Object.entries(settings).map(([name, text]) => [name, options[name]?.find(([one]) => one === text)?.[1] ?? text]),
  );

const asText = ({ options }, name, value) => options[name]?.find(([, one]) => one === value)?.[0] ?? String(value);

// The index of a choice's present option; that of the default if the setting's value is not offered.
function chosenOption({ setting, options }, { settings, defaults }) {
  const at = () => options.findIndex(([value]) => value === settings[setting]);
  if (at() < 0) settings[setting] = defaults[setting];
  return at();
}

// Rewrites links of the app, whose settings stand after a ?, so that they lead to the same page of the folder.
const linked = (html) =>
  html.replace(/\[([^\]]+)\]\(\.\/(\w*)\?([^)\s]*)\)/g, (_, text, page, words) => {
    const address = page ? `page=${page}&amp;${words}` : words;
    return `<a href="#${address}">${text}</a>`;
  });

// The part, or, if the lesson has a visitor's photograph, a promise of the part about that.
const ofWhom = (part, { subject }) => (part.own && subject ? partOf(part, subject) : part);

// Shows the part, or the part that a promise resolves to, unless a newer one was shown meanwhile.
function shownAs(get, lesson, left, show) {
  let times = 0;
  return {
    async draw() {
      const [part, time] = [get(), ++times];
      const whose = ofWhom(part, lesson);
      if (whose === part) return show(part);
      const shown = await whose;
      if (time === times && !left.aborted) show(shown);
    },
  };
}

const PLAYED = {
  words: (place, get, lesson, left) =>
    shownAs(get, lesson, left, (words) => {
      place.classList.toggle("small", Boolean(words.small));
      place.innerHTML = linked(markedBlocks(wordsOf(words, lesson.subject?.pack)));
    }),

  run: (place, get) => ({
    draw() {
      place.innerHTML = markedBlocks(get().needs);
    },
  }),

  ask: (place, get, lesson, left) => {
    const question = () => {
      const part = get();
      return part.own && lesson.subject ? askedOf(part, lesson.subject) : { ...part, ...part.question };
    };
    return mountedScript(place, "guess", lesson, left, question, () => lesson.reveal()); // it may be guessed already
  },

  choice(place, get, lesson) {
    const { setting, label, options } = get();
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", label);
    if (options.length < 2) place.style.display = "none"; // this page has one
    const legend = document.createElement("span");
    legend.innerHTML = markedWords(label);
    const buttons = options.map(([value, words]) => {
      const button = Object.assign(document.createElement("button"), { type: "button" });
      button.innerHTML = markedWords(words);
      button.addEventListener("click", () => lesson.set({ [setting]: value }));
      return button;
    });
    place.append(legend, ...buttons);
    return {
      draw() {
        const at = chosenOption(get(), lesson);
        for (const [n, button] of buttons.entries()) button.setAttribute("aria-pressed", String(n === at));
      },
    };
  },

  slider(place, get, lesson) {
    const { setting, label, options } = get();
    if (options.length < 2) place.style.display = "none";
    const line = document.createElement("label");
    const [legend, shown] = [document.createElement("span"), document.createElement("output")];
    const dial = Object.assign(document.createElement("input"), { type: "range", min: 0, max: options.length - 1 });
    legend.innerHTML = markedWords(label);
    line.append(legend, dial, shown);
    dial.addEventListener("input", () => lesson.set({ [setting]: options[Number(dial.value)][0] }));
    place.append(line);
    return {
      draw() {
        const at = chosenOption(get(), lesson);
        dial.value = String(at);
        shown.textContent = options[at]?.[1] ?? "";
      },
    };
  },

  pick(place, get, lesson) {
    const { setting, label, options } = get();
    const line = document.createElement("label");
    const [legend, list] = [document.createElement("span"), document.createElement("select")];
    legend.innerHTML = markedWords(label);
    list.append(...options.map(([value, words]) => new Option(words, value)));
    list.addEventListener("change", () => lesson.set({ [setting]: list.value }));
    line.append(legend, list);
    place.append(line);
    return {
      draw() {
        list.selectedIndex = chosenOption(get(), lesson);
      },
    };
  },

  picture: (place, get, { subject }, left, drawn = { times: 0 }) => ({
    async draw() {
      const [part, time] = [get(), ++drawn.times];
      const { data, caption, width, words } = part.own && subject ? await pictureOf(part, subject) : part;
      if (time !== drawn.times || left.aborted) return;
      const [figure, said] = ["figure", "figcaption"].map((tag) => document.createElement(tag));
      const image = Object.assign(new Image(), { src: data, alt: words });
      if (width) image.width = width;
      said.innerHTML = markedWords(caption);
      figure.append(image, ...(caption ? [said] : []));
      place.replaceChildren(figure);
    },
  }),

  drawing(place, get, lesson, left) {
    const files = new Map(); // file → a promise of its bytes: the same bytes are the same data
    const { name } = get();
    return mountedScript(place, name, lesson, left, () => {
      const { data, file, settings, played, own } = get();
      const typed = typedSettings(lesson);
      const begins = {
        ...Object.fromEntries(settings.map((one) => [one, typed[one]])),
        ...{ view_id: "here", microscope: "#", played },
      };
      if (own && lesson.subject) return dataOf(own, lesson.subject, data).then((made) => begun(made, begins));
      if (file && !files.has(file)) files.set(file, lesson.read(file));
      if (file) return files.get(file).then((bytes) => begun(bytes, begins));
      lesson.data[name] = data;
      return { ...data, ...begins };
    });
  },

  exercise(place, get, lesson, left) {
    const exerciseData = async () => ({ ...(await ofWhom(get(), lesson)), settings: { ...lesson.settings } });
    return mountedScript(place, "exercise", lesson, left, exerciseData);
  },

  chart(place, get, lesson, left) {
    let [Plotly, times] = [null, 0];
    return {
      async draw() {
        Plotly = await lesson.plotly();
        if (left.aborted || !place.clientWidth) return; // it is held back
        const [{ figure, height, name, moves, own }, time] = [get(), ++times];
        const theirs = { ...figure, data: figure.data.map((trace) => ({ ...trace })) };
        const { data, layout } = own && lesson.subject ? await chartOf(theirs, own, lesson.subject) : theirs;
        if (left.aborted || time !== times) return;
        if (moves) {
          const numbers = { ...moves.numbers, ...Object.assign({}, ...Object.values(lesson.data)) };
          Object.assign(data.at(moves.trace), MOVES[moves.rule](typedSettings(lesson), numbers));
        }
        Plotly.react(place, data, chartLayout(layout, height, place), chartConfig(name));
      },
      end: () => Plotly?.purge(place),
    };
  },

  table: (place, get, lesson, left) =>
    shownAs(get, lesson, left, ({ head, rows }) => {
      const cells = (line, tag) => line.map((text) => `<${tag}>${markedWords(text)}</${tag}>`).join("");
      const lines = rows.map((line) => `<tr>${cells(line, "td")}</tr>`).join("");
      place.innerHTML = `<table><thead><tr>${cells(head, "th")}</tr></thead><tbody>${lines}</tbody></table>`;
    }),

  code: (place, get) => ({
    draw() {
      const code = document.createElement("code");
      code.textContent = get().text;
      const listing = document.createElement("pre");
      listing.append(code);
      place.replaceChildren(listing);
    },
  }),

  fold(place, get, lesson, left) {
    const [details, summary, within] = ["details", "summary", "div"].map((name) => document.createElement(name));
    summary.innerHTML = markedWords(get().title);
    details.append(summary, within);
    place.append(details);
    const played = PLAYED.row(within, get, lesson, left);
    details.addEventListener("toggle", () => details.open && drawn(played, within, left)); // it has a size now
    return played;
  },

  column: (place, get, lesson, left) => PLAYED.row(place, get, lesson, left),

  row(place, get, lesson, left) {
    const { parts, shares } = get();
    if (new Set(shares).size > 1) place.style.setProperty("--shares", shares.map((share) => `${share}fr`).join(" "));
    const played = parts.map((_, n) => {
      const cell = document.createElement("div");
      place.append(cell);
      const { kind } = get().parts[n];
      cell.className = `lesson-${kind}`;
      return PLAYED[kind](cell, () => get().parts[n], lesson, left);
    });
    return {
      draw() {
        for (const [n, part] of played.entries()) drawn(part, place.children[n], left);
      },
      end() {
        for (const part of played) part.end?.();
      },
    };
  },
};

// Adds the host's settings and links to a drawing's data.
const begun = (data, begins) => (data instanceof Uint8Array ? withHeader(data, begins) : { ...data, ...begins });

// Mounts one of our scripts in its own shadow root, as in the app, so that other parts' styles don't reach it.
function mountedScript(place, name, lesson, left, dataOf, then = () => {}) {
  const { script, styles, box, look = "", mount: here } = lesson.scripts[name];
  const within = place.attachShadow({ mode: "open" });
  const root = document.createElement("div");
  root.className = `${box} ${look}`.trim();
  root.dataset[box] = "";
  within.append(root);
  const coming = Promise.all([
    here ? { default: here } : import(lesson.fileAt(script)),
    styles && lesson.read(styles),
  ]).then(([{ default: mount }, text]) => {
    const sheet = new CSSStyleSheet();
    if (text) sheet.replaceSync(new TextDecoder().decode(text));
    within.adoptedStyleSheets = [sheet];
    return mount;
  });
  const setStateValue = (setting, value) => {
    const changes = setting === "settings" ? value : { [setting]: value };
    const known = Object.entries(changes).filter(([one]) => one in lesson.settings);
    const texts = known.map(([one, told]) => [one, asText(lesson, one, told)]);
    lesson.set(Object.fromEntries(texts));
  };
  let times = 0;
  const part = {
    end: null,
    async draw() {
      const time = ++times;
      const [mount, data] = await Promise.all([coming, dataOf()]);
      if (left.aborted || time !== times) return;
      const close = mount({ data, parentElement: within, setStateValue });
      part.end = () => {
        within.__drawing?.tellNow(); // reports a choice even if the reader leaves at once
        close?.();
      };
      then();
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
  const line = "rgba(128, 128, 128, 0.25)";
  const axis = { gridcolor: line, zerolinecolor: line, automargin: true };
  const template = {
    layout: {
      font: { color, family: fontFamily, size: 12 },
      paper_bgcolor: "rgba(0, 0, 0, 0)",
      plot_bgcolor: "rgba(0, 0, 0, 0)",
      xaxis: axis,
      yaxis: axis,
    },
  };
  const around = { margin: { l: 8, r: 8, t: 36, b: 8 }, hoverlabel: { align: "left" } };
  return { ...structuredClone(layout), ...around, template, height, autosize: true };
}

// Points of charts that follow a drawing's settings (playground/lessons/parts.py, Moves). A rule takes the settings and
// the numbers of chart and drawing, and gives what the point's trace has.

const THREE_DIGITS = { deviation: 2, entropy: 2, peak: 3 };
const QUANTITY_SAYS = {
  deviation: (value) => `scores lie ${value} apart`,
  entropy: (value) => `the row has an entropy of ${value} bits`,
  peak: (value) => `the largest weight is ${value}`,
  gradient: (value) => `the derivative by q·k has a norm of ${value}`,
};

export const MOVES = {
  row_of_bars({ dk, power }, { widths, scores, quantity }) {
    const value = softmaxRow(scores[widths.indexOf(dk)], dk ** -power)[quantity];
    const digits = THREE_DIGITS[quantity];
    const text = digits ? value.toFixed(digits) : value.toPrecision(2);
    const hovertemplate = `the row of the bars: ${QUANTITY_SAYS[quantity](text)}<extra></extra>`;
    return { x: [dk], y: [value], hovertemplate };
  },
};
