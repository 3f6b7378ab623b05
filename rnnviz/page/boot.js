// The page's only script in plain text; all modules are packed. It is a classic script, without imports.

/**
 * Make modules of sources. An import whose path begins with a NUL is of an earlier source; a blob's address replaces it.
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

/** Unpack and remove an element's content, base64 of gzip. @param {string} id @returns {Promise<Uint8Array>} */
async function unpacked(id) {
  const element = document.getElementById(id);
  const text = atob(element?.textContent ?? "");
  element?.remove();
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {unknown} error */
function showError(error) {
  const place = document.createElement("p");
  place.textContent = `${document.body.dataset.failed} ${error}`;
  place.setAttribute("role", "alert");
  document.body.prepend(place);
}

async function page() {
  const [packed, weights] = await Promise.all([unpacked("packed"), unpacked("weights")]);
  const length = new DataView(packed.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(packed.subarray(4, 4 + length)));
  const { sources, markup, styles, model } = header;
  const addresses = load(sources);
  const [{ unpack }, { start }] = await Promise.all([
    import(addresses["ui/browser/static/payload.js"]),
    import(addresses["page/page.js"]),
  ]);
  const { arrays } = unpack(weights);
  const plotly = () => unpacked("plotly");
  start({ model, arrays, markup, styles, plotly, showError }, document);
}

if (typeof DecompressionStream !== "undefined") page().catch(showError); // else the page's text, "open it in a newer browser", stays
