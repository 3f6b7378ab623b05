// The page's one script, and the worker's: everything else is packed beside it. Plain, as it is no module.

/**
 * Make modules of sources; a NUL before an import's address marks one of those before it.
 * @param {[string, string][]} sources @returns {Record<string, string>} addresses by name
 */
function load(sources) {
  /** @type {Record<string, string>} */
  const at = {};
  for (const [name, source] of sources) {
    const text = source.replace(/"\0([^"]+)"/g, (_, other) => JSON.stringify(at[other]));
    at[name] = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  }
  return at;
}

/** What an element of the page holds: base64 of gzip. @param {string} id @returns {Promise<Uint8Array>} */
async function unpacked(id) {
  const text = document.getElementById(id)?.textContent ?? "";
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {string} sentence */
function say(sentence) {
  const place = document.querySelector("main");
  if (place) place.textContent = sentence;
}

async function page() {
  const begin = `(${inWorker})();${load}`;
  const [plotly, packed] = await Promise.all([unpacked("plotly"), unpacked("packed")]);
  const length = new DataView(packed.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(packed.subarray(4, 4 + length)));
  const { sources, markup, styles, made } = header;
  const addresses = load(sources);
  const [{ unpack }, { start }] = await Promise.all([
    import(addresses["ui/browser/static/wire.js"]),
    import(addresses["ui/standalone/page.js"]),
  ]);
  const { arrays } = unpack(packed);
  await start({ made, arrays, markup, styles, plotly, sources, load, begin }, document);
}

/** What the worker does at first: it takes the modules in, then the asks that have come meanwhile. */
function inWorker() {
  /** @type {object[]} */
  const waiting = [];
  /** @type {((ask: object) => void) | undefined} */
  let answer;
  self.onmessage = ({ data }) => {
    if (data.sources)
      import(load(data.sources)[data.entry]).then(({ serve }) => {
        answer = serve(data.made, data.arrays, (/** @type {object} */ message) => self.postMessage(message));
        for (const ask of waiting) answer?.(ask);
      });
    else if (answer) answer(data);
    else waiting.push(data);
  };
}

if (typeof DecompressionStream === "undefined")
  say("This page needs a browser of 2023 or later: Chrome 80, Firefox 113, Safari 16.4.");
else page().catch((error) => say(String(error)));
