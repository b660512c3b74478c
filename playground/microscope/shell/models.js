// The sheet of models: models on this machine, models that can be downloaded, and the present download.
//
// The document has at most one download. It continues when the sheet is closed, and its model is chosen at the end,
// unless another one was chosen meanwhile. `showFetching` draws its progress bar in any box.
import { make, oneTabStop, setTabStop } from "../drawing/dom.js";

export function cardOfModel({ name, title, good_for, assumed, suits, megabytes, licence }) {
  const facts = [suits && `for ${suits}`, megabytes && `${megabytes} MB`, licence].filter(Boolean).join(" · ");
  const words = make("span", "", make("b", "", title), " ", good_for, " ", make("small", "", facts));
  if (assumed) words.append(make("small", "", assumed));
  return make("button", { className: "model-card", "data-model": name }, words);
}

const TYPING_PAUSE = 300; // ms without typing until a search is sent
// ms between two requests for the progress; the server drops a download nobody has asked about for 5 s
const PROGRESS_INTERVAL = 500;
const MOST_MISSED = 20; // consecutive requests without an answer, after which a download fails
const NO_SERVER_SENTENCE = "The server does not answer: try again.";
const DOWNLOAD_FAILED = "It did not arrive: try again.";

const troubleSentence = ({ status, says: sentence }) =>
  status === 0 ? NO_SERVER_SENTENCE : (sentence ?? NO_SERVER_SENTENCE);

// ---- fetching

// Resolves when the model is on the server. onProgress({bytes, total, arrived, over}); refusals and other errors have
// `says`.
export async function downloadModel(ask, name, onProgress, signal) {
  const address = `api/fetching?${new URLSearchParams({ model: name })}`;
  const answer = async (options = {}) => (await ask(address, { ...options, signal })).json();
  // if this request fails: the server stops a download by itself when nobody asks for its progress
  const cancelFetching = () => ask(address, { method: "DELETE" }).catch(() => {});
  signal?.throwIfAborted();
  signal?.addEventListener("abort", cancelFetching, { once: true });
  try {
    let progress = await answer({ method: "POST" });
    for (let missedAnswers = 0; !progress.over; ) {
      onProgress(progress);
      await new Promise((resolve) => setTimeout(resolve, PROGRESS_INTERVAL));
      signal?.throwIfAborted();
      try {
        progress = await answer();
        missedAnswers = 0;
      } catch (error) {
        signal?.throwIfAborted();
        // the server dropped the download: a hidden tab asks too seldom
        if (error.status === 404) progress = await answer({ method: "POST" });
        else if ((error.status && error.status < 500) || ++missedAnswers > MOST_MISSED) throw error;
      }
    }
    if (!progress.arrived) throw Object.assign(new Error("not fetched"), { says: progress.trouble ?? DOWNLOAD_FAILED });
    onProgress(progress);
  } finally {
    signal?.removeEventListener("abort", cancelFetching);
  }
}

// now: the present download, {card, progress, trouble: an error's sentence, ask, choice, stop()}; listeners:
// functions that draw it.
const fetchingModel = { now: null, listeners: new Set() };

// Makes the server download a missing model, then chooses the model. `card`: {name, title}.
export function fetchModel(card, ask, choice) {
  stopFetching();
  const controller = new AbortController();
  const fetching = { card, progress: null, trouble: null, ask, choice, stop: () => controller.abort() };
  const changeState = (changes) => {
    if (fetchingModel.now === fetching) tellListeners(Object.assign(fetching, changes));
  };
  tellListeners(fetching);
  downloadModel(ask, card.name, (progress) => changeState({ progress }), controller.signal).then(
    () => {
      if (fetchingModel.now !== fetching) return;
      choice.set({ model: card.name, chose: true });
      tellListeners(null, card);
    },
    (error) => changeState({ trouble: troubleSentence(error) }),
  );
}

function stopFetching() {
  const fetching = fetchingModel.now;
  if (!fetching) return;
  tellListeners(null);
  fetching.stop();
}

function tellListeners(fetching, arrivedCard = null) {
  fetchingModel.now = fetching;
  for (const listener of [...fetchingModel.listeners]) listener(fetching, arrivedCard);
}

// Calls listener(fetching, arrived) until `element` leaves the page or the returned function is called.
function followModel(element, listener) {
  const listenWhileShown = (fetching, arrivedCard) =>
    element.isConnected ? listener(fetching, arrivedCard) : stopListening();
  const stopListening = () => fetchingModel.listeners.delete(listenWhileShown);
  fetchingModel.listeners.add(listenWhileShown);
  return stopListening;
}

function wordsOfFetching({ card, progress, trouble }) {
  if (trouble) return trouble.includes(card.title) ? trouble : `${card.title}: ${trouble}`;
  if (progress?.arrived) return `${card.title}: loading it`;
  if (!progress?.total) return `${card.title}: looking for it`;
  return `${card.title}: ${(progress.bytes / 1e6).toFixed(0)} of ${(progress.total / 1e6).toFixed(0)} MB`;
}

