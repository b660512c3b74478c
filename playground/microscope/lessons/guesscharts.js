// Draws charts on which a reader guesses: the value to guess is covered, the guess is drawn at its position, and the
// truth over it. Each function takes a chart (see playground/lessons/questions.py) and a state, {guess: a number or
// null, truth, open: whether the truth is shown, width, height}, and returns {svg: the
// elements of the chart as text, valueAt(x, y): the number under the pointer, or null}.
import { roundedText } from "../core/guesses.js";
import { heatAt } from "../core/light.js";
import { axis, pathOf, ticks } from "../drawing/axes.js";
import { withSubscripts } from "../drawing/listing.js";

const LETTER_WIDTH = 7; // estimated width in pixels of a letter in a name
const MARGIN = { left: 62, right: 16, top: 26, bottom: 44 };

const escapeHtml = (x) => x.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");

// The text of a number at a tick: six digits, or three from a million on.
const tickText = (x) => (Math.abs(x) < 1e6 ? x.toLocaleString("en", { maximumSignificantDigits: 6 }) : roundedText(x));

const label = (x, y, words, attributes = "") =>
  `<text x="${x}" y="${y}" ${attributes}>${withSubscripts(escapeHtml(words))}</text>`;
// A label over a wide outline in the colour of the paper, so that lines behind it do not make it illegible.
const seriesLabel = (x, y, words, attributes) =>
  label(x, y, words, 'class="series back"') + label(x, y, words, `class="series" ${attributes}`);
const rect = (x, y, width, height, kind) =>
  `<rect x="${x}" y="${y}" width="${Math.max(0, width)}" height="${Math.max(0, height)}" class="${kind}"/>`;
const LETTER = 7.2; // pixels: the width of a letter of the title
// The title above a chart. On a phone a long one begins at the edge, and is narrower if it must.
function titleLabel({ title }, { left, right = Number.POSITIVE_INFINITY }) {
  if (!title) return "";
  const width = LETTER * title.length;
  const x = left + width > right ? 0 : left;
  const fit = x + width > right ? `textLength="${right}" lengthAdjust="spacingAndGlyphs"` : "";
  return label(x, 14, title, `class="title" ${fit}`);
}

const plotBox = (state, margin = MARGIN) => ({
  left: margin.left,
  right: state.width - margin.right,
  top: margin.top,
  bottom: state.height - margin.bottom,
});

function verticalAxis(chart, box, low, high, log) {
  const y = axis(low, high, box.bottom, box.top, log);
  const rules = ticks(low, high, log)
    .map((tick) => {
      const tickY = y.at(tick);
      return (
        `<line class="rule" x1="${box.left}" x2="${box.right}" y1="${tickY}" y2="${tickY}"/>` +
        label(box.left - 8, tickY + 4, `${tickText(tick)}${chart.unit ?? ""}`, 'text-anchor="end"')
      );
    })
    .join("");
  return { y, rules };
}

// Whether the line of a guess would cross the number on the true bar.
const isLabelCrossed = (y, { guess, truth, open }) =>
  open && guess !== null && Math.abs(y.at(guess) - y.at(truth)) < 24;

