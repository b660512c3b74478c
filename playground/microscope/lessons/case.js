// Shows the cost of attention, in FLOPs and bytes, for an image and a ViT whose sizes the reader sets with dials.
// data: `drawing` of playground/lessons/cost.py, and a value of each setting. Sends chosen settings.

import { BYTES, bytesText, caseOf, countedFlops, crossingOf, FLOPS, flopsText, threeDigits } from "../core/costs.js";
import { axis, pathOf, ticks } from "../drawing/axes.js";
import { make } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";
import { lessonDrawing } from "../drawing/stage.js";
import { followPointer } from "./patch.js";

const SHORTEST_AXIS = 16_384; // tokens at the right end of the shortest axis
const STEP_FACTOR = 1.1; // factor by which an arrow key changes the number of tokens
const LEAST_NUMBERED_SHARE = 0.04; // share of the largest square's side; smaller squares get no number
const commas = (n) => n.toLocaleString("en");
const fillHoles = (text, holes) => text.replace(/\{(\w+)\}/g, (_, name) => holes[name]);
const capitalised = (text) => text[0].toUpperCase() + text.slice(1);

function createCase(stage) {
  const state = Object.seal({
    stage,
    data: null, //     the data, see the top of this file
    pieces: [], //     {place: the element, paint(case, theme), isSetting: whether it stays if a case is impossible}
    settings: /** @type {any} */ ({}), // the values of the dials and switches
    pointedTokens: null, // the number of tokens under the cursor in a chart
  });
  return {
    take(data) {
      if (state.data?.pieces.join() !== data.pieces.join()) {
        stage.root.replaceChildren();
        state.data = data;
        state.pieces = data.pieces.map((name) => PIECES[name](state));
      }
      state.data = data;
      for (const name of [...Object.keys(data.dials), ...Object.keys(data.switches)]) state.settings[name] = data[name];
    },
    paint(theme) {
      const trouble = troubleOf(state.settings, state.data.says);
      for (const { place, paint, isSetting } of state.pieces) {
        place.hidden = Boolean(trouble) && !isSetting;
        if (!place.hidden) paint({ ...caseOf(state.settings), trouble }, theme);
      }
    },
    read: () => ({ ...caseOf(state.settings), settings: { ...state.settings } }),
  };
}

function choose(state, changes) {
  Object.assign(state.settings, changes);
  state.pointedTokens = null;
  for (const [name, value] of Object.entries(changes)) state.stage.tell(name, value);
  state.stage.redraw();
}

// A sentence that says why these settings are impossible; "" if they are possible.
function troubleOf({ image, patch, width, heads }, { no_patch, no_heads }) {
  if (image < patch) return fillHoles(no_patch, { image, patch });
  return width % heads ? fillHoles(no_heads, { width, heads, left: width % heads }) : "";
}

// Adds an element to the drawing. Returns the element and the named parts of its markup.
function addPart(state, className, markup = "", tag = /** @type {"div" | "p" | "figure"} */ ("div")) {
  const place = make(tag, { className, innerHTML: markup });
  state.stage.root.append(place);
  return { place, find: (name) => place.querySelector(`[data-ref="${name}"]`) };
}

// A group of buttons of which exactly one is pressed; returns a function that updates them.
function addButtons(place, label, options, isPressed) {
  const legend = make("span");
  const buttons = options.map(([words, onclick]) => make("button", { onclick }, words));
  const group = make("div", { className: "tabs", role: "group" }, legend, ...buttons);
  place.append(group);
  return (caseNow) => {
    const text = fillHoles(label, { k: caseNow.kernel });
    group.setAttribute("aria-label", text);
    legend.textContent = text;
    for (const [n, button] of buttons.entries()) button.setAttribute("aria-pressed", String(isPressed(n)));
  };
}

