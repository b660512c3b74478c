// A case of attention's cost: dials for an image and a ViT, and counts of FLOPs and bytes.
//
// data: {pieces: which are shown, in order, of PIECES; dials: {setting: {label, options}}; switches: the same, whose
// options are [value, words]; presets and sizes: {label, cases: [[words, {setting: value}]]}; rows: of the table,
// [words, formula, which FLOPs]; says: sentences with {holes}; colours}, and the settings that are named in it, which
// go out again when they are chosen.

import { BYTES, bytesText, caseOf, countedFlops, crossingOf, FLOPS, flopsText, threeDigits } from "../core/costs.js";
import { markedWords } from "../drawing/listing.js";
import { keepDrawing } from "../drawing/stage.js";

const LEAST = 16_384; // tokens: a chart's axis reaches at least this far
const STEP = 1.1; // factor of tokens for an arrow key
const WORDS = 0.04; // of the large square: a smaller square has no room for its number
const number = (n) => n.toLocaleString("en");
const filled = (text, holes) => text.replace(/\{(\w+)\}/g, (_, name) => holes[name]);
const capital = (text) => text[0].toUpperCase() + text.slice(1);

function createCase(stage) {
  const it = Object.seal({
    stage,
    told: null, //     what came in
    pieces: [], //     (case, theme) → paints one
    settings: {}, //   of the dials and switches
    pointed: null, //  a number of tokens, in a chart
  });
  return {
    take(data) {
      if (it.told?.pieces.join() !== data.pieces.join()) {
        stage.root.replaceChildren();
        it.told = data;
        it.pieces = data.pieces.map((name) => PIECES[name](it));
      }
      it.told = data;
      for (const name of [...Object.keys(data.dials), ...Object.keys(data.switches)])
        if (stage.heeds(name, data[name]) || !(name in it.settings)) it.settings[name] = data[name];
    },
    paint(theme) {
      const trouble = troubleOf(it.settings, it.told.says);
      for (const paint of it.pieces) paint({ ...caseOf(it.settings), trouble }, theme);
    },
    read: () => ({ ...caseOf(it.settings), settings: { ...it.settings } }),
  };
}

function choose(it, changes) {
  Object.assign(it.settings, changes);
  it.pointed = null;
  for (const [name, value] of Object.entries(changes)) it.stage.tell(name, value);
  it.stage.redraw();
}

// Why there is no such case, in a sentence.
function troubleOf({ image, patch, width, heads }, { no_patch, no_heads }) {
  if (image < patch) return filled(no_patch, { image, patch });
  return width % heads ? filled(no_heads, { width, heads, left: width % heads }) : "";
}

// Adds an element to the drawing; returns the element and its parts by name.
function placed(it, tag, markup) {
  const place = document.createElement(tag);
  place.innerHTML = markup;
  it.stage.root.append(place);
  const find = (name) => place.querySelector(`[data-ref="${name}"]`);
  return { place, find };
}

// Wraps a piece that is not drawn for an impossible case.
const ofACase =
  ({ place }, paint) =>
  (one, theme) => {
    place.hidden = Boolean(one.trouble);
    if (!one.trouble) paint(one, theme);
  };

// A group of buttons of which exactly one is pressed; returns a function that presses one.
function buttonsOf(place, label, options, pressed) {
  const group = document.createElement("div");
  group.className = "tabs";
  group.setAttribute("role", "group");
  const legend = document.createElement("span");
  const buttons = options.map(([words, act]) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: words });
    button.addEventListener("click", act);
    return button;
  });
  group.append(legend, ...buttons);
  place.append(group);
  return (one) => {
    const text = filled(label, { k: one.kernel });
    group.setAttribute("aria-label", text);
    legend.textContent = text;
    for (const [n, button] of buttons.entries()) button.setAttribute("aria-pressed", String(pressed(n)));
  };
}

