// Toolbar and microscope stand in the page before Streamlit has built its own, over the place where it will put
// them. When it gives each its place, they move there as they are. What is read of Streamlit's page stands below,
// and nowhere else.

// What the page's HTML says of all pages of the app (ui/toolbar.py): {samples: the address of their list,
// pages: [{name, short, title, number, exports}], titles, labelled,
// computes: models that this browser runs on a person's own pictures, version}

const SCRIPT = "script[data-toolbar]";

let said = null;

export const pageSays = () => (said ??= JSON.parse(document.querySelector(SCRIPT)?.dataset.toolbar ?? "null"));

const PARTS = ["toolbar", "stage"];
const FONT = "Source Sans"; // Streamlit's; its page preloads the file
const FONT_FILE = 'link[rel="preload"][as="font"]';

let early = null; // {box, unseen: a style, places: {name: element}, wishes: told before Streamlit could hear}

// Whether it may; the places where the parts are mounted meanwhile.
export function standEarly(styles) {
  if (document.querySelector(PARTS.map((name) => `.st-key-${name}`).join())) return null; // Streamlit was faster
  const box = document.createElement("div");
  box.className = "attention-early";
  const font = document.querySelector(FONT_FILE);
  if (font) document.fonts.add(new FontFace(FONT, `url("${font.href}")`, { weight: "200 900", display: "swap" }));
  const within = box.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = styles;
  within.append(style);
  const unseen = document.createElement("style"); // Streamlit's page takes shape unseen, and nothing jumps
  unseen.textContent = `${APP} { visibility: hidden }`;
  box.append(unseen);
  const places = {};
  for (const name of PARTS) {
    places[name] = document.createElement("div");
    const root = document.createElement("div");
    root.className = name;
    root.dataset[name] = "";
    places[name].append(root);
    within.append(places[name]);
  }
  document.body.append(box);
  early = { box, unseen, places, wishes: [] };
  return places;
}

export const isEarly = () => Boolean(early);

// What a part says to Streamlit before it is there.
export const wish = (...said) => early?.wishes.push(said);

// Streamlit has a place for this part, which may stand early: it moves there, and says what it wished.
export function moveIn(part, { parentElement, setTriggerValue }) {
  const from = early?.places[part];
  if (!from) return;
  delete early.places[part];
  from.style.minHeight = `${from.offsetHeight}px`; // until the other part has moved, too, it stays where it is
  const place = parentElement.querySelector(`[data-${part}]`);
  for (const element of [...from.childNodes]) move(element, place);
  place.remove();
  parentElement[`__${part}`] = from[`__${part}`];
  if (part === "toolbar") {
    early.unseen.textContent += " .st-key-toolbar { visibility: visible }"; // not before: its place moves till then
    for (const said of early.wishes) setTriggerValue(...said);
  }
  if (!Object.keys(early.places).length) removeBox();
}

// Streamlit went on to a page that has no microscope: without this, the early one would cover that page for ever.
export function endEarly() {
  if (!early) return;
  for (const place of Object.values(early.places)) place.__stage?.end();
  removeBox();
}

function removeBox() {
  early.box.remove();
  early = null;
}

// What is open in it stays open, and the focus where it is, in a browser that can.
function move(element, before) {
  if (before.parentNode.moveBefore) before.parentNode.moveBefore(element, before);
  else before.before(element);
}

// What these modules read of Streamlit's page, which Streamlit does not promise to keep. Tried with Streamlit 1.67;
// tests/ui/test_streamlit_private.py fails when a part is gone, and counts them. Python's share is in
// ui/streamlit_private.py.

export const MAIN = "stMain"; //             a data-testid: what scrolls
export const CONNECTION = "data-test-connection-state"; // an attribute
export const APP = '[data-testid="stApp"]'; // a selector: the whole page
export const SKIP = "stSkipToContent"; //    a data-testid: the link past everything, for the keyboard

export const partOfStreamlit = (id, within = document) => within.querySelector(`[data-testid="${id}"]`);
export const hasConnected = () => Boolean(document.querySelector(`[${CONNECTION}=CONNECTED]`));
export const isConnected = () => !document.querySelector(`[${CONNECTION}]:not([${CONNECTION}=CONNECTED])`);
export const isWithin = (element, id) => Boolean(element.closest?.(`[data-testid="${id}"]`));
