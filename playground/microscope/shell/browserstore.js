import { joinScenes, readScenes, writeScenes } from "../core/view.js";

// A person's own photographs, kept in their own browser (IndexedDB) so that a reload brings them back.
//
// A photograph: {id: as the server calls the picture, title, src: a small data URL, blob: the file, when: ms, width,
// height: in pixels, where this browser opened it}.
// Where a browser keeps nothing (private mode, storage forbidden) every function goes on without a word: then the
// photographs last as long as the page.

export const MOST = 8; // photographs; the oldest goes

const DATABASE = "attention-playground",
  STORE = "photographs";

// They are sorted by when they came.
export async function readAlbum() {
  const found = await inStore("readonly", (store) => store.getAll());
  return (found ?? []).sort((a, b) => a.when - b.when).slice(-MOST);
}

export async function keepPhotograph(photograph) {
  await inStore("readwrite", (store) => store.put(photograph));
  const all = (await inStore("readonly", (store) => store.getAll())) ?? []; // another tab may have put some too
  const old = all.sort((a, b) => a.when - b.when).slice(0, -MOST);
  for (const { id } of old) await inStore("readwrite", (store) => store.delete(id));
}

export const emptyAlbum = () => inStore("readwrite", (store) => store.clear());

// Every call opens the database anew: an open one would hold up other tabs.
async function inStore(mode, action) {
  let database = null;
  try {
    database = await opened();
    const transaction = database.transaction(STORE, mode);
    const request = action(transaction.objectStore(STORE));
    await new Promise((done, fail) => {
      transaction.oncomplete = done;
      transaction.onerror = transaction.onabort = () => fail(transaction.error);
    });
    return request.result;
  } catch {
    return null;
  } finally {
    database?.close();
  }
}

function opened() {
  return new Promise((done, fail) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
    request.onsuccess = () => done(request.result);
    request.onerror = request.onblocked = () => fail(request.error);
  });
}

// Where the scenes of the microscope are kept: in this browser. A link may bring some (#scenes=…).

const SCENES = "attention-playground-scenes";

let held = null; // what storage did not take, being forbidden or full, lasts as long as the page

export function keptScenes() {
  if (held !== null) return held;
  try {
    return localStorage.getItem(SCENES);
  } catch {
    return null;
  }
}

export function keepScenes(text) {
  try {
    localStorage.setItem(SCENES, text);
    held = null;
  } catch {
    held = text;
  }
}

// Those of a link join one's own; the address is then as if they had not been in it.
export function takeScenesOfLink() {
  const [, text] = location.hash.match(/^#scenes=(.*)$/) ?? [];
  if (!text) return;
  let given = [];
  try {
    given = readScenes(decodeURIComponent(text));
  } catch {
    // cut short on its way
  }
  keepScenes(writeScenes(joinScenes(readScenes(keptScenes()), given)));
  history.replaceState(history.state, "", location.pathname + location.search);
}

// Whether this browser has been here before. It is written here alone; the server is not told.

const BEEN_HERE = "attention-playground-been-here";

// A newcomer is greeted, once. Where a browser keeps nothing nobody is: they would be greeted each time.
export function greetOnce(lens) {
  try {
    if (!localStorage.getItem(BEEN_HERE)) lens.greet(() => localStorage.setItem(BEEN_HERE, "yes"));
  } catch {
    // storage is forbidden
  }
}
