// Sends requests to the server. A refused request throws an error with a sentence for people. In a folder without a
// server the page itself answers.

import { keepText, keptText } from "./kept.js";

// The secret by which the server recognises this browser's own pictures. It is sent in a header, never in an address.
// A page opened by a class link keeps the secret only as long as the tab is open.

const STORAGE_NAME = "attention-playground-key";
const KEY_PATTERN = /^[A-Za-z0-9_-]{22,64}$/;

let key = null;

export const onlyThisTab = () => new URLSearchParams(location.search).get("class") === "yes";

export function ownKey() {
  key ??= keptText(STORAGE_NAME, storage);
  if (!KEY_PATTERN.test(key ?? "")) {
    const letters = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(24))));
    key = letters.replaceAll("+", "-").replaceAll("/", "_");
    keepText(STORAGE_NAME, key, storage);
  }
  return key;
}

const storage = () => (onlyThisTab() ? sessionStorage : localStorage);

let root = new URL("../../../../", import.meta.url); // this script lies at …/api/app/DIGEST/shell/
let localAnswer = null;

// Sets the function `answer(path, {method, body, headers, signal})`, which answers each request in place of a server;
// `base`: the new base of all addresses.
export function answerHere(answer, base) {
  localAnswer = answer;
  root = new URL(base);
}

export const SERVER_RETRY_MS = 3000; // ms before the next request to a server that is busy or does not answer
// they mean: no answer, request too slow, proxy without its server, too many people, proxy timeout
const PASSING_STATUSES = [0, 408, 502, 503, 504];

export const addressOf = (path) => new URL(path.replace(/^\//, ""), root).href;

export class Refusal extends Error {
  constructor(status, sentence, body = {}) {
    super(sentence);
    Object.assign(this, { name: "Refusal", status, says: sentence, body });
  }
}

// Whether the same request may succeed a little later.
export const mayPass = ({ status }) => PASSING_STATUSES.includes(status);

// The server holds a request until its turn. A proxy ends a long wait with 504; the next one loses nothing by that.
const PROXY_TIMEOUT = 504;
const LONG_MS = 10_000; // an earlier 504 has another reason

/** @param {string} path @param {Options} [options] */
export async function ask(path, { method = "GET", body, headers = {}, signal } = {}) {
  for (;;) {
    const request = { method, body, headers, signal };
    const askedAt = performance.now();
    const response = await (localAnswer ?? askServer)(path, request);
    if (response.ok) return response;
    if (response.status !== PROXY_TIMEOUT || performance.now() - askedAt < LONG_MS) throw await refusalOf(response);
  }
}

export const askJson = async (path, options) => (await ask(path, options)).json();

function askServer(path, { headers, ...options }) {
  const sentHeaders = { "X-Playground-Key": ownKey(), ...headers };
  return fetch(addressOf(path), { ...options, headers: sentHeaders }).catch((error) => {
    throw options.signal?.aborted ? error : new Refusal(0, "The server does not answer; the page tries again.");
  });
}

// Sends a request; if the server has forgotten a person's picture, brings it and sends the request again, once.
export async function askAgain(bringAgain, path, options = {}, send = ask) {
  const asked = performance.now();
  try {
    return await send(path, options);
  } catch (error) {
    const id = error.body?.forgotten;
    if (!id || !(await bringAgain(id, { signal: options.signal, asked }))) throw error;
    return send(path, options);
  }
}

// Reads a file that lies beside this page.

const NO_NETWORK = "This is not kept in this browser, and the network does not answer: try again when it does.";
const NOT_THERE = "A file of this page is no longer there, as after an update: open this page anew.";
const WENT_WRONG = "That did not work: try it again, or open this page anew.";

export async function fetchFile(address, options = {}) {
  const response = await fetch(address, options).catch((error) => {
    throw options.signal?.aborted ? error : new Refusal(404, NO_NETWORK);
  });
  if (!response.ok) throw new Refusal(response.status, NOT_THERE);
  return response;
}

// An error's sentence for people; never an exception's own text.
export const wordsOfTrouble = ({ says }) => says ?? WENT_WRONG;

async function refusalOf(response) {
  const body = await response.json().catch(() => ({}));
  return new Refusal(response.status, body.says ?? `The server answers with ${response.status}.`, body);
}