const PIECES = {
  dials(it) {
    const { place, find } = placed(
      it,
      "div",
      `<div data-ref="cases"></div><div class="dials" data-ref="dials"></div>
      <p class="trouble" data-ref="trouble" role="alert"></p>`,
    );
    place.className = "setting";
    const groups = [it.told.presets, it.told.sizes].map(({ label, cases }) =>
      buttonsOf(
        find("cases"),
        label,
        cases.map(([words, settings]) => [words, () => choose(it, settings)]),
        (n) => Object.entries(cases[n][1]).every(([name, value]) => it.settings[name] === value),
      ),
    );
    const dials = Object.entries(it.told.dials).map(([name, { label, options }]) => {
      const [line, said, dial] = ["label", "span", "input"].map((tag) => document.createElement(tag));
      Object.assign(dial, { type: "range", min: 0, max: options.length - 1 });
      dial.addEventListener("input", () => choose(it, { [name]: options[Number(dial.value)] }));
      line.append(said, dial);
      find("dials").append(line);
      return () => {
        const value = it.settings[name];
        dial.value = String(options.indexOf(value));
        said.textContent = label.replaceAll("{}", number(value));
        dial.setAttribute("aria-valuetext", said.textContent);
      };
    });
    return (one) => {
      for (const write of [...groups, ...dials]) write(one);
      find("trouble").textContent = one.trouble;
    };
  },

  square(it) {
    const part = placed(
      it,
      "div",
      `<figure><figcaption><b data-ref="title"></b></figcaption>
      <svg class="square" data-ref="square" role="img"></svg></figure>
      <div><p data-ref="sides"></p><dl data-ref="numbers"></dl><ul data-ref="legend"></ul></div>`,
    );
    part.place.className = "beside";
    return ofACase(part, (one, theme) => paintSquare(it, part.find, one, theme));
  },

  table(it) {
    const part = placed(it, "div", `<div class="wide"><table data-ref="table"></table></div><p data-ref="shares"></p>`);
    return ofACase(part, ({ tokens, width, kernel }) => {
      const { says, rows } = it.told;
      const holes = { n: number(tokens), d: number(width), k: kernel };
      const flops = (which) => FLOPS[which](tokens, width, kernel);
      const line = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
      const head = line([filled(says.layer, holes), "FLOPs", "here"], "th");
      const body = rows.map(([words, formula, which]) =>
        line([filled(words, holes), formula, flopsText(flops(which))], "td"),
      );
      part.find("table").innerHTML = head + body.join("");
      const share = (part, whole) => `${Math.round((100 * part) / whole)} %`;
      const attention = share(flops("attention"), flops("attention") + flops("mlp"));
      const pairs = share(flops("pairs"), flops("attention"));
      part.find("shares").innerHTML = markedWords(filled(says.shares, { attention, pairs }));
    });
  },

  switches(it) {
    const part = placed(it, "div", "");
    part.place.className = "switches";
    const groups = Object.entries(it.told.switches).map(([name, { label, options }]) =>
      buttonsOf(
        part.place,
        label,
        options.map(([value, words]) => [words, () => choose(it, { [name]: value })]),
        (n) => options[n][0] === it.settings[name],
      ),
    );
    return ofACase(part, (one) => {
      for (const write of groups) write(one);
    });
  },

  ratio(it) {
    const part = placed(it, "p", "");
    return ofACase(part, (one) => (part.place.innerHTML = markedWords(ratioOf(it, one))));
  },

  flops: (it) =>
    chartOf(it, (one) => {
      const { says, colours, switches } = it.told;
      const { count, other, mlp } = it.settings;
      const words = (name) => switches[name].options.find(([value]) => value === it.settings[name])[1];
      const both = mlp === "yes" ? says.and_mlp : "";
      const flops = (n) => countedFlops(count, mlp, n, one);
      const convolution = filled(says.convolution, { other: words("other"), k: one.kernel });
      const lines = [
        { name: words("count") + both, of: flops, colour: colours.attention, dash: "solid" },
        { name: says.pairs, of: (n) => FLOPS.pairs(n, one.width), colour: colours.attention, dash: "dot" },
        {
          name: convolution + both,
          of: (n) => countedFlops(other, mlp, n, one),
          colour: colours.convolution,
          dash: "dash",
        },
      ].filter(({ name }) => count !== "scores" || name !== says.pairs);
      const first = crossingOf(count, other, one);
      const crossing = { tokens: first, value: flops(first), shape: "cross", words: `${number(first)} tokens` };
      const here = { tokens: one.tokens, value: flops(one.tokens) };
      return {
        ...{
          lines,
          text: flopsText,
          most: Math.max(mostOf(one), 2 * first),
          title: filled(says.flops, { d: number(one.width) }),
        },
        marks: [...(first > 1 ? [crossing] : []), here],
      };
    }),

  bytes: (it) =>
    chartOf(it, (one) => {
      const { says, colours } = it.told;
      const line = (name, which, dash) => ({ name, of: (n) => BYTES[which](n, one), colour: colours[which], dash });
      const lines = [
        line(says.attention, "attention", "solid"),
        line(says.fused, "fused", "solid"),
        line(filled(says.convolution, { other: "", k: one.kernel }).trim(), "convolution", "dash"),
      ];
      const title = filled(says.bytes, { heads: one.heads });
      const here = { tokens: one.tokens, value: BYTES.attention(one.tokens, one) };
      return { lines, text: bytesText, most: mostOf(one), title, marks: [here] };
    }),

  kept(it) {
    const part = placed(it, "p", "");
    return ofACase(part, ({ layers, matricesBytes, keptBytes }) => {
      const { says } = it.told;
      const ratio = matricesBytes / keptBytes;
      const less = filled(ratio > 1 ? says.less : says.more, { times: threeDigits(Math.max(ratio, 1 / ratio)) });
      const holes = { layers, all: bytesText(matricesBytes), kept: bytesText(keptBytes), less };
      part.place.innerHTML = markedWords(filled(says.kept, holes));
    });
  },
};

