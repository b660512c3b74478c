// Fetches files for later visits without an internet connection: in idle time after the first picture, the small
// networks and each sample's opening view; all other files when the person asks for them. The service worker caches
// files, and siteanswers.js caches weights.

import { shownTrace } from "./address.js";
import { fetchFile } from "./http.js";
import { keepText, keptText } from "./kept.js";

const FILES_CACHE = "attention-playground-files"; // the cache's name in serviceworker.js
const ALL_KEPT_KEY = "attention-playground-offline"; // key in localStorage: names the list whose files are all stored
const PARALLEL_FETCHES = 4; // files fetched at the same time
const ALL_HERE = "All of it is kept in this browser: it needs no network.";
const NO_ROOM = "This browser has no room for all of it: what did not fit needs the network each time.";
const BROKEN_OFF = "It broke off: try again.";

// files: see `write_offline_list` of serving/site_files.py; kept, networks: see siteanswers.js.
export function offerOffline(files, { kept: store, networks, siteFile }, footer, button) {
  const { soon: firstFiles, all: listFile, bytes: total } = files;
  const cache = () => caches.open(FILES_CACHE);
  const isInCache = async (name) => Boolean(await (await cache()).match(siteFile(name), { ignoreVary: true }));

  async function fetchIntoCache(name, signal) {
    if (!(await isInCache(name))) await (await fetchFile(siteFile(name), { signal })).arrayBuffer();
  }

  // Fetches all files. onProgress(bytes) reports the number of bytes stored so far.
  async function bringAll(onProgress, signal) {
    navigator.storage?.persist?.().catch(() => {});
    const files = Object.entries(await (await fetchFile(siteFile(listFile), { signal })).json());
    const [receivedBytes, queue] = [new Map(), [...files]];
    const report = (name, bytes) =>
      onProgress([...receivedBytes.set(name, bytes).values()].reduce((sum, bytes) => sum + bytes, 0));
    const fetchQueue = async () => {
      for (let entry = queue.pop(); entry; entry = queue.pop()) {
        await fetchIntoCache(entry[0], signal);
        signal.throwIfAborted();
        report(...entry);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_FETCHES }, fetchQueue));
    for (const [model, { bytes }] of Object.entries(networks)) {
      if (await store.isKept(model)) report(model, bytes);
      else await store.read(model, { tell: (count) => report(model, count), signal });
    }
    for (const [name] of files) if (!(await isInCache(name))) throw Object.assign(new Error(name), { says: NO_ROOM });
    for (const model of Object.keys(networks))
      if (!(await store.isKept(model))) throw Object.assign(new Error(model), { says: NO_ROOM });
    keepText(ALL_KEPT_KEY, listFile);
  }

  // Fetches small networks and the first files, once a picture is shown. A failed file is fetched at the next visit.
  async function bringSoon(signal) {
    await firstPicture();
    if (navigator.connection?.saveData) return false;
    for (const model of Object.keys(networks)) {
      await whenIdle();
      if (!networks[model].asked && !(await store.isKept(model))) await store.read(model, { signal });
    }
    for (const name of firstFiles) {
      await whenIdle();
      await fetchIntoCache(name, signal);
    }
    return true;
  }

  // The button fetches all files and shows the progress. `footer` gets data-kept="page", "soon" or "all", depending on
  // the stored files.
  const controller = new AbortController();
  const megabytes = (bytes) => Math.max(1, Math.round(bytes / 1e6));
  const offerWords = `Keep all of it offline (${megabytes(total)} MB)`;
  let request = null;
  const showKept = () => {
    footer.dataset.kept = "all";
    Object.assign(button, { textContent: ALL_HERE, disabled: true });
  };
  button.textContent = offerWords;
  button.hidden = false;
  if (keptText(ALL_KEPT_KEY) === listFile) return showKept();
  button.addEventListener("click", async () => {
    if (request) return request.abort();
    request = new AbortController();
    const showProgress = (bytes) => {
      button.textContent = `${megabytes(bytes)} of ${megabytes(total)} MB are here: stop`;
    };
    showProgress(0);
    try {
      await bringAll(showProgress, request.signal);
      controller.abort();
      showKept();
    } catch (error) {
      button.textContent = request.signal.aborted ? offerWords : `${error.says ?? BROKEN_OFF} ${offerWords}`;
    }
    request = null;
  });
  bringSoon(controller.signal).then(
    (isComplete) => (footer.dataset.kept ??= isComplete ? "soon" : "page"),
    () => {},
  );
}

const firstPicture = () =>
  new Promise((resolve) => {
    if (shownTrace.now) return resolve(true);
    const onPicture = () => [shownTrace.listeners.delete(onPicture), resolve(true)];
    shownTrace.listeners.add(onPicture);
  });

const whenIdle = () => new Promise((resolve) => (globalThis.requestIdleCallback ?? setTimeout)(resolve));
