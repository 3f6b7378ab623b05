// The page's files: fetched from its folder or, in a page of one file, blocks of the document by the same names.

/** @param {BufferSource} bytes compressed by gzip @returns {Promise<Uint8Array>} */
async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The bytes of a block, base64 of gzip; null without such a block. @param {string} name */
function block(name) {
  const element = document.getElementById(name);
  if (!element) return null;
  return unpacked(Uint8Array.from(atob(element.textContent ?? ""), (letter) => letter.charCodeAt(0)));
}

/** The content of a file. @param {string} name @returns {Promise<Uint8Array>} */
export async function read(name) {
  const here = block(name);
  if (here) return here;
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return name.endsWith(".opening") ? unpacked(bytes) : bytes;
}

const utf8 = new TextDecoder();

/** @param {Uint8Array} bytes */
export const json = (bytes) => JSON.parse(utf8.decode(bytes));
