// The small drawings on the toolbar's buttons.

const STROKES = {
  menu: "M3 5h14M3 10h14M3 15h14",
  picture: "M3 4.5h14v11H3zM3 13l4-4 4 4 2.5-2.5L17 14M13 7.7v.1",
  camera: "M3 6.5h3.2l1.3-2h5l1.3 2H17v9H3zM10 8.2a2.6 2.6 0 1 1 0 5.2a2.6 2.6 0 1 1 0-5.2",
  compare: "M3 4.5h5.5v11H3zM11.5 4.5H17v11h-5.5M10 2.5v15",
  export: "M6.5 8.5H4.5v8h11v-8h-2M10 12.5V3M6.8 6L10 2.8L13.2 6",
  down: "M6 8l4 4l4-4",
  on: "M8 6l4 4l-4 4",
};

// A span, hidden from screen readers: the words beside it say the same.
export function createIcon(name) {
  const span = document.createElement("span");
  span.className = `icon icon-${name}`;
  span.setAttribute("aria-hidden", "true");
  span.innerHTML = `<svg viewBox="0 0 20 20"><path d="${STROKES[name]}"/></svg>`;
  return span;
}
