// Shows the parts of a lesson's step, which playground/lessons/parts.py describes. A folder without a server has them
// for several values of the settings, as playground/serving/site_files.py writes them. The lesson with its settings is
// made in shell/lessonpage.js. PLAYERS has a function for each kind of part: (the part's element, `currentPart()`: the
// part for the present settings, the lesson, a signal that is aborted when the reader leaves the step) → {draw(),
// end()}. A part that has not changed is the same object, and is not drawn again.

import { withHeader } from "../core/container.js";
import { make } from "../drawing/dom.js";
import { markedBlocks, markedWords } from "../drawing/listing.js";
import { drawChart } from "./chart.js";
import { filled, hasRecipe, makeSubject } from "./subject.js";

const MOST_HIDDEN_MS = 1500; // how long a part that is still being drawn hides those below it
const CHART_MARGIN = "800px"; // a chart that is so near to the window is drawn

// Shows the parts in `box`. Returns {draw(), renew(parts), end()} for all of them.
export default playParts;
export function playParts(box, parts, lesson, signal) {
  const entryOf = (part) => {
    const place = make("div", part.after ? { "data-after": part.after } : "");
    const entry = { place, part, isStill: false };
    entry.played = playPart(place, () => entry.part, lesson, signal);
    return entry;
  };
  let entries = parts.map(entryOf);
  box.replaceChildren(...entries.map(({ place }) => place));

  // Draws all at once, and shows each when those above it have their heights, so that nothing on the page moves.
  async function drawInTurn(drawn) {
    const visible = drawn.filter(({ place }) => !place.hidden); // a hidden place has no size to draw in
    const longEnough = new Promise((resolve) => setTimeout(resolve, MOST_HIDDEN_MS));
    for (const { place, isStill } of visible) place.classList.toggle("lesson-coming", !isStill);
    const drawings = visible.map(({ played, place }) => drawPart(played, place, signal));
    for (const [n, drawing] of drawings.entries()) {
      await Promise.race([drawing, longEnough]);
      visible[n].place.classList.remove("lesson-coming");
      visible[n].isStill = true;
    }
  }
  function hideAnswers() {
    const guessedIds = (document.documentElement.dataset.guessed ?? "").split(" ");
    for (const { place } of entries)
      place.hidden = Boolean(place.dataset.after) && !guessedIds.includes(place.dataset.after);
  }
  lesson.reveal = () => {
    const hidden = new Set(entries.filter(({ place }) => place.hidden));
    hideAnswers();
    const first = entries.findIndex((entry) => hidden.has(entry) && !entry.place.hidden);
    if (first < 0) return;
    for (const entry of entries.slice(first)) entry.isStill = false;
    drawInTurn(entries.slice(first));
  };
  hideAnswers();
  addEventListener("guess-locked", () => lesson.reveal(), { signal });
  return {
    draw: () => drawInTurn(entries),
    // Shows other parts. Those that only have other data stay where they are.
    renew(newParts) {
      const [frames, newFrames] = [entries.map(({ part }) => frameOf(part)), newParts.map(frameOf)];
      const most = Math.min(frames.length, newFrames.length);
      let [before, after] = [0, 0]; // how many parts stay, at the beginning and at the end
      while (before < most && frames[before] === newFrames[before]) before++;
      while (after < most - before && frames.at(-1 - after) === newFrames.at(-1 - after)) after++;
      const keep = (kept, from) =>
        kept.map((entry, n) => {
          entry.part = sameOrNew(entry.part, newParts[from + n]);
          return entry;
        });
      const last = entries.splice(entries.length - after);
      const added = newParts.slice(before, newParts.length - after).map(entryOf);
      for (const { played, place } of entries.splice(before)) [played.end?.(), place.remove()];
      for (const { place } of added) box.insertBefore(place, last[0]?.place ?? null);
      entries = [...keep(entries, 0), ...added, ...keep(last, newParts.length - after)];
      hideAnswers();
      return drawInTurn(entries);
    },
    end() {
      for (const { played } of entries) played.end?.();
    },
  };
}

// What `draw` does not change in a part, as text.
const frameOf = ({ kind, name, id, title, label, options, question, parts, after }) =>
  JSON.stringify([...[kind, name, id, title, label, options, question?.id, after], ...(parts ?? []).map(frameOf)]);

