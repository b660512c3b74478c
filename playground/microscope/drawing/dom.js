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

export function show(element, visible) {
  if (element.hidden === visible) element.hidden = !visible;
}
