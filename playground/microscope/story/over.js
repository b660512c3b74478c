// What a scene of the story draws over the photograph: the square that asks, the place that is heard, a grid, the rings
// of stacked convolutions, the place numbers. SVG in units of a patch.

const SVG = "http://www.w3.org/2000/svg";
const RING_EVERY = 60; // ms, from one ring to the next
const NUMBERED = 7; // places along a side that bear a number, at most

export function createOver(place) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "story-over");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("preserveAspectRatio", "none");
  place.after(svg);
  return svg;
}

// over: {marks, grid, places, rings: how many, still: at once, everybody, at: a patch that is heard} of a scene or
// null; `revealed`: the place may be shown.
export function drawOver(svg, over, { pack, patch, partner }, revealed) {
  svg.replaceChildren();
  if (!over) return;
  const { rows, columns } = pack;
  svg.setAttribute("viewBox", `0 0 ${columns} ${rows}`);
  const at = (one) => [one % columns, Math.floor(one / columns)];
  if (over.grid) {
    for (let x = 1; x < columns; x++) gridLine(svg, x, 0, x, rows);
    for (let y = 1; y < rows; y++) gridLine(svg, 0, y, columns, y);
  }
  if (over.places) placeNumbers(svg, rows, columns);
  const [x, y] = at(patch);
  if (over.everybody) {
    const all = make(svg, "rect", "everybody");
    const whole = { x: 0, y: 0, width: columns, height: rows };
    for (const [name, value] of Object.entries(whole)) all.setAttribute(name, String(value));
  } else if (over.rings && (revealed || over.still)) {
    for (let ring = 1; ring <= over.rings; ring++) {
      const square = frameOf(svg, x - ring, y - ring, 2 * ring + 1, over.still ? "ring still" : "ring");
      if (!over.still) square.style.animationDelay = `${ring * RING_EVERY}ms`;
    }
  } else if (over.rings) frameOf(svg, x - 1, y - 1, 3, "ring still");
  frameOf(svg, x, y, 1, "asks");
  const heard = over.at ?? (over.marks || over.rings ? partner : -1);
  if (revealed && heard >= 0) frameOf(svg, ...at(heard), 1, "hears");
}

function gridLine(svg, x1, y1, x2, y2) {
  const element = make(svg, "line", "grid");
  for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) element.setAttribute(name, String(value));
}

function frameOf(svg, x, y, side, className) {
  const element = make(svg, "rect", className);
  for (const [name, value] of Object.entries({ x, y, width: side, height: side }))
    element.setAttribute(name, String(value));
  return element;
}

function placeNumbers(svg, rows, columns) {
  const every = Math.ceil(Math.max(rows, columns) / NUMBERED);
  for (let y = Math.floor(every / 2); y < rows; y += every)
    for (let x = Math.floor(every / 2); x < columns; x += every) {
      const text = make(svg, "text", "place");
      text.setAttribute("x", String(x + 0.5));
      text.setAttribute("y", String(y + 0.5));
      text.style.fontSize = `${0.17 * every}px`;
      text.textContent = String(y * columns + x);
    }
}

function make(svg, tag, className) {
  const element = document.createElementNS(SVG, tag);
  element.setAttribute("class", className);
  svg.append(element);
  return element;
}