// Draws the running download, if any, into the box. Returns a function that stops the drawing.
export function showFetching(box) {
  const [words, bar, stopButton] = [make("span"), make("progress"), make("button", { onclick: stopFetching })];
  const fetchAgain = ({ card, ask, choice }) => fetchModel(card, ask, choice);
  const retryButton = make("button", { onclick: () => fetchAgain(fetchingModel.now) }, "Try again");
  const line = make("div", "model-fetching", words, bar, retryButton, stopButton);
  // announced by screen readers once, not at each megabyte
  const announcement = make("span", { className: "unseen", role: "status" });
  box.append(line, announcement);
  const draw = (fetching, arrivedCard = null) => {
    line.hidden = !fetching;
    if (arrivedCard) announcement.textContent = `${arrivedCard.title} is here.`;
    if (!fetching) return;
    words.textContent = wordsOfFetching(fetching);
    const text = fetching.trouble ? words.textContent : `${fetching.card.title} is being fetched.`;
    if (announcement.textContent !== text) announcement.textContent = text;
    bar.hidden = Boolean(fetching.trouble);
    retryButton.hidden = !fetching.trouble;
    bar.setAttribute("aria-label", `Fetching ${fetching.card.title}`);
    bar.max = fetching.progress?.total || 1;
    if (fetching.progress?.total && !fetching.progress.arrived) bar.value = fetching.progress.bytes;
    else bar.removeAttribute("value"); // the progress is unknown, so the bar moves without a value
    stopButton.textContent = fetching.trouble ? "Close" : "Cancel";
  };
  draw(fetchingModel.now);
  const stopFollowing = followModel(box, draw);
  return () => {
    stopFollowing();
    line.remove();
    announcement.remove();
  };
}

// ---- the sheet

export function fillModels(box, { choice, ask, done: onPicked }) {
  const search = make("input", {
    className: "model-search",
    type: "search",
    hidden: true,
    spellcheck: false,
    placeholder: "Search: clip base, deit …",
    "aria-label": "Search all plain Vision Transformers of timm",
  });
  const status = make("p", { className: "model-status", role: "status" }, "Looking which models there are …");
  const list = make("div", "model-list");
  const root = make("div", "models", search, status, list);
  box.append(root);

  const items = new Map(); // listed models: name → {card, item, button, hide: removes the progress bar}
  let [searchRequest, typingTimer] = [null, 0]; // the last request, and the timer of the next search

  async function loadModels(query) {
    searchRequest?.abort();
    const { signal } = (searchRequest = new AbortController());
    if (query) status.textContent = "Searching …";
    try {
      const address = query ? `api/models?${new URLSearchParams({ search: query })}` : "api/models";
      const catalogue = await (await ask(address, { signal })).json();
      if (signal.aborted) return;
      search.hidden = !catalogue.open;
      draw(catalogue.cards);
      const { length } = catalogue.cards;
      const found = length ? `${length} found` : "No model that loads is called so: try fewer words.";
      status.textContent = query ? found : "";
    } catch (error) {
      if (!signal.aborted) status.textContent = troubleSentence(error);
    }
  }

  function draw(cards) {
    for (const { hide } of items.values()) hide?.();
    items.clear();
    list.replaceChildren();
    for (const [isLocal, heading] of Object.entries({ true: "On this machine", false: "To fetch once" })) {
      const group = cards.filter((card) => String(card.here) === isLocal);
      if (!group.length) continue;
      for (const card of group) {
        const button = cardOfModel(card);
        button.onclick = () => pickCard(card);
        items.set(card.name, { card, item: make("li", "", button), button, hide: null });
      }
      const rows = make("ul", "", ...group.map(({ name }) => items.get(name).item));
      list.append(make("section", "", make("h3", "", heading), rows));
    }
    mark();
    const tabStop = buttons().find((button) => button.hasAttribute("aria-current")) ?? buttons()[0];
    setTabStop(buttons(), tabStop);
    if (document.activeElement?.contains(root)) tabStop?.focus({ preventScroll: true }); // the sheet has the focus
  }

  function pickCard(card) {
    const current = fetchingModel.now;
    if (!card.here) {
      if (current?.card.name !== card.name || current.trouble) fetchModel(card, ask, choice);
      return;
    }
    stopFetching();
    choice.set({ model: card.name, chose: true });
    onPicked();
  }

  // Marks the chosen card, and shows the download's bar under its card.
  function mark() {
    for (const entry of items.values()) {
      if (entry.card.name === choice.now.model) entry.button.setAttribute("aria-current", "true");
      else entry.button.removeAttribute("aria-current");
      const isFetching = entry.card.name === fetchingModel.now?.card.name;
      if (isFetching && !entry.hide) entry.hide = showFetching(entry.item);
      if (isFetching || !entry.hide) continue;
      const hadFocus = entry.item.contains(document.activeElement);
      entry.hide = entry.hide();
      if (hadFocus) entry.button.focus({ preventScroll: true });
    }
  }

  const buttons = () => [...items.values()].map(({ button }) => button);

  search.addEventListener("input", () => {
    clearTimeout(typingTimer);
    typingTimer = setTimeout(() => loadModels(search.value.trim()), TYPING_PAUSE);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" || !items.size) return;
    event.preventDefault();
    setTabStop(buttons(), buttons()[0]);
    buttons()[0].focus();
  });
  oneTabStop(list, buttons);

  const stopFollowing = choice.follow(() => (root.isConnected ? mark() : stopFollowing()));
  followModel(root, (_, arrivedCard) => {
    mark();
    if (arrivedCard) onPicked();
  });
  loadModels("");
}
