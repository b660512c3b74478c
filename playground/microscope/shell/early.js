// Mounts toolbar and microscope before Streamlit has built its page, above the places where Streamlit will put them.
// When Streamlit has made these places, both move there. Below: the names of all parts of Streamlit's page that the app
// uses.

// The data in the page's HTML about all pages of the app (ui/toolbar.py): {samples: the address of their list,
// pages: [{name, short, title, number, exports}], titles, labelled,
// computes: models that this browser runs on a person's own pictures, version}

const DATA_SCRIPT = "script[data-toolbar]";

let pageData = null;

export const readPageData = () =>
  (pageData ??= JSON.parse(document.querySelector(DATA_SCRIPT)?.dataset.toolbar ?? "null"));

const PARTS = ["toolbar", "stage"];
const FONT = "Source Sans"; // Streamlit's typeface; its page preloads the file
const FONT_SELECTOR = 'link[rel="preload"][as="font"]';

// {box, hidingStyle: the style that hides Streamlit's page, places: {name: element}, messages: not sent yet}
let earlyPage = null;

// Mounts toolbar and microscope early, if the page allows it; returns their places.
export function mountEarly(styles) {
  if (document.querySelector(PARTS.map((name) => `.st-key-${name}`).join())) return null; // Streamlit was faster
  const box = document.createElement("div");
  box.className = "attention-early";
  const font = document.querySelector(FONT_SELECTOR);
  if (font) document.fonts.add(new FontFace(FONT, `url("${font.href}")`, { weight: "200 900", display: "swap" }));
  const shadow = box.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = styles;
  shadow.append(style);
  const hidingStyle = document.createElement("style"); // hides Streamlit's page while it is built: nothing jumps
  hidingStyle.textContent = `${APP} { visibility: hidden }`;
  box.append(hidingStyle);
  const places = {};
  for (const name of PARTS) {
    places[name] = document.createElement("div");
    const root = document.createElement("div");
    root.className = name;
    root.dataset[name] = "";
    places[name].append(root);
    shadow.append(places[name]);
  }
  places.stage.setAttribute("role", "main"); // the elements that move into Streamlit's main part leave this behind
  document.body.append(box);
  earlyPage = { box, hidingStyle, places, messages: [] };
  return places;
}

export const isEarly = () => Boolean(earlyPage);

// Stores a part's message to Streamlit until Streamlit is ready.
export const storeMessage = (...message) => earlyPage?.messages.push(message);

// Moves an early part into the place that Streamlit has made for it, and sends the stored messages.
export function moveToStreamlit(part, { parentElement, setTriggerValue }) {
  const earlyPlace = earlyPage?.places[part];
  if (!earlyPlace) return;
  delete earlyPage.places[part];
  earlyPlace.style.minHeight = `${earlyPlace.offsetHeight}px`; // keeps the height until the other part has moved
  const marker = parentElement.querySelector(`[data-${part}]`);
  for (const element of [...earlyPlace.childNodes]) moveElement(element, marker);
  marker.remove();
  parentElement[`__${part}`] = earlyPlace[`__${part}`];
  if (part === "toolbar") {
    earlyPage.hidingStyle.textContent += " .st-key-toolbar { visibility: visible }"; // it lies in the hidden page now
    for (const message of earlyPage.messages) setTriggerValue(...message);
  }
  if (!Object.keys(earlyPage.places).length) removeBox();
}

// Removes the early microscope if Streamlit shows a page without one, because it would cover that page for ever.
export function endEarly() {
  if (!earlyPage) return;
  for (const place of Object.values(earlyPage.places)) place.__stage?.end();
  removeBox();
}

function removeBox() {
  earlyPage.box.remove();
  earlyPage = null;
}

// Moves an element. In browsers with `moveBefore` the element keeps its state (open parts, focus).
function moveElement(element, place) {
  if (place.parentNode.moveBefore) place.parentNode.moveBefore(element, place);
  else place.before(element);
}

// Parts of Streamlit's page that these modules use although Streamlit may change them; tested with Streamlit 1.67.
// tests/ui/test_streamlit_private.py counts them and fails when one is gone. ui/streamlit_private.py lists the parts
// that Python uses.

export const MAIN = "stMain"; //             a data-testid: the scrolling part
export const CONNECTION = "data-test-connection-state"; // an attribute
export const APP = '[data-testid="stApp"]'; // a selector: the whole page
export const SKIP_LINK = "stSkipToContent"; //    a data-testid: the keyboard's link past all other parts

export const partOfStreamlit = (id, root = document) => root.querySelector(`[data-testid="${id}"]`);
export const hasConnected = () => Boolean(document.querySelector(`[${CONNECTION}=CONNECTED]`));
export const isConnected = () => !document.querySelector(`[${CONNECTION}]:not([${CONNECTION}=CONNECTED])`);
export const isWithin = (element, id) => Boolean(element.closest?.(`[data-testid="${id}"]`));
