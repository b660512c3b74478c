// Caches the page for visits without an internet connection. File names contain digests, so a cached file never
// changes; only for the page itself the network is asked first. Files of the previous version stay, because a tab may
// still show that version. The page caches weights (siteanswers.js). A line before this script sets `writtenSite`:
// {version, core: names of the files to cache at once, names: of all files}.

const SITE = globalThis.writtenSite;
const FILES_CACHE = "attention-playground-files";
const NETWORK_TIMEOUT = 3000; // ms until the cached page is shown, if the network does not answer
const UNCHANGING = /^(?!weights\/).*-[0-9a-f]{12}\.\w+$/; // the name of a file of this version or of another one

// A new worker takes over when no page is open any more; until then the former worker answers with the new page, too.
// With skipWaiting it would take over an open page: that hangs for five minutes in Chromium if the page fetches a file
// at the same moment.
addEventListener("install", (event) => event.waitUntil(keepCore().then(tellPages)));
addEventListener("activate", (event) => event.waitUntil(dropOldest().then(() => clients.claim())));
addEventListener("fetch", (event) => {
  const { request } = event;
  const isOurs = request.url.startsWith(registration.scope) && request.method === "GET";
  if (!isOurs) return;
  if (request.mode === "navigate") event.respondWith(answerWithPage(request));
  else if (UNCHANGING.test(nameOf(request.url))) event.respondWith(answerWithFile(request));
});

const nameOf = (url) => url.slice(registration.scope.length).split(/[?#]/)[0];
const openCache = () => caches.open(FILES_CACHE);

// The page comes last: it is kept only with all files that it names.
async function keepCore() {
  const cache = await openCache();
  for (const name of SITE.core) {
    const url = new URL(name, registration.scope).href;
    if (!(await cache.match(url))) await cache.add(url);
  }
  await cache.add(new Request("about.html", { cache: "no-cache" }));
  const page = await fetch(registration.scope, { cache: "no-cache" });
  const text = await page.clone().text();
  if (!SITE.core.every((name) => text.includes(name))) throw new Error("The host still gives another version's page.");
  await cache.put(registration.scope, page);
}

async function tellPages() {
  const pages = await clients.matchAll({ includeUncontrolled: true });
  for (const page of pages) if (page.url.startsWith(registration.scope)) page.postMessage({ edition: SITE.names });
}

async function answerWithPage(request) {
  const network = fetch(request, { cache: "no-cache" });
  const timeout = new Promise((_, reject) => setTimeout(() => reject(new Error("slow")), NETWORK_TIMEOUT));
  return Promise.race([network, timeout]).catch(async () => {
    const cache = await openCache();
    return (await cache.match(request.url.split(/[?#]/)[0])) ?? (await cache.match(registration.scope)) ?? network;
  });
}

async function answerWithFile(request) {
  const cache = await openCache();
  const match = await cache.match(request, { ignoreVary: true });
  if (match) return match;
  const answer = await fetch(request);
  const isPage = answer.headers.get("Content-Type")?.startsWith("text/html"); // of a host or a hotel, in its place
  if (answer.status === 200 && !isPage) await cache.put(request, answer.clone()).catch(() => {}); // it may be full
  return answer;
}

async function dropOldest() {
  const cache = await openCache();
  const list = new URL("versions", registration.scope).href; // a cache key that is no file of the site
  const formerVersions = await cache.match(list).then((response) => response?.json() ?? []);
  const versions = [{ version: SITE.version, names: SITE.names }, ...formerVersions].filter(
    ({ version }, i, entries) => entries.findIndex((entry) => entry.version === version) === i,
  );
  const currentNames = new Set(versions.slice(0, 2).flatMap(({ names }) => names));
  for (const { url } of await cache.keys()) {
    const name = nameOf(url);
    if (name !== "" && name !== "versions" && !currentNames.has(name)) await cache.delete(url);
  }
  await cache.put(list, new Response(JSON.stringify(versions.slice(0, 2))));
}
