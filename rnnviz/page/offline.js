// The service worker: the page opens again without a connection. build.py puts two lists before this script: the files
// of this build (FILES), and those that the page needs at once (AT_ONCE). Every file but index.html and this one bears
// the digest of its content, so what the cache has is right for ever; index.html is fetched anew whenever it can be.

/** @type {any} a service worker's global object, for which the DOM's types have no name */
const worker = self;
const CACHE = "rnnviz-page";
const HOME = "./";

worker.addEventListener("install", (/** @type {any} */ event) => {
  const fill = async () => {
    const cache = await caches.open(CACHE);
    const lacking = await Promise.all(AT_ONCE.map(async (file) => ((await cache.match(file)) ? [] : [file])));
    await cache.addAll([HOME, ...lacking.flat()]);
    await worker.skipWaiting();
  };
  event.waitUntil(fill());
});

// Files of former builds leave the cache; a network that has not changed stays.
worker.addEventListener("activate", (/** @type {any} */ event) => {
  const current = new Set([HOME, ...FILES].map((file) => new URL(file, worker.location.href).href));
  const clean = async () => {
    const cache = await caches.open(CACHE);
    const old = (await cache.keys()).filter(({ url }) => !current.has(url));
    await Promise.all(old.map((request) => cache.delete(request)));
    await worker.clients.claim();
  };
  event.waitUntil(clean());
});

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== worker.location.origin) return;
  const name = pathname.slice(pathname.lastIndexOf("/") + 1);
  if (request.mode === "navigate" || name === "index.html") event.respondWith(newest());
  else if (FILES.includes(name)) event.respondWith(stored(request));
});

/** index.html from the network, or as it was at the last visit. */
async function newest() {
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(HOME, { cache: "no-cache" });
    if (response.ok) await cache.put(HOME, response.clone());
    return response;
  } catch (error) {
    const last = await cache.match(HOME);
    if (last) return last;
    throw error;
  }
}

/** A file that bears its digest: from the cache, else from the network. @param {Request} request */
async function stored(request) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request);
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}