// ------------------------------------------------------------------------------------------------------------- pieces

const mostOf = ({ tokens }) => Math.max(LEAST, 2 * tokens);

// A chart with tokens as its axis, `drawn(case)`, that can be pointed at.
function chartOf(it, drawn) {
  const part = placed(
    it,
    "figure",
    `<figcaption><b data-ref="title"></b></figcaption>
    <svg class="growth" data-ref="chart" role="img" tabindex="0"></svg><p class="legend" data-ref="legend"></p>`,
  );
  const [svg, legend, title] = ["chart", "legend", "title"].map(part.find);
  let shown = null;
  const point = (tokens) => {
    it.pointed = tokens;
    it.stage.redraw();
  };
  const under = (event) => shown && point(shown.near(event.clientX - svg.getBoundingClientRect().left));
  svg.addEventListener("pointermove", under);
  svg.addEventListener("pointerdown", under);
  svg.addEventListener("pointerleave", () => point(null));
  svg.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: STEP, ArrowLeft: 1 / STEP }[key];
    if (step) point(Math.round(Math.min(shown.most, Math.max(4, shown.at * step + Math.sign(step - 1)))));
  });
  return ofACase(part, (one, theme) => {
    const chart = drawn(one);
    title.textContent = chart.title;
    shown = paintGrowth({ svg, legend }, { ...chart, tokens: one.tokens, pointed: it.pointed }, theme);
  });
}

// The ratio of costs, which depends on what is counted; it includes both ratios that are usually quoted.
function ratioOf(it, one) {
  const { says, switches } = it.told;
  const { count, other, mlp } = it.settings;
  const words = (name) => switches[name].options.find(([value]) => value === it.settings[name])[1];
  const [mine, theirs] = [count, other].map((part) => countedFlops(part, mlp, one.tokens, one));
  const first = crossingOf(count, other, one);
  const side = Math.ceil(Math.sqrt(first));
  const holes = { k: one.kernel, first: number(first), side, pixels: number(side * one.patch) };
  return filled(says.ratio, {
    ...{ what: capital(words("count")), other: words("other"), mlp: mlp === "yes" ? says.each_mlp : "" },
    ...{ mine: number(mine), theirs: number(theirs), ratio: threeDigits(mine / theirs) },
    textbook: count === "scores" && other === "depthwise" && mlp === "no" ? says.textbook : "",
    crossing: filled(first === 1 ? says.always : says.from, holes),
  });
}