// The new part; the former one where nothing has changed, also within a row.
function sameOrNew(part, newPart) {
  if (JSON.stringify(part) === JSON.stringify(newPart)) return part;
  if (!part.parts) return newPart;
  return { ...newPart, parts: newPart.parts.map((inner, n) => sameOrNew(part.parts[n], inner)) };
}

// Draws a part. If its numbers can't be fetched, a line below its place says why.
function drawPart(part, place, signal) {
  const tell = (words) => {
    if (place.nextElementSibling?.className === "lesson-trouble") place.nextElementSibling.remove();
    if (!words || signal.aborted) return;
    const button = make("button", { onclick: () => drawPart(part, place, signal) }, "Try again");
    place.after(make("p", "lesson-trouble", `${words} `, button));
  };
  return Promise.resolve(part.draw()).then(
    () => tell(""),
    (error) => tell(error.says ?? "The numbers did not come."),
  );
}

function playPart(place, partNow, lesson, signal) {
  const currentPart = () => (partNow().kind === "each" ? variantFor(partNow(), lesson) : partNow());
  const { kind } = currentPart();
  place.className = `lesson-${kind}`;
  return PLAYERS[kind](place, currentPart, lesson, signal);
}

// The part for the present settings. If these were not computed ahead, the nearest computed settings replace them.
// `played` tells drawings which settings were computed.
const madeVariants = new WeakMap();

