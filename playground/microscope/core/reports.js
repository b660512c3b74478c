// What the drawings of a page report of themselves, for the exercises beside them: {drawing: its numbers}. They are
// mounted one by one, each from a script of its own, so the page's root keeps it.

const REPORTED_EVENT = "drawing-reported";

export const reportsHere = () => (document.documentElement.__reports ??= {});

export function reportNumbers(drawing, numbers) {
  reportsHere()[drawing] = numbers;
  dispatchEvent(new CustomEvent(REPORTED_EVENT, { detail: drawing }));
}

export const onReport = (listen, signal) => addEventListener(REPORTED_EVENT, listen, { signal });
