// Plays the parts of a lesson's step in the browser, where there is no Python: playground/lessons/parts.py says what
// each is, and playground/serving/lesson_files.py which of them changes with which settings.
//
// A lesson is {settings: {name: text}, options: {name: [[text, value], …]}, scripts: {name: {script, styles, box}},
// read(file) and fileAt(file), plotly() → a promise, set(changes)}. Every kind of part is a function of its place, of
// `get`, which gives the part as it is with the present settings, and of the lesson; it gives {draw(), end()}.

import { markedWords } from "../drawing/listing.js";
import { isDone } from "./checks.js";
import { MOVES } from "./moves.js";

// Gives {draw, end}.
export default function playParts(box, parts, lesson, left) {
  lesson.data = {}; // of the drawings, by their names
  const places = parts.map((part) => {
    const place = document.createElement("div");
    if (part.after) place.dataset.after = part.after;
    return place;
  });
  box.replaceChildren(...places);
  const played = parts.map((part, n) => playPart(places[n], part, lesson, left));
  const draw = () => {
    for (const part of played) part.draw();
  };
  lesson.reveal = () => {
    const guessed = (document.documentElement.dataset.guessed ?? "").split(" ");
    for (const [n, place] of places.entries()) {
      const held = place.hidden;
      place.hidden = Boolean(place.dataset.after) && !guessed.includes(place.dataset.after);
      if (held && !place.hidden) played[n].draw(); // it has a size now
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

function playPart(place, part, lesson, left) {
  const get = part.kind === "each" ? () => asItIsNow(part, lesson) : () => part;
  const { kind } = get();
  place.className = `lesson-${kind}`;
  return PLAYED[kind](place, get, lesson, left);
}

// Of a part that changes with settings. Values that were not played ahead become those that were.
function asItIsNow({ by, of }, { settings }) {
  const wanted = by.map((name) => settings[name]).join(" | ");
  if (Object.hasOwn(of, wanted)) return of[wanted];
  const [values] = Object.keys(of);
  for (const [n, value] of values.split(" | ").entries()) settings[by[n]] = value;
  return of[values];
}

const typedSettings = ({ settings, options }) =>
  Object.fromEntries(
    Object.entries(settings).map(([name, text]) => [name, options[name]?.find(([one]) => one === text)?.[1] ?? text]),
  );

const asText = ({ options }, name, value) => options[name]?.find(([, one]) => one === value)?.[0] ?? String(value);

const PLAYED = {
  words: (place, get) => ({
    draw() {
      const { text, small } = get();
      place.classList.toggle("small", Boolean(small));
      place.innerHTML = markedWords(text);
    },
  }),

  said: (place, get, { settings }) => ({
    draw() {
      const { by, texts } = get();
      place.innerHTML = markedWords(texts[settings[by]]);
    },
  }),

  ask: (place, get, lesson, left) => {
    const asked = () => ({ context: "", ...get(), ...get().question, afresh: false });
    return mountedScript(place, "guess", lesson, left, asked, () => lesson.reveal()); // it may be guessed already
  },

  choice(place, get, lesson) {
    const { setting, label, options } = get();
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", label);
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
        for (const [n, button] of buttons.entries())
          button.setAttribute("aria-pressed", String(options[n][0] === lesson.settings[setting]));
      },
    };
  },

  slider(place, get, lesson) {
    const { setting, label, options } = get();
    const line = document.createElement("label");
    const [legend, shown] = [document.createElement("span"), document.createElement("output")];
    const dial = Object.assign(document.createElement("input"), { type: "range", min: 0, max: options.length - 1 });
    legend.innerHTML = markedWords(label);
    line.append(legend, dial, shown);
    dial.addEventListener("input", () => lesson.set({ [setting]: options[Number(dial.value)][0] }));
    place.append(line);
    return {
      draw() {
        const at = options.findIndex(([value]) => value === lesson.settings[setting]);
        dial.value = String(at);
        shown.textContent = options[at]?.[1] ?? "";
      },
    };
  },

  drawing(place, get, lesson, left) {
    const held = new Map(); // file → a promise of its bytes: the same bytes are the same data
    const { name } = get();
    return mountedScript(place, name, lesson, left, () => {
      const { data, file, by, files, settings } = get();
      const wanted = file ?? files?.[lesson.settings[by]];
      if (wanted && !held.has(wanted)) held.set(wanted, lesson.read(wanted));
      if (wanted) return held.get(wanted);
      const now = typedSettings(lesson);
      lesson.data[name] = data;
      return { ...data, ...Object.fromEntries(settings.map((one) => [one, now[one]])), view_id: "here" };
    });
  },

  exercise(place, get, lesson, left) {
    const told = () => {
      const { exercise, done, ...part } = get();
      const settings = { ...lesson.settings };
      if (!exercise) return { ...part, done, settings };
      return {
        ...exercise,
        question: exercise.asks,
        done: doneBefore(exercise.id, done, lesson),
        why: "",
        tempting: null,
      };
    };
    return mountedScript(place, "exercise", lesson, left, told);
  },

  chart(place, get, lesson, left) {
    let Plotly = null;
    return {
      async draw() {
        Plotly = await lesson.plotly();
        if (left.aborted || !place.clientWidth) return; // it is held back
        const { figure, height, name, moves } = get();
        const data = figure.data.map((trace) => ({ ...trace }));
        if (moves) {
          const numbers = { ...moves.numbers, ...Object.assign({}, ...Object.values(lesson.data)) };
          Object.assign(data.at(moves.trace), MOVES[moves.rule](typedSettings(lesson), numbers));
        }
        Plotly.react(place, data, chartLayout(figure.layout, height, place), chartConfig(name));
      },
      end: () => Plotly?.purge(place),
    };
  },

  table(place, get) {
    return {
      draw() {
        const { head, rows } = get();
        const cells = (line, tag) => line.map((text) => `<${tag}>${markedWords(text)}</${tag}>`).join("");
        const lines = rows.map((line) => `<tr>${cells(line, "td")}</tr>`).join("");
        place.innerHTML = `<table><thead><tr>${cells(head, "th")}</tr></thead><tbody>${lines}</tbody></table>`;
      },
    };
  },

  code: (place, get) => ({
    draw() {
      const code = document.createElement("code");
      code.textContent = get().text;
      const listing = document.createElement("pre");
      listing.append(code);
      place.replaceChildren(listing);
    },
  }),

  row(place, get, lesson, left) {
    const { parts } = get();
    const played = parts.map((_, n) => {
      const cell = document.createElement("div");
      place.append(cell);
      const { kind } = get().parts[n];
      cell.className = `lesson-${kind}`;
      return PLAYED[kind](cell, () => get().parts[n], lesson, left);
    });
    return {
      draw() {
        for (const part of played) part.draw();
      },
      end() {
        for (const part of played) part.end?.();
      },
    };
  },
};

function doneBefore(id, done, lesson) {
  if (done) return Object.entries(done).every(([name, values]) => values.includes(lesson.settings[name]));
  return isDone(id, lesson.settings, Object.assign({}, ...Object.values(lesson.data)));
}

// One of our scripts in a place of its own, as in the app: no style of another part reaches it.
function mountedScript(place, name, lesson, left, told, then = () => {}) {
  const { script, styles, box } = lesson.scripts[name];
  const within = place.attachShadow({ mode: "open" });
  const root = document.createElement("div");
  root.className = box;
  root.dataset[box] = "";
  within.append(root);
  const coming = Promise.all([import(lesson.fileAt(script)), styles && lesson.read(styles)]).then(
    ([{ default: mount }, text]) => {
      const sheet = new CSSStyleSheet();
      if (text) sheet.replaceSync(new TextDecoder().decode(text));
      within.adoptedStyleSheets = [sheet];
      return mount;
    },
  );
  const setStateValue = (setting, value) => {
    const changes = setting === "settings" ? value : { [setting]: value };
    const texts = Object.entries(changes).map(([one, told]) => [one, asText(lesson, one, told)]);
    lesson.set(Object.fromEntries(texts));
  };
  const part = {
    end: null,
    async draw() {
      const [mount, data] = await Promise.all([coming, told()]);
      if (left.aborted) return;
      part.end = mount({ data, parentElement: within, setStateValue });
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
