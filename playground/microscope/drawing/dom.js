// Elements of a page: found by name, written to and shown only where something changes.

// The parts of an element by the names in their data-ref.
export function collectRefs(root) {
  const refs = {};
  for (const element of root.querySelectorAll("[data-ref]")) refs[element.dataset.ref] = element;
  return refs;
}

// Writing a text costs a layout even when it is the same text; a move of the cursor writes twenty, most of them
// unchanged.
export function say(element, text) {
  if (element.saidText === text) return;
  element.saidText = text;
  element.textContent = text;
}

// The same with mathematics: the root has its bar, and what follows an underscore stands below the line.
export function sayMath(element, text) {
  const parts = text.split(/(√d_k|W_O)/).map((part) => {
    if (part === "W_O") return withSubscript(document.createElement("span"), "W", "O");
    if (part !== "√d_k") return part;
    const root = document.createElement("span"),
      under = withSubscript(document.createElement("i"), "d", "k");
    root.className = "root";
    Object.assign(under.style, { fontStyle: "normal", borderTop: "1px solid" });
    root.append("√", under);
    return root;
  });
  element.replaceChildren(...parts);
}

function withSubscript(element, letter, below) {
  const sub = document.createElement("sub");
  sub.textContent = below;
  sub.style.lineHeight = "0";
  element.append(letter, sub);
  return element;
}

// A page without a server allows no styles in its markup, but a script may set them: of what was written into an
// element, data-style becomes its style.
export function styled(element) {
  for (const part of element.querySelectorAll("[data-style]")) part.style.cssText = part.dataset.style;
}

export function show(element, visible) {
  if (element.hidden === visible) element.hidden = !visible;
}