// Draws upright bars. `chart.at` is the index of the bar to guess; if null, the guess is one height for all bars.
function uprightBars(chart, state) {
  const box = plotBox(state),
    { values, later, at: askedIndex } = chart,
    { y, rules } = verticalAxis(chart, box, 0, chart.high),
    barStep = (box.right - box.left) / values.length,
    barWidth = barStep * (values.length > 20 ? 0.72 : 0.62),
    isNumberCrossed = askedIndex !== null && isLabelCrossed(y, state);
  const barLeft = (i) => box.left + i * barStep + (barStep - barWidth) / 2;
  const bar = (i, value, kind) => rect(barLeft(i), y.at(value), barWidth, box.bottom - y.at(value), kind);
  const barLabel = (i, atY, words, kind) => label(barLeft(i) + barWidth / 2, atY, words, `class="${kind}"`);
  let svg = titleLabel(chart, box) + rules;
  values.forEach((value, i) => {
    const isAsked = i === askedIndex;
    if (isAsked && !state.open) svg += rect(barLeft(i), box.top, barWidth, box.bottom - box.top, "covered");
    else svg += bar(i, value, later && state.open ? "bar faint" : "bar");
    if (state.open && (isAsked || later)) {
      const trueValue = later ? later[i] : state.truth;
      svg += bar(i, trueValue, "bar true");
      const top = isNumberCrossed ? y.at(Math.max(state.guess, trueValue)) : y.at(trueValue);
      if (isAsked) svg += barLabel(i, top - 6, `${roundedText(trueValue)}${chart.unit}`, "known");
    }
    if (values.length <= 20) svg += barLabel(i, box.bottom + 18, chart.labels[i], "name");
  });
  if (state.guess !== null && state.guess !== undefined) {
    const [from, to] =
      askedIndex === null ? [box.left, box.right] : [barLeft(askedIndex) - 4, barLeft(askedIndex) + barWidth + 4];
    const guessY = y.at(state.guess);
    svg += `<line class="guess-line" x1="${from}" x2="${to}" y1="${guessY}" y2="${guessY}"/>`;
    const place = isNumberCrossed ? [from - 4, guessY + 4] : [to, guessY - 6];
    svg += label(...place, "your guess", 'class="own" text-anchor="end"');
  } else if (askedIndex !== null && !state.open)
    svg += barLabel(askedIndex, (box.top + box.bottom) / 2 + 10, "?", "blank");
  if (chart.x) svg += label((box.left + box.right) / 2, state.height - 6, chart.x, 'class="name"');
  return { svg, valueAt: (_, py) => y.value(py) };
}

// Draws horizontal bars, which leave room for long names.
function lyingBars(chart, state) {
  const labelWidth = Math.min(260, Math.max(...chart.labels.map((name) => name.length)) * 7.4 + 16),
    box = plotBox(state, { left: labelWidth, right: 90, top: MARGIN.top, bottom: 12 }),
    x = axis(0, chart.high, box.left, box.right),
    barStep = (box.bottom - box.top) / chart.values.length,
    barHeight = Math.min(30, barStep * 0.7);
  let svg = titleLabel(chart, { left: 0 });
  chart.values.forEach((value, i) => {
    const y = box.top + i * barStep + (barStep - barHeight) / 2,
      isAsked = i === chart.at,
      shownValue = isAsked && state.open ? state.truth : value;
    let textEnd = null; // right end of the number after the bar
    svg += label(box.left - 8, y + barHeight / 2 + 4, chart.labels[i], 'text-anchor="end"');
    if (isAsked && !state.open) svg += rect(box.left, y, box.right - box.left, barHeight, "covered");
    else {
      svg += rect(box.left, y, x.at(shownValue) - box.left, barHeight, isAsked ? "bar true" : "bar");
      const words = `${roundedText(shownValue)}${chart.unit ?? ""}`;
      svg += label(x.at(shownValue) + 6, y + barHeight / 2 + 4, words);
      textEnd = x.at(shownValue) + 6 + LETTER_WIDTH * words.length;
    }
    if (isAsked && state.guess !== null) {
      const guessX = x.at(state.guess),
        labelLength = 10 * LETTER_WIDTH,
        labelX = Math.max(guessX, textEnd ?? guessX) + 10; // right of the number at the bar's end
      svg += `<line class="guess-line" x1="${guessX}" x2="${guessX}" y1="${y - 5}" y2="${y + barHeight + 5}"/>`;
      const ownLabel = (textX, top, anchor = "start") =>
        label(textX, top, "your guess", `class="own" text-anchor="${anchor}"`);
      if (labelX + labelLength <= state.width) svg += ownLabel(labelX, y + barHeight / 2 + 4);
      else if (guessX - 8 - labelLength >= box.left) svg += ownLabel(guessX - 8, y + barHeight / 2 + 4, "end");
      else svg += ownLabel(box.left, y + barHeight + 19);
    } else if (isAsked && !state.open)
      svg += label((box.left + box.right) / 2, y + barHeight / 2 + 8, "?", 'class="blank"');
  });
  return { svg, valueAt: (px) => x.value(px) };
}

// The heights of a line's points between two x positions, in pixels.
const heightsAlong = (points, from, to) => {
  const heightAt = (px) => {
    const i = points.findIndex(([x]) => x >= px);
    if (i < 0 || (i === 0 && points[0][0] > px)) return null;
    if (i === 0) return points[0][1];
    const [[x0, y0], [x1, y1]] = points.slice(i - 1, i + 1);
    return y0 + ((px - x0) / (x1 - x0 || 1)) * (y1 - y0);
  };
  const heights = Array.from({ length: 33 }, (_, n) => heightAt(from + (n / 32) * (to - from)));
  return heights.filter((y) => y !== null);
};

