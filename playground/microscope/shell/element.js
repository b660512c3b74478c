// <attention-lens>: the microscope as an element of a page. Its numbers are in the page (attributes `numbers` and
// `picture`: ids of elements), or a network computes them (`model` and `picture`: addresses; see attentionlens.js).
// Errors are shown inside the element, sent as an "error" event, and reject the promise `shown`; they are never thrown.

import { unzipped } from "../core/container.js";
import { unpack } from "../core/core.js";
import { make } from "../drawing/dom.js";
import { createLens } from "../lens/lens.js";
import { createSee } from "../see/see.js";

export class LensError extends Error {
  constructor(sentence) {
    super(sentence);
    Object.assign(this, { name: "LensError", says: sentence });
  }
}

// Set by defineLens. bring(element) returns {source, trace, view, best, options} for the lens, and a function forget().
// styles: of the shadow root around the lens; "", without a shadow root, in a page that shows only the lens and has its
// styles.
const elementParts = { bring: null, styles: "" };

const NOT_WORKED = "The attention lens can't show this here.";
const USUAL_HEIGHT = 600; // pixels: the default height

const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? Object); // none under Node

export class AttentionLens extends Base {
  static observedAttributes = ["model", "numbers", "picture", "view", "detail"];

  #place = null;
  #errorLine = null;
  #lens = null;
  #content = null; // the content on show
  #request = null; //    identifies the latest request, so that older ones stop
  #shown = Promise.resolve();

  // Resolves when the picture of the attributes is on view; rejects with a LensError.
  get shown() {
    return this.#shown;
  }

  // The view on show, with the names that an address uses; null before a picture is shown.
  get now() {
    return this.#lens?.view ?? null;
  }

  // Passes `changes`, {view, ui} as for createLens, to the lens. The page around this element calls this method.
  update(changes) {
    this.#lens?.update(changes);
  }

  connectedCallback() {
    if (!this.#place) this.#build();
    this.#begin();
  }

  disconnectedCallback() {
    this.#request = null;
    this.#lens?.destroy();
    this.#lens = null;
    this.#forget(null);
  }

  attributeChangedCallback() {
    if (this.#place && this.isConnected) this.#begin();
  }

  #build() {
    const root = /** @type {any} */ (elementParts.styles ? shadowOf(this, elementParts.styles) : this);
    this.#place = make("div");
    this.#errorLine = make("p", { className: "trouble", hidden: true });
    this.#errorLine.setAttribute("role", "alert");
    root.append(this.#errorLine, this.#place);
  }

  // Starts a request for content. If several attributes change together, only the last request continues.
  #begin() {
    const request = {};
    this.#request = request;
    this.#shown = Promise.resolve().then(() => (this.#request === request ? this.#show(request) : this.#shown));
    this.#shown.catch(() => {}); // handled here, so that the console reports no unhandled rejection
  }

  async #show(request) {
    let content = null;
    try {
      content = await elementParts.bring(this);
      if (this.#request !== request) return content.forget?.();
      const { source, trace, view, best, options } = content;
      const height = this.clientHeight > 100 ? this.clientHeight : USUAL_HEIGHT;
      const onFailure = (error) => this.#fail(error);
      const ui = { height, ...options?.ui };
      this.#lens ??= createLens(this.#place, { source, link: null, failed: onFailure, ...options, ui });
      await this.#lens.show({ main: trace, view, best });
      if (this.#request !== request) return;
      this.#forget(content);
      this.#tell("");
      this.dispatchEvent(new Event("load"));
    } catch (error) {
      if (content !== this.#content) content?.forget?.();
      if (this.#request === request) throw this.#fail(error);
    }
  }

  #fail(error) {
    const lensError = error instanceof LensError ? error : new LensError(error.says ?? NOT_WORKED);
    this.#tell(lensError.message);
    this.dispatchEvent(new ErrorEvent("error", { message: lensError.message, error: lensError }));
    return lensError;
  }

  #tell(sentence) {
    Object.assign(this.#errorLine, { textContent: sentence, hidden: !sentence });
    this.#place.hidden = Boolean(sentence) && !this.#content;
  }

  #forget(content) {
    this.#content?.forget?.();
    this.#content = content;
  }
}

// See, or Lab, of a lens that is alone: its page has no bar of ours.
export const aloneIn =
  (language, face = "see") =>
  (lens) =>
    createSee(lens, { face, language, turned() {}, bar: 0, alone: true });

// What a lens asks for whose numbers are at hand: a pack, and whatever createImageBitmap takes.
export const heldSource = (pack, picture) => ({ offers: [], layers: async () => pack, picture: async () => picture });

// A shadow root with these styles.
export function shadowOf(host, styles) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheet];
  return root;
}

export function heldTrace(pack, title) {
  const { layers, header } = unpack(pack);
  return { id: "held", title: header.model, layers, picture: { id: "picture", title } };
}

export function defineLens(loadContent, styles = "") {
  Object.assign(elementParts, { bring: loadContent, styles });
  globalThis.customElements?.define("attention-lens", AttentionLens);
}

// ---- numbers in the page

// Reads content from elements of the page. `numbers`: the id of a script with a zipped pack (Trace.to_bytes) in base64;
// `picture`: the id of an image.
export async function bringFromPage(element) {
  const bytes = Uint8Array.from(atob(elementOf(element, "numbers").textContent), (letter) => letter.charCodeAt(0));
  const image = elementOf(element, "picture");
  const [pack, picture] = await Promise.all([
    unzipped(bytes),
    image.decode().then(
      () => image,
      () => null,
    ),
  ]);
  const title = element.getAttribute("title") ?? image.alt;
  return { source: heldSource(pack, picture), pack, trace: heldTrace(pack, title) };
}

function elementOf(element, attribute) {
  const id = element.getAttribute(attribute) ?? "";
  const target = element.ownerDocument.getElementById(id);
  if (target) return target;
  throw new LensError(`The page has no element ${id.slice(0, 40)}: ${attribute} is the id of one.`);
}
