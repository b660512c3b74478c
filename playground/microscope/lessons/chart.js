// Draws a chart as SVG: lines, marks and bars of a figure that Python writes in Plotly's words. It knows of them what
// the lessons' figures use.

import { axis, pathOf, ticks } from "../drawing/axes.js";
import { make, makeSvg, setVisible } from "../drawing/dom.js";

const ARRAYS = { f4: Float32Array, f8: Float64Array, i1: Int8Array, i2: Int16Array, i4: Int32Array };
const LETTER = 6.6; // px: the width of a letter beside a tick
const NEAR = 40; // px from the pointer to the point whose words it shows
const FEW_POINTS = 20; // a line of fewer points has marks
const DASHES = { dot: "2 4", dash: "7 4" };
const MARKS = { square: "■", diamond: "◆", hexagon: "⬢", star: "★", "triangle-left": "◀", cross: "✚" };
Object.assign(MARKS, { circle: "●", "circle-open": "○", "x-thin-open": "×" });

// place.data: the traces, for tests
export function drawChart(place, { data, layout }) {
  const traces = data.map((trace) => {
    const [x, y] = [listOf(trace.x), listOf(trace.y)];
    return { ...trace, x: trace.x ? x : y.map((_, i) => i), y };
  });
  const { title, showlegend, legend } = layout;
  const named = traces.filter(({ name, showlegend: isListed = data.length > 1 }) => name && isListed);
  if (legend?.traceorder === "reversed") named.reverse();
  const entryOf = (trace) => make("span", "", signOf(trace), trace.name);
  const svg = makeSvg("svg", { role: "img", "aria-label": [title?.text, ...named.map(({ name }) => name)].join(". ") });
  const words = make("output", { hidden: true });
  const heading = [
    make("p", "", title?.text),
    make("p", "chart-legend", ...(showlegend === false ? [] : named.map(entryOf))),
  ];
  place.replaceChildren(...heading, svg, words);
  place.data = traces;
  const panels = traces.some(({ xaxis }) => xaxis === "x2") ? ["", "2"] : [""];
  const width = svg.clientWidth / panels.length;
  const points = panels.flatMap((panel, n) => {
    const own = traces.filter(({ xaxis = "x" }) => xaxis === `x${panel}`);
    const axes = { x: layout[`xaxis${panel}`] ?? {}, y: layout[`yaxis${panel}`] ?? {} };
    return drawPanel(svg, own, { ...layout, ...axes }, { start: n * width, width, height: svg.clientHeight });
  });
  svg.onpointerleave = () => setVisible(words, false);
  svg.onpointermove = svg.onpointerdown = ({ clientX, clientY }) => {
    const [box, { top }] = [svg.getBoundingClientRect(), place.getBoundingClientRect()];
    const farOf = ({ at: [x, y] }) => Math.hypot(x + box.left - clientX, y + box.top - clientY);
    const [nearest] = points.toSorted((one, other) => farOf(one) - farOf(other));
    setVisible(words, nearest && farOf(nearest) < NEAR);
    if (words.hidden) return;
    words.textContent = nearest.words.replaceAll("<br>", "\n");
    const [x, y] = [Math.min(nearest.at[0] + 8, box.width - words.offsetWidth), nearest.at[1] - words.offsetHeight - 8];
    Object.assign(words.style, { left: `${Math.max(0, x)}px`, top: `${Math.max(0, y + box.top - top)}px` });
  };
}

// Numbers as a list; Python packs long ones.
const listOf = ({ bdata, dtype, ...list } = /** @type {any} */ ([])) =>
  bdata
    ? [...new ARRAYS[dtype](Uint8Array.from(atob(bdata), (letter) => letter.charCodeAt(0)).buffer)]
    : Object.values(list);

const isLine = ({ type, mode }) => type !== "bar" && mode !== "markers";
const colourOf = (trace) => (isLine(trace) && trace.line?.color) || trace.marker?.color;
const strokeOf = ({ width = 2, dash = "", color = "gray" } = /** @type {any} */ ({})) => ({
  ...{ fill: "none", stroke: color, "stroke-width": width, "stroke-dasharray": DASHES[dash] ?? "" },
});

// How a trace looks, in the legend.
function signOf(trace) {
  if (isLine(trace))
    return makeSvg("svg", { width: 24, height: 8 }, makeSvg("path", { d: "M0 4H24", ...strokeOf(trace.line) }));
  const sign = trace.type === "bar" ? "■" : MARKS[trace.marker.symbol ?? "circle"];
  return make("b", { style: `color: ${colourOf(trace)}` }, sign);
}