// Returns the place of a line's name, where it crosses no line and no other name: beside the line's end or, if there is
// no room, above or below an earlier point. labelBoxes: the boxes of the names and marks drawn so far.
function placeOfName(line, points, lines, labelBoxes, box) {
  const labelLength = LETTER_WIDTH * line.name.length,
    lastPoint = points.at(-1),
    places = [];
  if (lastPoint[0] <= box.right - 150) places.push([lastPoint[0] + 8, lastPoint[1] + (line.below ? 20 : -10)]);
  for (let right = Math.min(lastPoint[0] - 10, box.right - 70); right - labelLength >= box.left; right -= 24) {
    const heights = heightsAlong(points, right - labelLength, right);
    if (!heights.length) continue;
    const heightsToTry = [Math.min(...heights) - 10, Math.max(...heights) + 20];
    for (const y of line.below ? heightsToTry.reverse() : heightsToTry) places.push([right - labelLength, y]);
  }
  const isFree = ([left, y]) => {
    const [top, bottom, right] = [y - 12, y + 5, left + labelLength];
    return (
      top > box.top - 12 &&
      bottom < box.bottom &&
      lines.every((otherLine) =>
        heightsAlong(otherLine, left, right).every((height) => height < top || height > bottom),
      ) &&
      labelBoxes.every(
        (labelBox) => labelBox.right < left || labelBox.left > right || labelBox.bottom < top || labelBox.top > bottom,
      )
    );
  };
  const [left, y] = places.find(isFree) ?? places[0] ?? lastPoint;
  labelBoxes.push({ left, right: left + labelLength, top: y - 12, bottom: y + 5 });
  return [left, y];
}

// The line from the last visible point to the guess.
function lineOfGuess({ at: spot, series, x: positions }, pointsOfLines, x, y, guess) {
  const [n, i] = spot;
  return [pointsOfLines[n][Math.max(0, (series[n].shown ?? 1) - 1)], [x.at(positions[i]), y.at(guess)]];
}

// Draws lines over one axis. Of the line to guess, only the first points are shown; `chart.at` is [line, point], the
// point to guess. Without `at`, the guess is a position on the axis.
function curves(chart, state) {
  const box = plotBox(state),
    [lowest, highest] = [chart.x[0], chart.x.at(-1)],
    x = axis(lowest, highest, box.left, box.right, chart.log_x),
    { y, rules } = verticalAxis(chart, box, chart.low, chart.high, chart.log_y);
  let svg = titleLabel(chart, box) + rules;
  for (const tick of chart.x_ticks ?? ticks(lowest, highest, chart.log_x, 8)) {
    svg += label(x.at(tick), box.bottom + 18, tickText(tick), 'class="name"');
  }
  svg += label((box.left + box.right) / 2, state.height - 6, chart.x_title, 'class="name"');
  const pointsOfLines = chart.series.map((line) => line.y.map((value, i) => [x.at(chart.x[i]), y.at(value)]));
  const visibleCount = (n) =>
    state.open ? pointsOfLines[n].length : (chart.series[n].shown ?? pointsOfLines[n].length);
  const visibleLines = pointsOfLines.map((points, n) => points.slice(0, visibleCount(n))),
    guessLine = chart.at && state.guess !== null ? lineOfGuess(chart, pointsOfLines, x, y, state.guess) : null,
    linesToAvoid = state.open && guessLine ? [...visibleLines, guessLine] : visibleLines,
    labelBoxes = [];
  for (const mark of state.open ? (chart.marks ?? []) : []) {
    const px = x.at(mark.x),
      labelLength = LETTER_WIDTH * mark.words.length,
      isRight = px + 8 + labelLength <= box.right,
      end = px - 8 - labelLength < box.left ? state.width - 4 : px - 8, // never over the axis
      left = isRight ? px + 8 : end - labelLength;
    svg += `<line class="true-line" x1="${px}" x2="${px}" y1="${box.top}" y2="${box.bottom}"/>`;
    svg += label(isRight ? left : end, box.top + 14, mark.words, `class="known-mark ${isRight ? "" : "ends"}"`);
    labelBoxes.push({ left: px - 4, right: px + 4, top: box.top, bottom: box.bottom });
    labelBoxes.push({ left, right: left + labelLength, top: box.top, bottom: box.top + 20 });
  }
  chart.series.forEach((line, n) => {
    const points = pointsOfLines[n],
      pointCount = visibleCount(n),
      style = `data-style="--ink:${line.colour}" class="curve ${line.dash ? "dashed" : ""}"`;
    svg += `<path d="${pathOf(points.slice(0, pointCount))}" ${style}/>`;
    for (const [px, py] of line.dots ? points.slice(0, pointCount) : []) {
      svg += `<circle cx="${px}" cy="${py}" r="3.5" data-style="--ink:${line.colour}" class="dot"/>`;
    }
    if (line.name && pointCount) {
      const [left, labelY] = placeOfName(line, visibleLines[n], linesToAvoid, labelBoxes, box);
      svg += seriesLabel(left, labelY, line.name, `data-style="--ink:${line.colour}"`);
    }
    if (state.open && chart.at?.[0] === n) {
      const [px, py] = points[chart.at[1]];
      svg += `<circle cx="${px}" cy="${py}" r="6" class="true-dot"/>`;
    }
    if (chart.at && n === chart.at[0] && state.guess !== null) {
      const [px, py] = guessLine[1];
      svg += `<path d="${pathOf(guessLine)}" class="guess-line"/>`;
      svg += `<circle cx="${px}" cy="${py}" r="8" class="hand"/>`;
    } else if (chart.at && n === chart.at[0] && !state.open) {
      const px = x.at(chart.x[chart.at[1]]);
      svg += `<line class="asked" x1="${px}" x2="${px}" y1="${box.top}" y2="${box.bottom}"/>`;
      svg += label(px - 8, (box.top + box.bottom) / 2, "?", 'class="blank" text-anchor="end"');
    }
  });
  if (!chart.at && state.guess !== null) {
    const px = x.at(state.guess);
    const labelPlace = px > box.right - 90 ? [px - 8, "end"] : [px + 8, "start"];
    svg += `<line class="guess-line" x1="${px}" x2="${px}" y1="${box.top}" y2="${box.bottom}"/>`;
    svg += label(labelPlace[0], box.bottom - 10, "your guess", `class="own" text-anchor="${labelPlace[1]}"`);
  }
  return { svg, valueAt: (px, py) => (chart.at ? y.value(py) : x.value(px)) };
}

