// The secret by which the server knows this browser's own pictures. It goes in one header, never into an address. A
// class link keeps it only as long as the tab.

const KEPT_KEY = "attention-playground-key";
const PATTERN = /^[A-Za-z0-9_-]{22,64}$/;

let key = null;

export const onlyThisTab = () => new URLSearchParams(location.search).get("class") === "yes";

export function ownKey() {
  key ??= readKey() ?? makeKey();
  return key;
}

const storage = () => (onlyThisTab() ? sessionStorage : localStorage);

function readKey() {
  try {
    const found = storage().getItem(KEPT_KEY);
    return PATTERN.test(found ?? "") ? found : null;
  } catch {
    return null; // storage is forbidden: the key lasts as long as the page
  }
}

function makeKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  const made = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
  try {
    storage().setItem(KEPT_KEY, made);
  } catch {
    // it lasts as long as the page
  }
  return made;
}