// What a point says under the pointer.
function wordsAt({ hovertemplate = "%{name}: %{y}", hoverinfo, name = "", text, x, y }, i) {
  const values = { name, x: x[i], y: y[i], text: text?.[i] };
  if (hoverinfo) return values[hoverinfo];
  const template = hovertemplate.replace(/<extra>.*/, "");
  return template.replace(/%\{(\w+):?([^}]*)\}/g, (_, key, form) => written(values[key], form));
}

function written(value, form = "") {
  if (typeof value !== "number") return value;
  const digits = form.match(/\.(\d)f/)?.[1];
  const text = digits ? value.toFixed(Number(digits)) : value.toLocaleString("en", { maximumSignificantDigits: 4 });
  return text.replace("-", "−");
}

// The numbers at both ends of an axis; `room`: the share of it that stays free.
function endsOf({ range, type, rangemode }, values, room) {
  const isLog = type === "log";
  const known = values.filter(Number.isFinite).map((value) => (isLog ? Math.log10(value) : value));
  const [low, high] = [Math.min(...known, ...(rangemode ? [0] : [])), Math.max(...known)];
  const ends = range ?? [low - (rangemode ? 0 : room * (high - low)), high + room * (high - low || 1)];
  return isLog ? ends.map((power) => 10 ** power) : ends;
}

// The ticks of an axis: [number, text].
function ticksOf({ tickvals, ticktext, dtick, type, ticksuffix = "" }, [low, high], names, most) {
  const places = names
    ? [...names.keys()]
    : ticks(low, high, type === "log", dtick && type !== "log" ? high - low : most);
  const marks = (tickvals ?? places).map((at, i) => [at, names?.[at] ?? ticktext?.[i] ?? written(at) + ticksuffix]);
  return marks.filter(([at]) => at >= low && at <= high);
}

// Text of one line; <sub> becomes smaller letters below it.
function wordsIn(x, y, text, anchor = "middle", look = /** @type {any} */ ({})) {
  const pieces = text
    .trim()
    .split(/<\/?sub>/)
    .map((piece, i) => makeSvg("tspan", i % 2 ? { dy: 4, "font-size": 9 } : {}, piece));
  return makeSvg("text", { x, y, fill: "currentColor", "text-anchor": anchor, ...look }, ...pieces);
}