export const CHARTS = { Bars: (chart, state) => (chart.across ? lyingBars : uprightBars)(chart, state), Lines: curves };

// Draws a photograph with a grid: the reader paints patches on it, or guesses a number of patches. The truth is drawn
// on the same patches. Arguments and results are those of the charts above.

const PICTURE_GAP = 16; // pixels between pictures
const WORDS_HEIGHT = 26; // pixels for words below a picture

// The largest box with this aspect that fits.
function largestBox(aspect, width, height) {
  const boxHeight = Math.min(height, width / aspect);
  return { left: 0, width: boxHeight * aspect, height: boxHeight };
}

const imageAt = (href, x, y, { width, height }, kind = "") =>
  `<image href="${href}" x="${x}" y="${y}" width="${width}" height="${height}" preserveAspectRatio="none"
    class="${kind}"/>`;
const captionAt = (text, x, bottom) => `<text x="${x}" y="${bottom + 17}">${withSubscripts(text)}</text>`;

function patchRect({ left, width, height }, [rows, columns], patch, kind, attributes = "") {
  const [cw, ch] = [width / columns, height / rows];
  const places = [left + (patch % columns) * cw, Math.floor(patch / columns) * ch, cw, ch].map((n) => n.toFixed(2));
  const [x, y, w, h] = places;
  return `<rect x="${x}" y="${y}" width="${w}" height="${h}" class="${kind}" ${attributes}/>`;
}

const gridLines = ({ width, height }, rows, columns, kind) => {
  let path = "";
  for (let r = 0; r <= rows; r++) path += `M0 ${(r * height) / rows}h${width}`;
  for (let c = 0; c <= columns; c++) path += `M${(c * width) / columns} 0v${height}`;
  return `<path d="${path}" class="${kind}"/>`;
};

const glow = (box, grid, row) => {
  const largest = Math.max(...row) || 1;
  return row
    .map((weight, patch) => {
      const strength = 0.12 + 0.78 * (weight / largest);
      const fill = `rgb(${heatAt(weight / largest).join(" ")} / ${strength.toFixed(3)})`;
      return patchRect(box, grid, patch, "glow", `fill="${fill}"`);
    })
    .join("");
};