const PIECES = {
  dials(state) {
    const markup = `<div data-ref="cases"></div><div class="dials" data-ref="dials"></div>
      <p class="trouble" data-ref="trouble" role="alert"></p>`;
    const { place, find: findRef } = addPart(state, "setting", markup);
    const groups = [state.data.presets, state.data.sizes].map(({ label, cases }) =>
      addButtons(
        findRef("cases"),
        label,
        cases.map(([words, settings]) => [words, () => choose(state, settings)]),
        (n) => Object.entries(cases[n][1]).every(([name, value]) => state.settings[name] === value),
      ),
    );
    const dials = Object.entries(state.data.dials).map(([name, { label, options }]) => {
      const [output, dial] = [make("span"), make("input", { type: "range", min: 0, max: options.length - 1 })];
      dial.oninput = () => choose(state, { [name]: options[Number(dial.value)] });
      findRef("dials").append(make("label", "", output, dial));
      return () => {
        const value = state.settings[name];
        dial.value = String(options.indexOf(value));
        output.textContent = label.replaceAll("{}", commas(value));
        dial.setAttribute("aria-valuetext", output.textContent);
      };
    });
    const paint = (caseNow) => {
      for (const write of [...groups, ...dials]) write(caseNow);
      findRef("trouble").textContent = caseNow.trouble;
    };
    return { place, paint, isSetting: true };
  },

  square(state) {
    const markup = `<figure><figcaption><b data-ref="title"></b></figcaption>
      <svg class="square" data-ref="square" role="img"></svg></figure>
      <div><p data-ref="sides"></p><dl data-ref="numbers"></dl><ul data-ref="legend"></ul></div>`;
    const { place, find } = addPart(state, "beside", markup);
    return { place, paint: (caseNow, theme) => paintSquare(state, find, caseNow, theme) };
  },

  table(state) {
    const markup = `<div class="wide"><table data-ref="table"></table></div><p data-ref="shares"></p>`;
    const { place, find } = addPart(state, "", markup);
    const paint = ({ tokens, width, kernel }) => {
      const { says: texts, rows } = state.data;
      const holes = { n: commas(tokens), d: commas(width), k: kernel };
      const flops = (costName) => FLOPS[costName](tokens, width, kernel);
      const rowHtml = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
      const head = rowHtml([fillHoles(texts.layer, holes), "FLOPs", "here"], "th");
      const body = rows.map(([words, formula, costName]) =>
        rowHtml([fillHoles(words, holes), formula, flopsText(flops(costName))], "td"),
      );
      find("table").innerHTML = head + body.join("");
      const share = (part, total) => `${Math.round((100 * part) / total)} %`;
      const attention = share(flops("attention"), flops("attention") + flops("mlp"));
      const pairs = share(flops("pairs"), flops("attention"));
      find("shares").innerHTML = markedWords(fillHoles(texts.shares, { attention, pairs }));
    };
    return { place, paint };
  },

  switches(state) {
    const { place } = addPart(state, "switches");
    const groups = Object.entries(state.data.switches).map(([name, { label, options }]) =>
      addButtons(
        place,
        label,
        options.map(([value, words]) => [words, () => choose(state, { [name]: value })]),
        (n) => options[n][0] === state.settings[name],
      ),
    );
    const paint = (caseNow) => {
      for (const write of groups) write(caseNow);
    };
    return { place, paint };
  },

  ratio(state) {
    const { place } = addPart(state, "", "", "p");
    return { place, paint: (caseNow) => (place.innerHTML = markedWords(ratioWords(state, caseNow))) };
  },

  flops: (state) =>
    addChart(state, (caseNow) => {
      const { says: texts } = state.data;
      const { count: countedPart, other: otherPart, mlp } = state.settings;
      const mlpWords = mlp === "yes" ? texts.and_mlp : "";
      const [flops, otherFlops] = [countedPart, otherPart].map((part) => (n) => countedFlops(part, mlp, n, caseNow));
      const convolution = fillHoles(texts.convolution, { other: switchWords(state, "other"), k: caseNow.kernel });
      const lines = [
        lineOf(state, switchWords(state, "count") + mlpWords, flops, "attention", "solid"),
        lineOf(state, texts.pairs, (n) => FLOPS.pairs(n, caseNow.width), "attention", "dot"),
        lineOf(state, convolution + mlpWords, otherFlops, "convolution", "dash"),
      ].filter(({ name }) => countedPart !== "scores" || name !== texts.pairs);
      const tokens = crossingOf(countedPart, otherPart, caseNow);
      const crossing = { tokens, value: flops(tokens), shape: "cross", words: `${commas(tokens)} tokens` };
      const currentMark = { tokens: caseNow.tokens, value: flops(caseNow.tokens) };
      const title = fillHoles(texts.flops, { d: commas(caseNow.width) });
      const mostTokens = Math.max(mostTokensOf(caseNow), 2 * tokens);
      return { lines, text: flopsText, mostTokens, title, marks: [...(tokens > 1 ? [crossing] : []), currentMark] };
    }),

  bytes: (state) =>
    addChart(state, (caseNow) => {
      const { says: texts } = state.data;
      const line = (name, key, dash) => lineOf(state, name, (n) => BYTES[key](n, caseNow), key, dash);
      const lines = [
        line(texts.attention, "attention", "solid"),
        line(texts.fused, "fused", "solid"),
        line(fillHoles(texts.convolution, { other: "", k: caseNow.kernel }).trim(), "convolution", "dash"),
      ];
      const title = fillHoles(texts.bytes, { heads: caseNow.heads });
      const currentMark = { tokens: caseNow.tokens, value: BYTES.attention(caseNow.tokens, caseNow) };
      return { lines, text: bytesText, mostTokens: mostTokensOf(caseNow), title, marks: [currentMark] };
    }),

  kept(state) {
    const { place } = addPart(state, "", "", "p");
    const paint = ({ layers, matricesBytes, keptBytes }) => {
      const { says: texts } = state.data;
      const ratio = matricesBytes / keptBytes;
      const comparison = fillHoles(ratio > 1 ? texts.less : texts.more, {
        times: threeDigits(Math.max(ratio, 1 / ratio)),
      });
      const holes = { layers, all: bytesText(matricesBytes), kept: bytesText(keptBytes), less: comparison };
      place.innerHTML = markedWords(fillHoles(texts.kept, holes));
    };
    return { place, paint };
  },
};