// Draws one pair of axes with its traces. Returns the points that have words: {at: [x, y], words}.
function drawPanel(
  svg,
  traces,
  { x: xLook, y: yLook, shapes = [], annotations = [], bargap = 0.2 },
  { start, width, height },
) {
  const names = yLook.type === "category" ? [...new Set(traces.flatMap(({ y }) => y))] : null;
  const bars = traces.filter(({ type }) => type === "bar");
  const isFlat = bars[0]?.orientation === "h";
  const unit = isFlat || !bars.length ? 1 : bars[0].x[1] - bars[0].x[0]; // from bar to bar
  const barEdges = (places) => [...places, Math.min(...places) - unit / 2, Math.max(...places) + unit / 2];
  const errors = (trace, i) => [
    trace.y[i] - listOf(trace.error_y?.arrayminus)[i],
    trace.y[i] + listOf(trace.error_y?.array)[i],
  ];
  const xs = traces.flatMap(({ x }) => x);
  const ys = names ? [...names.keys()] : traces.flatMap((trace) => trace.y.flatMap((y, i) => [y, ...errors(trace, i)]));
  const isMarked = ({ type, x, mode = x.length < FEW_POINTS ? "markers" : "" }) =>
    type !== "bar" && mode.includes("markers");
  const xRoom = !bars.length && traces.some(isMarked) ? 0.04 : 0;
  const xEnds = endsOf(xLook, isFlat ? [0, ...xs] : bars.length ? barEdges(xs) : xs, xRoom);
  const yEnds = endsOf(yLook, isFlat ? barEdges(ys) : bars.length ? [0, ...ys] : ys, isFlat ? 0 : 0.06);
  const yTicks = ticksOf(yLook, yEnds, names, height / 45);
  const [xTitle, yTitle] = [xLook.title?.text, yLook.title?.text];
  const left = start + (yTitle ? 26 : 8) + LETTER * Math.max(...yTicks.map(([, text]) => text.trim().length));
  const [right, top, bottom] = [start + width - 8, 8, height - (xTitle ? 36 : 18)];
  const upwards = yLook.autorange === "reversed" ? [top, bottom] : [bottom, top];
  const { at: x } = axis(...xEnds, left, right, xLook.type === "log");
  const { at: y } = axis(...yEnds, ...upwards, yLook.type === "log");
  const add = (name, look) => svg.append(makeSvg(name, look));
  const rule = (x1, y1, x2, y2, look = strokeOf({ width: 1, color: "rgb(128 128 128 / 0.25)" })) =>
    add("path", {
      ...look,
      d: pathOf([
        [x1, y1],
        [x2, y2],
      ]),
    });
  for (const [at, text] of yTicks) {
    if (!names) rule(left, y(at), right, y(at));
    svg.append(wordsIn(left - 6, y(at) + 4, text, "end"));
  }
  for (const [at, text] of ticksOf(xLook, xEnds, null, (right - left) / 62)) {
    if (xLook.showgrid !== false) rule(x(at), top, x(at), bottom);
    svg.append(wordsIn(x(at), bottom + 15, text));
  }
  const turned = { transform: `rotate(-90 ${start + 12} ${(top + bottom) / 2})` };
  if (xTitle) svg.append(wordsIn((left + right) / 2, height - 5, xTitle));
  if (yTitle) svg.append(wordsIn(start + 12, (top + bottom) / 2, yTitle, "middle", turned));

  const points = [];
  const note = (trace, i, at) => trace.hoverinfo === "skip" || points.push({ at, words: wordsAt(trace, i) });
  for (const [n, bar] of bars.entries()) {
    const wide = (unit * (1 - bargap)) / bars.length;
    for (const i of bar.x.keys()) {
      const from = (isFlat ? names.indexOf(bar.y[i]) : bar.x[i]) + wide * (n - bars.length / 2);
      const [x1, x2] = (isFlat ? [0, bar.x[i]] : [from, from + wide]).map(x);
      const [y1, y2] = (isFlat ? [from, from + wide] : [0, bar.y[i]]).map(y);
      const size = { width: Math.abs(x2 - x1), height: Math.abs(y2 - y1) };
      add("rect", { x: Math.min(x1, x2), y: Math.min(y1, y2), ...size, fill: colourOf(bar) });
      if (bar.textposition) svg.append(wordsIn(x2 + 4, (y1 + y2) / 2 + 4, bar.text[i], "start"));
      note(bar, i, isFlat ? [x2, (y1 + y2) / 2] : [(x1 + x2) / 2, y2]);
    }
  }
  let former = [];
  for (const trace of traces.filter(({ type }) => type !== "bar")) {
    const {
      mode = trace.x.length < FEW_POINTS ? "lines+markers" : "lines",
      marker: { size = 7, symbol = "circle" } = {},
    } = trace;
    const places = trace.x.map((value, i) => Number.isFinite(trace.y[i]) && [x(value), y(trace.y[i])]);
    if (trace.fill) add("path", { d: `${pathOf([...places, ...former.toReversed()])}Z`, fill: trace.fillcolor });
    former = places;
    const line = places.map((at, i) => at && `${places[i - 1] ? "L" : "M"}${at.map((one) => one.toFixed(1))}`);
    if (isLine(trace)) add("path", { d: line.filter(Boolean).join(""), ...strokeOf(trace.line) });
    for (const [i, at] of places.entries()) {
      if (!at) continue;
      if (trace.error_y) rule(at[0], y(errors(trace, i)[0]), at[0], y(errors(trace, i)[1]), strokeOf(trace.line));
      const look = { fill: colourOf(trace), "font-size": 1.5 * size, "dominant-baseline": "central" };
      if (symbol !== "circle") svg.append(wordsIn(at[0], at[1], MARKS[symbol], "middle", look));
      else if (mode.includes("markers")) add("circle", { cx: at[0], cy: at[1], r: size / 2, fill: look.fill });
      note(trace, i, at);
    }
  }
  for (const { x0, x1, y0, y1, xref, line } of shapes)
    if (xref === "x") rule(x(x0), top, x(x1), bottom, strokeOf(line));
    else rule(left, y(y0), right, y(y1), strokeOf(line));
  const placeOn = (at, { type }, scaled) => scaled(type === "log" ? 10 ** at : at);
  for (const { x: at, y: up, text, font, xanchor } of annotations) {
    const look = { fill: font?.color ?? "currentColor" };
    svg.append(
      wordsIn(placeOn(at, xLook, x), placeOn(up, yLook, y) + 4, text, xanchor === "right" ? "end" : "middle", look),
    );
  }
  return points;
}
