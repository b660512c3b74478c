// The sheet of models: models on this machine, models that can be downloaded, and the present download.
//
// The document has at most one download. It continues when the sheet is closed, and its model is chosen at the end,
// unless another one was chosen meanwhile. `showFetching` draws its progress bar in any box.
import { makeOneStop, nextByKey } from "./toolbarparts.js";

// The cards of models: their words, and a small picture of the model's attention on the picture on view.

const HERE_OR_NOT = [
  [true, "On this machine"],
  [false, "To fetch once"],
];

// [{heading, group: cards}] without empty groups, each in the order in which the server gave its cards.
export function groupsOfModels(cards) {
  const groups = HERE_OR_NOT.map(([here, heading]) => ({ heading, group: cards.filter((card) => card.here === here) }));
  return groups.filter(({ group }) => group.length);
}

export function factsOfModel({ suits, megabytes, licence }) {
  return [suits && `for ${suits}`, megabytes && `${megabytes} MB`, licence].filter(Boolean).join(" · ");
}

export function wordsOfSearch(count) {
  return count ? `${count} found` : "No model that loads is called so: try fewer words.";
}

export function cardOfModel(card, look) {
  const button = modelPart("button", "model-card");
  const words = modelPart("span", "model-words");
  const title = modelPart("b", "", card.title);
  words.append(title, " ", card.good_for, " ", modelPart("small", "", factsOfModel(card)));
  if (card.assumed) words.append(modelPart("small", "", card.assumed));
  button.dataset.model = card.name;
  button.append(...(look ? [look] : []), words);
  return button;
}

// of(card) returns the element for a card's preview, or null if the preview would take long. Previews are made one
// after another, visible ones first, because each may be a forward pass.
export function lookThrough(root, ask, { sample, mine }) {
  const places = new Map(); // name -> place; a card may reappear after a search
  const queue = [];
  let busy = false;

  async function work() {
    if (busy) return;
    busy = true;
    while (queue.length && root.isConnected) await look(queue.shift());
    busy = false;
  }

  async function look(name) {
    const query = new URLSearchParams({ ...(mine ? { mine } : sample ? { sample } : {}), model: name });
    try {
      const picture = await (await ask(`api/preview?${query}`)).blob();
      const image = document.createElement("img");
      Object.assign(image, { src: URL.createObjectURL(picture), alt: "", draggable: false });
      image.addEventListener("load", () => URL.revokeObjectURL(image.src), { once: true });
      places.get(name).append(image);
    } catch {
      places.get(name).remove(); // without a preview the card is enough
    }
  }

  const want = (name) => {
    queue.push(name);
    work();
  };
  const sight = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      sight.unobserve(target);
      want(target.dataset.look);
    }
  });

  return {
    of({ name, quick }) {
      if (!quick) return null;
      if (!places.has(name)) {
        const place = modelPart("span", "model-look");
        place.dataset.look = name;
        places.set(name, place);
        sight.observe(place);
      }
      return places.get(name);
    },
  };
}

// Names come from outside: they are written as text.
export function modelPart(kind, className = "", text = "") {
  const part = document.createElement(kind);
  if (className) part.className = className;
  if (text) part.textContent = text;
  if (kind === "button") part.type = "button";
  return part;
}

const TYPING = 300; // ms without typing until a search is sent
const AGAIN = 500; // ms between two questions about the download; a browser silent for 5 s has left
const MOST_MISSED = 20; //  questions one after another that nobody answered
const SILENT = "The server does not answer: try again.";
const LOST = "It did not arrive: try again.";

const troubleSentence = ({ status, says }) => (status === 0 ? SILENT : (says ?? SILENT));

// ---- fetching

