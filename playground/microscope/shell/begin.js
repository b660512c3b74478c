// The first script of a page without a server. It unzips the styles and the page's script, for hosts that do not
// compress. The script is inserted into the page as text; the page's content security policy allows this text by its
// digest.
import { unzipped } from "../core/container.js";

/** @type {HTMLScriptElement} */
const ownScript = document.querySelector("script[data-begin]");
const { styles, script, plain, font } = JSON.parse(ownScript.dataset.begin);
const fileHere = (name) => new URL(name, ownScript.src).href;

async function textOf(name) {
  const bytes = await (await fetch(fileHere(name))).arrayBuffer();
  return new TextDecoder().decode(await unzipped(new Uint8Array(bytes)));
}

const [rules, code] = await Promise.all([textOf(styles), textOf(script)]);
const sheet = new CSSStyleSheet();
sheet.replaceSync(rules);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
// A host whose own policy is script-src 'self' forbids text: then the same script is loaded as a file.
document.addEventListener(
  "securitypolicyviolation",
  ({ effectiveDirective, blockedURI }) => {
    if (effectiveDirective.startsWith("script-src") && blockedURI === "inline") import(fileHere(plain));
  },
  { once: true },
);
const pageScript = document.createElement("script");
pageScript.type = "module";
pageScript.textContent = code;
document.head.append(pageScript);

// Later visits load the typeface first, so that no text moves. On a first visit the picture is shown before the
// typeface.
if (font && navigator.serviceWorker?.controller)
  document.fonts.add(await new FontFace("Source Sans", `url(${fileHere(font)})`, { weight: "200 900" }).load());