// The words of the option that a switch has.
const switchWords = ({ data, settings }, name) =>
  data.switches[name].options.find(([value]) => value === settings[name])[1];

const lineOf = ({ data }, name, of, colour, dash) => ({ name, of, colour: data.colours[colour], dash });

const mostTokensOf = ({ tokens }) => Math.max(SHORTEST_AXIS, 2 * tokens);

// Adds a chart of costs by number of tokens that follows the pointer; chartFor(case) describes its lines and marks.
function addChart(state, chartFor) {
  const markup = `<figcaption><b data-ref="title"></b></figcaption>
    <svg class="growth" data-ref="chart" role="img" tabindex="0"></svg><p class="legend" data-ref="legend"></p>`;
  const { place, find } = addPart(state, "", markup, "figure");
  const [svg, legend, title] = ["chart", "legend", "title"].map((name) => /** @type {any} */ (find(name)));
  let drawnChart = null;
  const point = (tokens) => {
    state.pointedTokens = tokens;
    state.stage.redraw();
  };
  const pointAt = (event) => drawnChart && point(drawnChart.tokensAt(event.clientX - svg.getBoundingClientRect().left));
  followPointer(svg, pointAt);
  svg.addEventListener("pointerleave", () => point(null));
  svg.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: STEP_FACTOR, ArrowLeft: 1 / STEP_FACTOR }[key];
    if (step)
      point(Math.round(Math.min(drawnChart.mostTokens, Math.max(4, drawnChart.tokens * step + Math.sign(step - 1)))));
  });
  const paint = (caseNow, theme) => {
    const chart = { ...chartFor(caseNow), tokens: caseNow.tokens, pointedTokens: state.pointedTokens };
    title.textContent = chart.title;
    drawnChart = paintGrowth({ svg, legend }, chart, theme);
  };
  return { place, paint };
}

// The sentence about the ratio of two costs. Switches choose the costs.
function ratioWords(state, caseNow) {
  const { says: texts } = state.data;
  const { count, other: otherPart, mlp } = state.settings;
  const [flops, otherFlops] = [count, otherPart].map((part) => countedFlops(part, mlp, caseNow.tokens, caseNow));
  const crossingAt = crossingOf(count, otherPart, caseNow);
  const side = Math.ceil(Math.sqrt(crossingAt));
  const holes = { k: caseNow.kernel, first: commas(crossingAt), side, pixels: commas(side * caseNow.patch) };
  return fillHoles(texts.ratio, {
    what: capitalised(switchWords(state, "count")),
    other: switchWords(state, "other"),
    mlp: mlp === "yes" ? texts.each_mlp : "",
    mine: commas(flops),
    theirs: commas(otherFlops),
    ratio: threeDigits(flops / otherFlops),
    textbook: count === "scores" && otherPart === "depthwise" && mlp === "no" ? texts.textbook : "",
    crossing: fillHoles(crossingAt === 1 ? texts.always : texts.from, holes),
  });
}