// Resolves when the model is on the server. onProgress({bytes, total, arrived, over}); a refusal or trouble has `says`.
export async function pickModel(ask, name, onProgress, signal) {
  const address = `api/fetching?${new URLSearchParams({ model: name })}`;
  const begin = async () => (await ask(address, { method: "POST", signal })).json();
  const leave = () => ask(address, { method: "DELETE" }).catch(() => {}); // the server also notices silence
  signal?.throwIfAborted();
  signal?.addEventListener("abort", leave, { once: true });
  try {
    let progress = await begin();
    while (!progress.over) {
      onProgress(progress);
      await aWhile(AGAIN, signal);
      progress = await howFar(ask, address, begin, signal);
    }
    if (!progress.arrived) throw Object.assign(new Error("not fetched"), { says: progress.trouble ?? LOST });
    onProgress(progress);
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

async function howFar(ask, address, begin, signal) {
  for (let missed = 0; ; missed++) {
    try {
      return await (await ask(address, { signal })).json();
    } catch (error) {
      signal?.throwIfAborted();
      if (error.status === 404) return begin(); // a hidden tab asks once a minute, and the server took it for gone
      if ((error.status && error.status < 500) || missed >= MOST_MISSED) throw error;
      await aWhile(AGAIN, signal);
    }
  }
}

function aWhile(ms, signal) {
  return new Promise((go, stop) => {
    if (signal?.aborted) return stop(signal.reason);
    const end = () => {
      clearTimeout(timer);
      stop(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      go();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}

// The present download, {card, told, trouble, ask, choice, stop()}, and listeners that draw it.
const onItsWay = { now: null, listeners: new Set() };

// Has the server download a model that it lacks, then chooses the model. `card`: {name, title}.
export function fetchModel(card, ask, choice) {
  leaveModel();
  const ending = new AbortController();
  const fetching = { card, told: null, trouble: null, ask, choice, stop: () => ending.abort() };
  const tell = (change) => {
    if (onItsWay.now === fetching) tellOfModel(Object.assign(fetching, change));
  };
  tellOfModel(fetching);
  pickModel(ask, card.name, (progress) => tell({ told: progress }), ending.signal).then(
    () => {
      if (onItsWay.now !== fetching) return;
      choice.set({ model: card.name, chose: true });
      tellOfModel(null, card);
    },
    (error) => tell({ trouble: troubleSentence(error) }),
  );
}

function leaveModel() {
  const left = onItsWay.now;
  if (!left) return;
  tellOfModel(null);
  left.stop();
}

function tellOfModel(fetching, arrived = null) {
  onItsWay.now = fetching;
  for (const listener of [...onItsWay.listeners]) listener(fetching, arrived);
}

// listener(fetching, arrived) is called until its element leaves the page or the returned function is called.
function followModel(element, listener) {
  const listen = (fetching, arrived) => (element.isConnected ? listener(fetching, arrived) : stop());
  const stop = () => onItsWay.listeners.delete(listen);
  onItsWay.listeners.add(listen);
  return stop;
}

export function wordsOfFetching({ card, told, trouble }) {
  if (trouble) return trouble.includes(card.title) ? trouble : `${card.title}: ${trouble}`;
  if (told?.arrived) return `${card.title}: loading it`;
  if (!told?.total) return `${card.title}: looking for it`;
  return `${card.title}: ${(told.bytes / 1e6).toFixed(0)} of ${(told.total / 1e6).toFixed(0)} MB`;
}

// Draws the running download into the box, if there is one. Returns a function that ends this.
export function showFetching(box) {
  const line = modelPart("div", "model-fetching");
  const [words, bar] = [modelPart("span"), modelPart("progress")];
  const [again, end] = [modelPart("button", "", "Try again"), modelPart("button")];
  const spoken = modelPart("span", "model-spoken"); // announced by screen readers once, not at each megabyte
  spoken.setAttribute("role", "status");
  again.addEventListener("click", () => {
    const { card, ask, choice } = onItsWay.now;
    fetchModel(card, ask, choice);
  });
  end.addEventListener("click", leaveModel);
  line.append(words, bar, again, end);
  box.append(line, spoken);
  const draw = (fetching, arrived = null) => {
    line.hidden = !fetching;
    if (arrived) spoken.textContent = `${arrived.title} is here.`;
    if (!fetching) return;
    words.textContent = wordsOfFetching(fetching);
    const text = fetching.trouble ? words.textContent : `${fetching.card.title} is being fetched.`;
    if (spoken.textContent !== text) spoken.textContent = text;
    bar.hidden = Boolean(fetching.trouble);
    again.hidden = !fetching.trouble;
    bar.setAttribute("aria-label", `Fetching ${fetching.card.title}`);
    bar.max = fetching.told?.total || 1;
    if (fetching.told?.total && !fetching.told.arrived) bar.value = fetching.told.bytes;
    else bar.removeAttribute("value"); // its duration is unknown
    end.textContent = fetching.trouble ? "Close" : "Cancel";
  };
  draw(onItsWay.now);
  const stop = followModel(box, draw);
  return () => {
    stop();
    line.remove();
    spoken.remove();
  };
}

// ---- the sheet

export function fillModels(box, { choice, ask, words, done }) {
  const root = modelPart("div", "models");
  const search = modelPart("input", "model-search");
  Object.assign(search, { type: "search", hidden: true, placeholder: "Search: clip base, deit …", spellcheck: false });
  search.setAttribute("aria-label", "Search all plain Vision Transformers of timm");
  const status = modelPart("p", "model-status", "Looking which models there are …");
  status.setAttribute("role", "status");
  const list = modelPart("div", "model-list");
  root.append(search, status, list);
  box.append(root);

  const items = new Map(); // name -> {card, item, button, hide: ends the bar under it}, as they are shown
  const looks = lookThrough(root, ask, words);
  let [asked, typing] = [null, 0]; // the last question, and the timer of the next search

  async function load(text) {
    asked?.abort();
    const { signal } = (asked = new AbortController());
    if (text) status.textContent = "Searching …";
    try {
      const address = text ? `api/models?${new URLSearchParams({ search: text })}` : "api/models";
      const found = await (await ask(address, { signal })).json();
      if (signal.aborted) return;
      search.hidden = !found.open;
      draw(found.cards);
      status.textContent = text ? wordsOfSearch(found.cards.length) : "";
    } catch (error) {
      if (!signal.aborted) status.textContent = troubleSentence(error);
    }
  }

  function draw(cards) {
    for (const { hide } of items.values()) hide?.();
    items.clear();
    list.replaceChildren();
    for (const { heading, group } of groupsOfModels(cards)) {
      const [section, rows] = [modelPart("section"), modelPart("ul")];
      for (const card of group) {
        const [item, button] = [modelPart("li"), cardOfModel(card, looks.of(card))];
        button.addEventListener("click", () => pick(card));
        item.append(button);
        rows.append(item);
        items.set(card.name, { card, item, button, hide: null });
      }
      section.append(modelPart("h3", "", heading), rows);
      list.append(section);
    }
    mark();
    const stop = oneStop();
    const focused = root.getRootNode().activeElement;
    if (focused && focused !== root && focused.contains(root)) stop?.focus({ preventScroll: true });
  }

  function pick(card) {
    const coming = onItsWay.now;
    if (!card.here) {
      if (coming?.card.name !== card.name || coming.trouble) fetchModel(card, ask, choice);
      return;
    }
    leaveModel();
    choice.set({ model: card.name, chose: true });
    done();
  }

  // Marks the chosen card, and shows the download's bar under its card.
  function mark() {
    for (const entry of items.values()) {
      if (entry.card.name === choice.now.model) entry.button.setAttribute("aria-current", "true");
      else entry.button.removeAttribute("aria-current");
      const comes = entry.card.name === onItsWay.now?.card.name;
      if (comes && !entry.hide) entry.hide = showFetching(entry.item);
      if (comes || !entry.hide) continue;
      const hadFocus = entry.item.contains(root.getRootNode().activeElement);
      entry.hide = entry.hide();
      if (hadFocus) entry.button.focus({ preventScroll: true });
    }
  }

  const buttons = () => [...items.values()].map(({ button }) => button);

  function oneStop() {
    const stop = buttons().find((button) => button.hasAttribute("aria-current")) ?? buttons()[0];
    makeOneStop(buttons(), stop);
    return stop;
  }

  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => load(search.value.trim()), TYPING);
  });
  root.addEventListener("keydown", (event) => {
    if (event.target === search && event.key !== "ArrowDown") return;
    const to = event.target === search ? buttons()[0] : nextByKey(event, buttons(), ["ArrowUp", "ArrowDown"]);
    if (!to) return;
    event.preventDefault();
    makeOneStop(buttons(), to);
    to.focus();
  });

  const stopFollowing = choice.follow(() => (root.isConnected ? mark() : stopFollowing()));
  followModel(root, (_, arrived) => {
    mark();
    if (arrived) done();
  });
  load("");
}