// Whether the photograph and its second picture side by side cover a larger area than the photograph alone.
function hasRoom({ aspect, beside }, state) {
  if (!beside || !state.roomy) return false;
  const pairBox = largestBox(aspect + beside.aspect, state.width - PICTURE_GAP, state.height - WORDS_HEIGHT),
    singleBox = largestBox(aspect, state.width, state.height);
  return pairBox.width * pairBox.height > singleBox.width * singleBox.height;
}

export function photograph(chart, state) {
  const { grid, aspect, heat, image } = chart,
    [rows, columns] = grid,
    { guess } = state,
    showsBoth = state.open && heat && guess instanceof Set && guess.size > 0,
    secondPicture = showsBoth || !hasRoom(chart, state) ? null : chart.beside,
    secondAspect = showsBoth ? aspect : (secondPicture?.aspect ?? 0),
    wordsHeight = secondPicture || chart.words ? WORDS_HEIGHT : 0,
    room = secondAspect ? (aspect / (aspect + secondAspect)) * (state.width - PICTURE_GAP) : state.width,
    box = largestBox(aspect, room, state.height - wordsHeight),
    left = secondAspect ? box.width + PICTURE_GAP : 0, // of the second picture
    secondBox = { left, width: box.height * secondAspect, height: box.height };
  const patchOn = (area, patch, kind) => ((patch ?? null) === null ? "" : patchRect(area, grid, patch, kind));
  const outline = (area) => patchOn(area, chart.mark, "halo") + patchOn(area, chart.mark, "mark");
  let svg = imageAt(image, 0, 0, box, heat && (state.open || chart.paints) ? "grey" : "");
  if (chart.words) svg += captionAt(chart.words, 0, box.height);
  if (secondPicture)
    svg += imageAt(secondPicture.image, left, 0, secondBox) + captionAt(secondPicture.words, left, box.height);
  if (guess instanceof Set) {
    for (const patch of guess) svg += patchRect(box, grid, patch, "painted");
  } else if (typeof guess === "number" && chart.counts) {
    const columnCount = Math.max(1, Math.round(Math.sqrt(guess * aspect)));
    svg += gridLines(box, Math.max(1, Math.round(guess / columnCount)), columnCount, "grid own-grid");
  }
  if (chart.lines || (chart.counts && state.open)) svg += gridLines(box, rows, columns, "grid");
  if (state.open && heat) {
    const truthBox = showsBoth ? secondBox : box;
    if (showsBoth) svg += imageAt(image, left, 0, box, "grey");
    svg += glow(truthBox, grid, heat) + outline(truthBox);
  }
  svg += outline(box) + patchOn(box, state.cursor, "cursor");
  const patchAt = (px, py) => {
    const [row, column] = [Math.floor((py / box.height) * rows), Math.floor((px / box.width) * columns)];
    return row >= 0 && row < rows && column >= 0 && column < columns ? row * columns + column : null;
  };
  const width = secondAspect ? left + secondBox.width : box.width;
  return { svg, patchAt, valueAt: () => null, width, height: box.height + wordsHeight };
}

// Draws pictures side by side: more than three in two rows, two on a phone one below the other. Each picture has two
// versions: one with the answer covered, one with the answer shown.
export function pictures(chart, state) {
  const images = state.open ? chart.open : chart.covered,
    isStacked = images.length === 2 && !state.roomy,
    rowCount = images.length > 3 || isStacked ? 2 : 1,
    columnCount = Math.ceil(images.length / rowCount),
    cellWidth = (state.width - PICTURE_GAP * (columnCount - 1)) / columnCount,
    cellHeight = isStacked ? cellWidth / chart.aspect + WORDS_HEIGHT : state.height / rowCount;
  let svg = "",
    totalWidth = 0,
    totalHeight = 0;
  images.forEach((image, i) => {
    const box = largestBox(chart.aspect, cellWidth, cellHeight - WORDS_HEIGHT),
      left = (i % columnCount) * (Math.min(cellWidth, box.width) + PICTURE_GAP),
      top = Math.floor(i / columnCount) * cellHeight;
    svg += imageAt(image, left, top, box) + captionAt(chart.captions[i], left, top + box.height);
    totalWidth = Math.max(totalWidth, left + box.width);
    totalHeight = Math.max(totalHeight, top + box.height + WORDS_HEIGHT);
  });
  return { svg, valueAt: () => null, width: totalWidth, height: totalHeight };
}
