// A person's own pictures. The browser stores them, sends them to the server for viewing, and sends them again if the
// server has forgotten them.

import { seeWords } from "../lens/words.js";
import { choice, firstSample, isTraceFile } from "./choice.js";
import { ask, askJson, onlyThisTab, Refusal } from "./http.js";
import { MOST_TRACE_BYTES, openTraceFile, TRACE_NAME } from "./tracefile.js";

const MOST_BYTES = 32e6; // of a file: the server's limit
const LONGEST_TITLE = 60; // letters of a file's name; the server cuts there too

let album = []; // [{id, title, src, blob, when}], the newest last
let albumPromise = null;
let sendingCount = 0;
// the running write to the browser's storage; pictures are shown without waiting for it
let runningWrite = Promise.resolve();
const albumListeners = new Set();
const resentPictures = new Map(); // id → promise of a picture that is being sent again
const sentAgainAt = new Map(); // id → when it was last sent again

export const ownPictures = {
  get list() {
    return album;
  },
  follow(listener) {
    albumListeners.add(listener);
    return () => albumListeners.delete(listener);
  },
  lastFile: null, // the file that was opened last
  isStored: true, // false: the browser refuses to store pictures
  // The number of pictures being sent.
  get sendingCount() {
    return sendingCount;
  },
  read: () => (albumPromise ??= readOnce()),
  // Sends a file to the server and shows the picture; a .trace is opened here. options: {signal}, see http.js. If the
  // server refuses, the error is a Refusal with the reason.
  async open(file, options = {}) {
    const isTrace = TRACE_NAME.test(file.name);
    const most = isTrace ? MOST_TRACE_BYTES : MOST_BYTES;
    const values = { size: String(Math.round(file.size / 1e6)), most: String(most / 1e6) };
    const large = { word: "largeFile", values };
    if (file.size > most) throw new Refusal(413, seeWords("en", "largeFile", values), large);
    ownPictures.lastFile = file;
    changeSendingCount(1);
    let picture;
    try {
      const opening = isTrace ? openTraceFile(file) : sendPicture(file, file.name || "pasted picture", options);
      picture = await opening;
      keepInAlbum({ ...picture, src: picture.thumb, blob: file, when: Date.now() });
      if (ownPictures.lastFile === file) choice.set({ mine: picture.id }); // else a newer one has been opened
    } finally {
      changeSendingCount(-1);
    }
    await runningWrite;
    return picture;
  },
  async openLabelled(number) {
    const picture = await askJson(`api/labelled?number=${number}`, { method: "POST" });
    keepInAlbum({ ...picture, src: picture.thumb, blob: null, number, when: Date.now() });
    choice.set({ mine: picture.id });
  },
  // Sends a picture that the server has forgotten, once for all callers. False if this browser has not stored it.
  // `askedAt`: when the failed request was sent; if the picture was sent again since then, nothing is sent.
  bringAgain(id, { asked: askedAt = Number.POSITIVE_INFINITY } = {}) {
    if (sentAgainAt.get(id) > askedAt) return Promise.resolve(true);
    if (!resentPictures.has(id))
      resentPictures.set(
        id,
        bringOnce(id).finally(() => resentPictures.delete(id)),
      );
    return resentPictures.get(id);
  },
  async forget() {
    album = [];
    tellAlbum();
    const emptying = runningWrite.then(emptyAlbum);
    const { mine: ownId, beside } = choice.now;
    if (ownId) choice.set({ sample: firstSample().name, beside: null });
    else if (beside?.mine) choice.set({ beside: null });
    await ask("api/pictures", { method: "DELETE" }).catch(() => {}); // the server drops old pictures anyway
    await emptying;
  },
};

async function bringOnce(id) {
  await ownPictures.read();
  const picture = album.find((entry) => entry.id === id);
  if (!picture || isTraceFile(id)) return false;
  if (picture.blob) await sendPicture(picture.blob, picture.title);
  else await ask(`api/labelled?number=${picture.number}`, { method: "POST" });
  sentAgainAt.set(id, performance.now());
  return true;
}

async function readOnce() {
  if (onlyThisTab()) return;
  const storedAlbum = await readAlbum();
  album = [...storedAlbum.filter(({ id }) => !album.some((entry) => entry.id === id)), ...album].slice(
    -MOST_PHOTOGRAPHS,
  );
  tellAlbum();
}

function keepInAlbum(picture) {
  album = [...album.filter(({ id }) => id !== picture.id), picture].slice(-MOST_PHOTOGRAPHS);
  tellAlbum();
  const isLarge = picture.blob?.size > MOST_BYTES; // a large .trace lasts as long as the page
  if (!onlyThisTab() && !isLarge) runningWrite = runningWrite.then(() => keepPhotograph(picture));
}

function changeSendingCount(change) {
  sendingCount += change;
  tellAlbum();
}

const tellAlbum = () => albumListeners.forEach((listener) => listener(album));

const sendPicture = (blob, name, options = {}) => {
  const headers = { "X-Playground-Name": encodeURIComponent(name.slice(0, LONGEST_TITLE)) };
  return askJson("api/pictures", { ...options, method: "POST", body: blob, headers });
};

// A person's own photographs, stored in their browser (IndexedDB) so that a reload finds them again.
// A photograph: {id: the picture's name at the server, title, src: a small data URL, blob: the file, when: ms, width,
// height: in pixels, if this browser opened it}.
// If the browser stores nothing (private mode, storage forbidden), every function goes on without an error; the
// photographs then last as long as the page.

export const MOST_PHOTOGRAPHS = 8; // photographs; when there are more, the oldest is deleted

const DATABASE = "attention-playground",
  STORE = "photographs";

// The photographs, sorted by the time they were added.
export async function readAlbum() {
  const rows = await inStore("readonly", (store) => store.getAll());
  if (!rows) ownPictures.isStored = false;
  const photographs = (rows ?? []).sort((a, b) => a.when - b.when).slice(-MOST_PHOTOGRAPHS);
  return photographs.map((row) => (row.blob instanceof ArrayBuffer ? { ...row, blob: new Blob([row.blob]) } : row));
}

export async function keepPhotograph(photograph) {
  const { blob } = photograph;
  const put = (kept) => inStore("readwrite", (store) => store.put({ ...photograph, blob: kept }));
  // a private window of Safari stores bytes, but no Blob
  ownPictures.isStored = Boolean((await put(blob)) ?? (blob && (await put(await blob.arrayBuffer()))));
  const photographs = (await inStore("readonly", (store) => store.getAll())) ?? []; // another tab may have added some
  const oldestPhotographs = photographs.sort((a, b) => a.when - b.when).slice(0, -MOST_PHOTOGRAPHS);
  for (const { id } of oldestPhotographs) await inStore("readwrite", (store) => store.delete(id));
}

export const emptyAlbum = () => inStore("readwrite", (store) => store.clear());

// Opens the database for each call: a connection that stays open would block other tabs.
async function inStore(mode, action) {
  let database = null;
  try {
    database = await openDatabase();
    const transaction = database.transaction(STORE, mode);
    const request = action(transaction.objectStore(STORE));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
    return request.result;
  } catch {
    return null;
  } finally {
    database?.close();
  }
}

function openDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = () => reject(request.error);
  });
}