const textIn =
  (theme) =>
  (x, y, anchor, text, attributes = "") =>
    `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${theme.soft}" font-size="12" ${attributes}>${text}</text>`;

// Paints the score matrix to scale. A column is as high as the number of tokens that one token reads.
function paintSquare(state, findRef, caseNow, theme) {
  const { says: texts, colours, presets } = state.data;
  const { tokens: n, entries, kernel, side, rest: remainder, heads, layers } = caseNow;
  const readCount = Math.min(kernel ** 2, n);
  const svg = findRef("square");
  const { width, height } = svg.getBoundingClientRect();
  const [left, topLabelY, size] = [44, 26, Math.max(100, Math.min(width - 64, height - 46))];
  const scale = size / n;
  const rectOf = (queries, keys, style) =>
    `<rect x="${left}" y="${20 + size - keys * scale}" width="${queries * scale}" height="${keys * scale}" ${style}/>`;
  const textAt = textIn(theme);
  const smallerCases = presets.cases
    .map(([name, settings]) => ({ name, tokens: caseOf(settings).tokens }))
    .filter(({ tokens }) => tokens < n);
  const dottedEdge = `stroke="${colours.attention}" stroke-width="1.5" stroke-dasharray="2 4" fill="none"`;
  const centre = 20 + size / 2;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.innerHTML = [
    rectOf(n, n, `fill="${colours.attention}" fill-opacity="0.28" stroke="${colours.attention}" stroke-width="2"`),
    ...smallerCases.map(({ tokens }) => rectOf(tokens, tokens, dottedEdge)),
    ...smallerCases
      .filter(({ tokens }) => tokens > LEAST_NUMBERED_SHARE * n)
      .map(({ tokens }) => textAt(left + tokens * scale + 3, 16 + size - tokens * scale, "start", commas(tokens))),
    rectOf(n, readCount, `fill="${colours.convolution}" stroke="${colours.convolution}" stroke-width="1.5"`),
    textAt(left, size + 20 + 16, "middle", "0"),
    textAt(left + size, size + 20 + 16, "middle", commas(n)),
    textAt(left + size / 2, size + 20 + 16, "middle", texts.who_asks),
    textAt(left - 6, 20 + size, "end", "0"),
    textAt(left - 6, topLabelY + 4, "end", commas(n)),
    textAt(left - 10, centre, "middle", texts.whom, `transform="rotate(-90 ${left - 10} ${centre})"`),
  ].join("");
  const holes = { ...caseNow, image: commas(caseNow.image), entries: commas(entries), tokens: commas(n), k: kernel };
  const title = fillHoles(texts.square, holes);
  svg.setAttribute("aria-label", title);
  findRef("title").textContent = title;
  findRef("sides").innerHTML = markedWords(fillHoles(texts.sides + (remainder ? texts.rest : ""), holes));
  const numbers = [
    [`tokens, ${side}²`, commas(n)],
    [texts.in_a_head, commas(entries)],
    [fillHoles(texts.in_all, { heads, layers }), commas(caseNow.allEntries)],
  ];
  findRef("numbers").innerHTML = numbers
    .map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`)
    .join("");
  const legend = [
    [colours.attention, fillHoles(texts.pair_scores, holes)],
    [colours.convolution, fillHoles(texts.neighbours, { ...holes, reads: readCount, read: commas(n * readCount) })],
    ...smallerCases.map(({ name, tokens }) => [
      "",
      fillHoles(texts.dotted, { name, tokens: commas(tokens), entries: commas(tokens ** 2) }),
    ]),
  ];
  findRef("legend").innerHTML = legend.map(([, words]) => `<li><i></i>${words}</li>`).join("");
  for (const [i, mark] of findRef("legend").querySelectorAll("i").entries()) {
    mark.style.background = legend[i][0] || "none";
    if (!legend[i][0]) mark.style.border = `1.5px dotted ${colours.attention}`;
  }
}

export default lessonDrawing(createCase);

// Paints costs by number of tokens as SVG: lines on two logarithmic axes. The legend shows the values at the number of
// tokens under the cursor, or else at the number that the settings give.

const [LEFT, RIGHT, TOP, BOTTOM] = [58, 24, 8, 38]; // px
const MOST_DECADES = 7; // on an axis with more powers of ten, only some of them get a number
const DASHES = { solid: "", dot: "2 5", dash: "9 5" };
const POINTS = 60; // number of points of a line
const AXIS_START = 4; // tokens at the left end of the axis
const MARGIN_FACTOR = 10 ** 0.1; // of the largest cost and the end of its axis

// lines: [{name, of(tokens): cost, colour, dash}]; marks: [{tokens, value, shape, words}]; mostTokens: where the axis
// ends; text(cost): the cost in words.
export function paintGrowth({ svg, legend }, { lines, marks, text, mostTokens, tokens, pointedTokens, title }, theme) {
  const { width, height } = svg.getBoundingClientRect();
  const values = lines.flatMap(({ of }) => [of(AXIS_START), of(mostTokens)]);
  const [low, high] = [Math.min(...values) / MARGIN_FACTOR, Math.max(...values) * MARGIN_FACTOR];
  const { at: x, value: tokensAt } = axis(AXIS_START, mostTokens, LEFT, width - RIGHT, true);
  const { at: y } = axis(low, high, height - BOTTOM, TOP, true);
  const shownTokens = pointedTokens ?? tokens;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("aria-label", `${title}. The arrow keys choose a number of tokens.`);
  svg.innerHTML = [
    ...axes({ x, y, width, height, low, high, mostTokens, text }, theme),
    `<line x1="${x(shownTokens)}" x2="${x(shownTokens)}" y1="${TOP}" y2="${height - BOTTOM}" stroke="${theme.soft}"
      stroke-dasharray="1 3"/>`,
    ...lines.map(({ of, colour, dash }) => {
      const points = Array.from({ length: POINTS }, (_, i) => LEFT + (i / (POINTS - 1)) * (width - RIGHT - LEFT));
      return `<path d="${pathOf(points.map((px) => [px, y(of(tokensAt(px)))]))}" fill="none" stroke="${colour}"
        stroke-width="3" stroke-dasharray="${DASHES[dash]}"/>`;
    }),
    ...marks.map((mark) => markOf(mark, x, y, theme)),
  ].join("");
  const parts = lines.map(
    ({ name, of, colour, dash }) => `<span><svg width="26" height="8" aria-hidden="true"><line x2="26" y1="4" y2="4"
      stroke="${colour}" stroke-width="3" stroke-dasharray="${DASHES[dash]}"/></svg> ${name}:
      <b>${text(of(shownTokens))}</b></span>`,
  );
  const caseWords = shownTokens === tokens ? "your case: " : "";
  legend.innerHTML = `<b>${caseWords}${shownTokens.toLocaleString("en")} tokens</b> ${parts.join(" ")}`;
  return { tokens: shownTokens, mostTokens, tokensAt: (left) => Math.round(tokensAt(left)) };
}

function axes({ x, y, width, height, low, high, mostTokens, text }, theme) {
  const textAt = textIn(theme);
  const parts = [];
  for (let n = 16; n <= mostTokens; n *= 4) {
    parts.push(
      `<line x1="${x(n)}" x2="${x(n)}" y1="${TOP}" y2="${height - BOTTOM}" stroke="${theme.line}"/>`,
      textAt(x(n), height - BOTTOM + 16, "middle", n.toLocaleString("en")),
    );
  }
  for (const tick of ticks(low, high, true, MOST_DECADES)) {
    parts.push(
      `<line x1="${LEFT}" x2="${width - RIGHT}" y1="${y(tick)}" y2="${y(tick)}" stroke="${theme.line}"/>`,
      textAt(LEFT - 6, y(tick) + 4, "end", text(tick)),
    );
  }
  return [...parts, textAt((LEFT + width - RIGHT) / 2, height - 4, "middle", "tokens")];
}

function markOf({ tokens, value, shape, words }, x, y, theme) {
  const [left, top] = [x(tokens), y(value)];
  const outlinePath = shape === "cross" ? "M-5-5L5 5M5-5L-5 5" : "M0-7L7 0L0 7L-7 0Z";
  const label = words
    ? `<text x="-10" y="-10" text-anchor="end" fill="${theme.ink}" font-size="12">${words}</text>`
    : "";
  return `<g transform="translate(${left.toFixed(1)} ${top.toFixed(1)})">
    <path d="${outlinePath}" fill="${theme.paper}" stroke="${theme.ink}" stroke-width="2.5"/>${label}</g>`;
}