function variantFor({ by, of, same }, { settings }) {
  const wantedValues = by.map((name) => settings[name]);
  const nearestVariant = Object.keys(of)
    .map((key) => ({ key, values: key.split(" | ") }))
    .map(({ key, values }) => ({ key, values, matches: values.filter((value, n) => value === wantedValues[n]).length }))
    .reduce((bestVariant, variant) => (variant.matches > bestVariant.matches ? variant : bestVariant));
  for (const [n, value] of nearestVariant.values.entries()) settings[by[n]] = value;
  const part = of[nearestVariant.key];
  if (!madeVariants.has(part))
    madeVariants.set(part, { ...part, ...(same && { data: { ...same, ...part.data } }), played: Object.keys(of) });
  return madeVariants.get(part);
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

// The subject of the last parts with recipes: the next step's is the same if its picture is.
const last = { words: "", subject: null };

function subjectOf({ source, picture }) {
  const words = JSON.stringify(picture);
  if (last.words !== words || !last.subject) {
    Object.assign(last, { words, subject: makeSubject(source, picture) });
    last.subject.catch(() => Object.assign(last, { subject: null })); // the next part tries again
  }
  return last.subject;
}

// A part with its recipes, or a promise of it, filled by what is computed of the picture on view.
export const filledPart = (part, lesson) =>
  hasRecipe(part) ? subjectOf(lesson).then((subject) => filled(part, subject)) : part;

// Shows a part once its promise has resolved, unless it is shown already or a newer one was shown meanwhile.
function showLatest(currentPart, lesson, signal, display) {
  let [callCount, shownPart] = [0, null];
  return {
    async draw() {
      const [part, callNumber] = [currentPart(), ++callCount];
      if (part === shownPart) return;
      const latestPart = hasRecipe(part) ? await filledPart(part, lesson) : part;
      if (callNumber !== callCount || signal.aborted) return;
      display(latestPart);
      shownPart = part;
    },
  };
}

const marked = (tag, text) => make(tag, { innerHTML: markedWords(text) });

const oneSentence = (place, currentPart) => ({ draw: () => (place.innerHTML = markedWords(currentPart().text)) });

const PLAYERS = {
  words: (place, currentPart, lesson, signal) =>
    showLatest(currentPart, lesson, signal, (words) => {
      place.classList.toggle("small", Boolean(words.small));
      place.innerHTML = withPageLinks(markedBlocks(words.text), lesson.link);
    }),

  wait: oneSentence, // what the server is about to compute
  whose: oneSentence, // whose numbers the step shows

  // A way into the workbench; where there is none, the sentence about that.
  workbench: (place, currentPart, lesson) => ({
    draw() {
      const { page, text, needs } = currentPart();
      const address = lesson.workbench?.(page);
      place.innerHTML = address ? `<a href="${address}">${markedWords(text)}</a>` : markedBlocks(needs);
    },
  }),

  // The last part of a step: {title, address: of the next page, or null, act(event): goes to the next step}
  next: (place, currentPart) => ({
    draw() {
      const { title, address, act } = currentPart();
      const innerHTML = `Next: ${markedWords(title)}`;
      place.replaceChildren(
        address ? make("a", { href: address, innerHTML }) : make("button", { onclick: act, innerHTML }),
      );
    },
  }),

  overview(place, currentPart, lesson, signal) {
    const data = () => currentPart().data;
    return mountedScript(place, "overview", lesson, signal, data, () => [currentPart()]);
  },

  ask: (place, currentPart, lesson, signal) => {
    const question = async () => {
      const { question, ...part } = await filledPart(currentPart(), lesson);
      const context = hasRecipe(currentPart()) ? `${(await subjectOf(lesson)).id} ${part.context}` : part.context;
      return { ...part, ...question, context };
    };
    // The question may have been guessed on an earlier visit, hence `reveal` after mounting.
    const after = () => lesson.reveal();
    return mountedScript(place, "guess", lesson, signal, question, () => [currentPart()], after);
  },

  choice(place, currentPart, lesson) {
    const { setting, label, options } = currentPart();
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", label);
    if (options.length < 2) place.style.display = "none"; // one option is no choice
    const buttons = options.map(([value, words]) => {
      const choose = () => [lesson.set({ [setting]: value }), control.draw()];
      return make("button", { innerHTML: markedWords(words), onclick: choose });
    });
    place.append(marked("span", label), ...buttons);
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
    const output = make("output");
    const dial = make("input", { type: "range", min: 0, max: options.length - 1 });
    dial.oninput = () => [lesson.set({ [setting]: options[Number(dial.value)][0] }), control.draw()];
    place.append(make("label", "", marked("span", label), dial, output));
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
    const list = make("select", "", ...options.map(([value, words]) => new Option(words, value)));
    list.onchange = () => lesson.set({ [setting]: list.value });
    place.append(make("label", "", marked("span", label), list));
    return { draw: () => (list.selectedIndex = chosenOption(currentPart(), lesson)) };
  },

  picture: (place, currentPart, lesson, signal) =>
    showLatest(currentPart, lesson, signal, ({ data: { url, size }, caption, width, words }) => {
      const image = make("img", { src: url, alt: words });
      const shownWidth = width ?? size?.[0];
      if (shownWidth) image.width = shownWidth;
      if (size) image.height = Math.round((shownWidth * size[1]) / size[0]); // keeps its height until it is here
      place.replaceChildren(make("figure", "", image, caption && marked("figcaption", caption)));
    }),

  drawing(place, currentPart, lesson, signal) {
    let [lastFile, lastBytes] = [null, null]; // unchanged data stay the same object
    const { name } = currentPart();
    const valuesOf = ({ settings }) => settings.map((setting) => settingValues(lesson)[setting]);
    const drawingData = async () => {
      const { data, file, settings, played } = currentPart();
      if (file && file !== lastFile) {
        lastBytes = await lesson.read(file);
        lastFile = file;
      }
      const ownData = file ? lastBytes : await filledPart(data, lesson);
      const values = settingValues(lesson); // what the reader has set meanwhile counts
      const ofSettings = Object.fromEntries(settings.map((setting) => [setting, values[setting]]));
      return withHostData(ownData, { ...ofSettings, microscope: lesson.link("microscope", {}), played });
    };
    const stateNow = () => [currentPart(), ...valuesOf(currentPart())];
    return mountedScript(place, name, lesson, signal, drawingData, stateNow);
  },

  exercise(place, currentPart, lesson, signal) {
    const exerciseData = () => ({ ...currentPart(), settings: { ...lesson.settings } });
    const stateNow = () => [currentPart(), ...Object.values(lesson.settings)];
    return mountedScript(place, "exercise", lesson, signal, exerciseData, stateNow);
  },

  // A chart's numbers may take long: it is drawn when it comes near, and again when it gets another width.
  chart(place, currentPart, lesson, signal) {
    let [figure, isNear] = [null, false];
    place.style.height = `${currentPart().height}px`;
    const drawing = showLatest(currentPart, lesson, signal, (part) => {
      figure = part.figure;
      drawFigure();
    });
    const drawFigure = () => figure && place.clientWidth && drawChart(place, figure);
    const observers = [
      new ResizeObserver(drawFigure),
      new IntersectionObserver(
        (entries) => {
          if (isNear || !entries.some(({ isIntersecting }) => isIntersecting)) return;
          isNear = true;
          drawPart(part, place, signal);
        },
        { rootMargin: CHART_MARGIN },
      ),
    ];
    for (const observer of observers) observer.observe(place);
    const part = {
      draw: () => isNear && drawing.draw(),
      end: () => observers.map((observer) => observer.disconnect()),
    };
    return part;
  },

  table: (place, currentPart, lesson, signal) =>
    showLatest(currentPart, lesson, signal, ({ head, rows }) => {
      const cells = (line, tag) => line.map((text) => `<${tag}>${markedWords(text)}</${tag}>`).join("");
      const rowsHtml = rows.map((line) => `<tr>${cells(line, "td")}</tr>`).join("");
      place.innerHTML = `<table><thead><tr>${cells(head, "th")}</tr></thead><tbody>${rowsHtml}</tbody></table>`;
    }),

  code: (place, currentPart) => ({
    draw: () => place.replaceChildren(make("pre", "", make("code", "", currentPart().text))),
  }),

  fold(place, currentPart, lesson, signal) {
    const box = make("div");
    const details = make("details", "", marked("summary", currentPart().title), box);
    place.append(details);
    const part = PLAYERS.row(box, currentPart, lesson, signal);
    details.addEventListener("toggle", () => details.open && drawPart(part, box, signal)); // closed parts have no size
    return part;
  },

  column: (place, currentPart, lesson, signal) => PLAYERS.row(place, currentPart, lesson, signal),

  row(place, currentPart, lesson, signal) {
    const { parts, shares } = currentPart();
    if (new Set(shares).size > 1) place.style.setProperty("--shares", shares.map((share) => `${share}fr`).join(" "));
    const cells = parts.map(({ kind }) => make("div", `lesson-${kind}`));
    place.append(...cells);
    const playedParts = parts.map(({ kind }, n) =>
      PLAYERS[kind](cells[n], () => currentPart().parts[n], lesson, signal),
    );
    return {
      draw: () => Promise.all(playedParts.map((part, n) => drawPart(part, cells[n], signal))),
      end() {
        for (const part of playedParts) part.end?.();
      },
    };
  },
};

// A drawing's data with the host's settings and links.
const withHostData = (data, hostData) =>
  data instanceof Uint8Array ? withHeader(data, hostData) : { ...data, ...hostData };

// Mounts the script of a drawing in a shadow root, so that styles of other parts don't apply to it. stateNow(): what
// its data depend on; while that is the same, it is not drawn again.
function mountedScript(place, name, lesson, signal, dataOf, stateNow, afterMount = () => {}) {
  const { script, styles, box, look: className = "", mount: builtIn } = lesson.scripts[name];
  const shadow = place.attachShadow({ mode: "open" });
  shadow.append(make("div", { className: `${box} ${className}`.trim(), [`data-${box}`]: "" }));
  const load = async () => {
    const [{ default: mount, styles: rules }, bytes] = await Promise.all([
      builtIn ? { default: builtIn } : import(lesson.fileAt(script)),
      styles && lesson.read(styles),
    ]);
    const styleSheet = new CSSStyleSheet();
    styleSheet.replaceSync(rules ?? new TextDecoder().decode(bytes));
    shadow.adoptedStyleSheets = [styleSheet];
    return mount;
  };
  let loading = load();
  loading.catch(() => {}); // `draw` says what is wrong
  const set = (changes, rest) => {
    const knownChanges = Object.entries(changes).filter(([name]) => name in lesson.settings);
    lesson.set(Object.fromEntries(knownChanges.map(([name, value]) => [name, settingText(lesson, name, value)])), rest);
  };
  let [callCount, shownState] = [0, []];
  const part = {
    end: null,
    async draw() {
      const [state, callNumber] = [stateNow(), ++callCount];
      if (state.length === shownState.length && state.every((value, n) => value === shownState[n])) return;
      loading = loading.catch(load);
      const [mount, data] = await Promise.all([loading, dataOf()]);
      if (signal.aborted || callNumber !== callCount) return;
      part.end = mount({ data, parentElement: shadow, set });
      shownState = place.clientWidth ? state : []; // what was drawn without a size is drawn again
      afterMount();
      await shadow.__drawing?.taken;
      await new Promise(requestAnimationFrame); // a drawing paints, and has its height, in the next frame
    },
  };
  return part;
}
