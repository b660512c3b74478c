// What a word means, in a card beside it: [data-explains] says it. It opens where a mouse rests, at once under a finger
// and with the Tab key; Escape, a press elsewhere and leaving close it.
const EXPLAINED_AFTER = 350; // ms that the mouse rests on a word
const FROM_CARD = 8; // px between word and card, and between card and window

export function explainWords(root, signal) {
  const card = root.appendChild(document.createElement("p"));
  card.className = "explained";
  card.role = "tooltip";
  card.hidden = true;
  let word = null;
  let timer = 0;

  function close() {
    clearTimeout(timer);
    word = null;
    card.hidden = true;
  }

  function open(element) {
    close();
    word = element;
    card.textContent = element.dataset.explains;
    card.hidden = false;
    const [at, size] = [element.getBoundingClientRect(), card.getBoundingClientRect()];
    const left = Math.max(FROM_CARD, Math.min(at.left, innerWidth - size.width - FROM_CARD));
    const above = at.top - size.height - FROM_CARD;
    Object.assign(card.style, { left: `${left}px`, top: `${above < FROM_CARD ? at.bottom + FROM_CARD : above}px` });
  }

  const wordOf = (target) => target.closest?.("[data-explains]") || null; // an empty one explains nothing
  const explains = (element) => Boolean(element?.dataset.explains);
  root.addEventListener("pointerover", (event) => {
    const element = wordOf(event.target);
    if (event.pointerType !== "mouse" || element === word) return;
    close();
    if (explains(element)) timer = setTimeout(() => element.isConnected && open(element), EXPLAINED_AFTER);
  });
  root.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && close());
  // A finger has no place to rest: the word that it pressed is explained while it does what it does.
  root.addEventListener("click", (event) => {
    const element = wordOf(event.target);
    if (event.pointerType !== "mouse" && explains(element) && element !== word) open(element);
    else close();
  });
  root.addEventListener("focusin", ({ target }) => {
    if (!target.matches(":focus-visible")) return;
    if (explains(wordOf(target))) open(wordOf(target));
    else close();
  });
  root.addEventListener("focusout", close);
  window.addEventListener("keydown", (event) => event.key === "Escape" && close(), { signal });
  window.addEventListener("scroll", close, { capture: true, passive: true, signal });
}