// A square to scale: each token is a column of the tokens that it reads.
function paintSquare(it, find, one, theme) {
  const { says, colours, presets } = it.told;
  const { tokens: n, entries, kernel, side, rest, heads, layers } = one;
  const reads = Math.min(kernel ** 2, n);
  const svg = find("square");
  const { width, height } = svg.getBoundingClientRect();
  const [left, low, size] = [44, 26, Math.max(100, Math.min(width - 64, height - 46))];
  const scale = size / n;
  const box = (wide, high, more) =>
    `<rect x="${left}" y="${20 + size - high * scale}" width="${wide * scale}" height="${high * scale}" ${more}/>`;
  const words = (x, y, anchor, text, more = "") =>
    `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${theme.soft}" font-size="12" ${more}>${text}</text>`;
  const smaller = presets.cases
    .map(([name, settings]) => ({ name, tokens: caseOf(settings).tokens }))
    .filter(({ tokens }) => tokens < n);
  const edge = `stroke="${colours.attention}" stroke-width="1.5" stroke-dasharray="2 4" fill="none"`;
  const middle = 20 + size / 2;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.innerHTML = [
    box(n, n, `fill="${colours.attention}" fill-opacity="0.28" stroke="${colours.attention}" stroke-width="2"`),
    ...smaller.map(({ tokens }) => box(tokens, tokens, edge)),
    ...smaller
      .filter(({ tokens }) => tokens > WORDS * n)
      .map(({ tokens }) => words(left + tokens * scale + 3, 16 + size - tokens * scale, "start", number(tokens))),
    box(n, reads, `fill="${colours.convolution}" stroke="${colours.convolution}" stroke-width="1.5"`),
    words(left, size + 20 + 16, "middle", "0"),
    words(left + size, size + 20 + 16, "middle", number(n)),
    words(left + size / 2, size + 20 + 16, "middle", says.who_asks),
    words(left - 6, 20 + size, "end", "0"),
    words(left - 6, low + 4, "end", number(n)),
    words(left - 10, middle, "middle", says.whom, `transform="rotate(-90 ${left - 10} ${middle})"`),
  ].join("");
  const holes = { ...one, image: number(one.image), entries: number(entries), tokens: number(n), k: kernel };
  const title = filled(says.square, holes);
  svg.setAttribute("aria-label", title);
  find("title").textContent = title;
  find("sides").innerHTML = markedWords(filled(says.sides + (rest ? says.rest : ""), holes));
  const numbers = [
    [`tokens, ${side}²`, number(n)],
    [says.in_a_head, number(entries)],
    [filled(says.in_all, { heads, layers }), number(one.allEntries)],
  ];
  find("numbers").innerHTML = numbers.map(([what, value]) => `<div><dt>${what}</dt><dd>${value}</dd></div>`).join("");
  const legend = [
    [colours.attention, filled(says.pair_scores, holes)],
    [colours.convolution, filled(says.neighbours, { ...holes, reads, read: number(n * reads) })],
    ...smaller.map(({ name, tokens }) => [
      "",
      filled(says.dotted, { name, tokens: number(tokens), entries: number(tokens ** 2) }),
    ]),
  ];
  find("legend").innerHTML = legend.map(([, said]) => `<li><i></i>${said}</li>`).join("");
  for (const [i, mark] of find("legend").querySelectorAll("i").entries()) {
    mark.style.background = legend[i][0] || "none";
    if (!legend[i][0]) mark.style.border = `1.5px dotted ${colours.attention}`;
  }
}

export default function (component) {
  return keepDrawing(component, createCase);
}

// Costs by number of tokens: lines on two logarithmic axes, as SVG. The legend has the values at the number of tokens
// under the cursor, or else at the case's.

const [LEFT, RIGHT, TOP, BOTTOM] = [58, 24, 8, 38]; // px
const MOST_DECADES = 7; // axes with more decades have a number only at some
const DASHES = { solid: "", dot: "2 5", dash: "9 5" };
const POINTS = 60; // of a line
const FEWEST = 4; // tokens

