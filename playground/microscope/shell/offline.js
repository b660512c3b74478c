// Fetches files for later visits without an internet connection: after the first picture, in idle time, the small
// networks and the opening of each sample; all other files when a person asks for them. The service worker caches
// files, siteanswers.js weights.

import { shownTrace } from "./address.js";
import { fetchFile } from "./http.js";

const KEEPS_FILES = "attention-playground-files"; // the name that serviceworker.js gives it
const ALL_KEPT = "attention-playground-offline"; // of localStorage: the list of which all is kept
const AT_ONCE = 4; // files
const HERE = "All of it is kept in this browser: it needs no network.";
const NO_ROOM = "This browser has no room for all of it: what did not fit needs the network each time.";
const BROKEN_OFF = "It broke off: try again.";

// `offline`: {soon: names, all: the name of a list {file: bytes}, bytes: of everything, weights too}; `kept` and
// `networks`: see computing.js. `siteFile(name)` is a file's address.
export function createOffline({ soon, all, bytes: total }, { kept, networks, siteFile }) {
  const cache = () => caches.open(KEEPS_FILES);
  const isHere = async (name) => Boolean(await (await cache()).match(siteFile(name), { ignoreVary: true }));

  async function bring(name, signal) {
    if (!(await isHere(name))) await (await fetchFile(siteFile(name), { signal })).arrayBuffer();
  }

  // tell(bytes): how many are here by now.
  async function bringAll(tell, signal) {
    navigator.storage?.persist?.().catch(() => {});
    const files = Object.entries(await (await fetchFile(siteFile(all), { signal })).json());
    const [arrived, left] = [new Map(), [...files]];
    const told = (name, bytes) => tell([...arrived.set(name, bytes).values()].reduce((sum, one) => sum + one, 0));
    const one = async () => {
      for (let next = left.pop(); next; next = left.pop()) {
        await bring(next[0], signal);
        signal.throwIfAborted();
        told(...next);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    for (const [model, { bytes }] of Object.entries(networks)) {
      if (await kept.isKept(model)) told(model, bytes);
      else await kept.read(model, { tell: (count) => told(model, count), signal });
    }
    for (const [name] of files) if (!(await isHere(name))) throw Object.assign(new Error(name), { says: NO_ROOM });
    for (const model of Object.keys(networks))
      if (!(await kept.isKept(model))) throw Object.assign(new Error(model), { says: NO_ROOM });
    markKept(all);
  }

  // Fetches the first files, when something is on view. Files that fail are fetched at the next visit.
  async function bringSoon(signal) {
    await firstPicture();
    if (navigator.connection?.saveData) return false;
    for (const model of Object.keys(networks)) {
      await idle();
      if (!networks[model].asked && !(await kept.isKept(model))) await kept.read(model, { signal });
    }
    for (const name of soon) {
      await idle();
      await bring(name, signal);
    }
    return true;
  }

  return {
    // Sets up the button that fetches everything and shows the progress. `foot` gets data-kept="page", "soon" or "all",
    // depending on how much is here.
    begin(foot, button) {
      const stop = new AbortController();
      const megabytes = (bytes) => Math.max(1, Math.round(bytes / 1e6));
      const offer = `Keep all of it offline (${megabytes(total)} MB)`;
      let bringing = null;
      const here = () => {
        foot.dataset.kept = "all";
        Object.assign(button, { textContent: HERE, disabled: true });
      };
      button.textContent = offer;
      button.hidden = false;
      if (markedAsKept() === all) return here();
      button.addEventListener("click", async () => {
        if (bringing) return bringing.abort();
        bringing = new AbortController();
        const tell = (bytes) => {
          button.textContent = `${megabytes(bytes)} of ${megabytes(total)} MB are here: stop`;
        };
        tell(0);
        try {
          await bringAll(tell, bringing.signal);
          stop.abort();
          here();
        } catch (error) {
          button.textContent = bringing.signal.aborted ? offer : `${error.says ?? BROKEN_OFF} ${offer}`;
        }
        bringing = null;
      });
      bringSoon(stop.signal).then(
        (came) => (foot.dataset.kept ??= came ? "soon" : "page"),
        () => {},
      );
    },
  };
}

const firstPicture = () =>
  new Promise((go) => {
    if (shownTrace.now) return go();
    const seen = () => [shownTrace.listeners.delete(seen), go()];
    shownTrace.listeners.add(seen);
  });

const idle = () => new Promise((go) => (globalThis.requestIdleCallback ?? setTimeout)(go));

function markedAsKept() {
  try {
    return localStorage.getItem(ALL_KEPT);
  } catch {
    return null;
  }
}

function markKept(list) {
  try {
    localStorage.setItem(ALL_KEPT, list);
  } catch {
    // the next request finds the files that came
  }
}
