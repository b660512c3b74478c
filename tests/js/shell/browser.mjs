// Replaces parts of a browser for tests of shell/: address, history, storage, database, and a server whose answers the
// test gives.

import { page } from "./page.mjs";

const defineGlobal = (name, get) => Object.defineProperty(globalThis, name, { get, configurable: true });

for (const name of ["location", "history", "localStorage", "sessionStorage", "innerWidth", "innerHeight"])
  defineGlobal(name, () => page[name]);

export const goTo = (address) => page.history.replaceState(null, "", new URL(address, "https://playground.test/").href);

// Forbids storage while `act` runs.
export async function withoutStorage(act) {
  const throwForbidden = () => {
    throw new DOMException("forbidden", "SecurityError");
  };
  for (const name of ["localStorage", "sessionStorage"]) defineGlobal(name, throwForbidden);
  try {
    return await act();
  } finally {
    for (const name of ["localStorage", "sessionStorage"]) defineGlobal(name, () => page[name]);
  }
}

// ------------------------------------------------------------------------------------------------------- a server

// Returns {questions: [{path, method, headers, body, signal}], answers}. `answers`: (question) → a Response.
export function aServer(answers) {
  const server = { questions: [], answers };
  globalThis.fetch = async (url, { method, headers, body, signal }) => {
    signal?.throwIfAborted();
    const path = url.slice(url.indexOf("api/"));
    const question = { path, method, headers, body, signal };
    server.questions.push(question);
    const { promise, reject } = Promise.withResolvers();
    signal?.addEventListener("abort", () => reject(signal.reason));
    return Promise.race([server.answers(question), promise]);
  };
  return server;
}

export const json = (body, status = 200, headers = {}) => new Response(JSON.stringify(body), { status, headers });
export const paths = (server) => server.questions.map(({ method, path }) => `${method} ${path}`);

// ------------------------------------------------------------------------------------------------------ a database

// The parts of IndexedDB that own.js needs: one database with one store. While `full`, it stores nothing more.
export function aDatabase() {
  let records = null;
  const database = { kept: () => [...(records?.values() ?? [])], full: false };
  const answerLater = (request, result, name = "onsuccess") => {
    Object.assign(request, { result });
    setImmediate(() => request[name]?.());
    return request;
  };
  const store = {
    getAll: () => [...records.values()].map((value) => ({ ...value })),
    put: (value) => void (database.full || records.set(value.id, value)),
    delete: (id) => void records.delete(id),
    clear: () => records.clear(),
  };
  const connection = {
    createObjectStore: () => (records = new Map()),
    transaction() {
      const transaction = {};
      const asRequest = (act) => (value) => {
        const request = { result: act(value) };
        setImmediate(() => transaction.oncomplete());
        return request;
      };
      const requestMakers = Object.entries(store).map(([name, act]) => [name, asRequest(act)]);
      return Object.assign(transaction, { objectStore: () => Object.fromEntries(requestMakers) });
    },
    close() {},
  };
  globalThis.indexedDB = {
    open() {
      const request = { result: connection };
      setImmediate(() => {
        if (!records) request.onupgradeneeded();
        answerLater(request, connection);
      });
      return request;
    },
  };
  return database;
}

// ------------------------------------------------------------------------------------------------------- samples

export const CATALOGUE = {
  samples: [
    { name: "tabby", kind: "photograph", opens: { model: "dino", detail: 1, layer: 7, head: 2 } },
    { name: "meadow", kind: "drawing", opens: { model: "bundled", detail: 2, layer: 3, head: 1 } },
    { name: "flock", kind: "drawing", opens: { model: "bundled", detail: 2 } },
  ],
  own: { model: "dino", detail: 1 },
  real: { model: "dino", title: "DINOv2 S/14", here: true, may_fetch: false },
  ours: ["bundled", "untrained"],
};
export const OWN_ID = "0123456789abcdef";