// `lines`: [{name, of(tokens), colour, dash}]; `marks`: [{tokens, value, shape, words}]; `text(value)`; `most`: tokens.
export function paintGrowth({ svg, legend }, { lines, marks, text, most, tokens, pointed, title }, theme) {
  const { width, height } = svg.getBoundingClientRect();
  const values = lines.flatMap(({ of }) => [of(FEWEST), of(most)]);
  const [low, high] = [Math.log10(Math.min(...values)) - 0.1, Math.log10(Math.max(...values)) + 0.1];
  const x = (n) => LEFT + ((width - LEFT - RIGHT) * Math.log(n / FEWEST)) / Math.log(most / FEWEST);
  const y = (value) => height - BOTTOM - ((height - TOP - BOTTOM) * (Math.log10(value) - low)) / (high - low);
  const at = pointed ?? tokens;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("aria-label", `${title}. The arrow keys choose a number of tokens.`);
  svg.innerHTML = [
    ...axes({ x, y, width, height, low, high, most, text }, theme),
    `<line x1="${x(at)}" x2="${x(at)}" y1="${TOP}" y2="${height - BOTTOM}" stroke="${theme.soft}"
      stroke-dasharray="1 3"/>`,
    ...lines.map(({ of, colour, dash }) => {
      const points = gridOf(most).map((n) => `${x(n).toFixed(1)},${y(of(n)).toFixed(1)}`);
      return `<polyline points="${points.join(" ")}" fill="none" stroke="${colour}" stroke-width="3"
        stroke-dasharray="${DASHES[dash]}"/>`;
    }),
    ...marks.map((mark) => markOf(mark, x, y, theme)),
  ].join("");
  const parts = lines.map(
    ({ name, of, colour, dash }) => `<span><svg width="26" height="8" aria-hidden="true"><line x2="26" y1="4" y2="4"
      stroke="${colour}" stroke-width="3" stroke-dasharray="${DASHES[dash]}"/></svg> ${name}:
      <b>${text(of(at))}</b></span>`,
  );
  const where = at === tokens ? "your case: " : "";
  legend.innerHTML = `<b>${where}${at.toLocaleString("en")} tokens</b> ${parts.join(" ")}`;
  return { at, most, near: (left) => nearest(left, x, most) };
}

const gridOf = (most) => Array.from({ length: POINTS }, (_, i) => FEWEST * (most / FEWEST) ** (i / (POINTS - 1)));

function nearest(left, x, most) {
  const share = Math.min(1, Math.max(0, (left - x(FEWEST)) / (x(most) - x(FEWEST))));
  return Math.round(FEWEST * (most / FEWEST) ** share);
}

function axes({ x, y, width, height, low, high, most, text }, theme) {
  const words = (left, top, anchor, label) =>
    `<text x="${left}" y="${top}" text-anchor="${anchor}" fill="${theme.soft}" font-size="12">${label}</text>`;
  const parts = [];
  for (let n = 16; n <= most; n *= 4) {
    parts.push(
      `<line x1="${x(n)}" x2="${x(n)}" y1="${TOP}" y2="${height - BOTTOM}" stroke="${theme.line}"/>`,
      words(x(n), height - BOTTOM + 16, "middle", n.toLocaleString("en")),
    );
  }
  const every = Math.ceil((high - low) / MOST_DECADES);
  for (let power = Math.ceil(low); power <= high; power += every) {
    const top = y(10 ** power);
    parts.push(
      `<line x1="${LEFT}" x2="${width - RIGHT}" y1="${top}" y2="${top}" stroke="${theme.line}"/>`,
      words(LEFT - 6, top + 4, "end", text(10 ** power)),
    );
  }
  return [...parts, words((LEFT + width - RIGHT) / 2, height - 4, "middle", "tokens")];
}

function markOf({ tokens, value, shape, words }, x, y, theme) {
  const [left, top] = [x(tokens), y(value)];
  const outline = shape === "cross" ? "M-5-5L5 5M5-5L-5 5" : "M0-7L7 0L0 7L-7 0Z";
  const label = words
    ? `<text x="-10" y="-10" text-anchor="end" fill="${theme.ink}" font-size="12">${words}</text>`
    : "";
  return `<g transform="translate(${left.toFixed(1)} ${top.toFixed(1)})">
    <path d="${outline}" fill="${theme.paper}" stroke="${theme.ink}" stroke-width="2.5"/>${label}</g>`;
}
