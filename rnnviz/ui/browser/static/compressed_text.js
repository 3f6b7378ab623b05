// A text compressed for an address, in the format of rnnviz/ui/shell/address.py.

/** @param {string} text @returns {Promise<string>} */
export async function pack(text) {
  const squeezed = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(squeezed).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const PACKED = /^e[A-P][\w-]{9,}=*$/; // zlib's first byte, 0x78; 8 bytes at least

/** The text of an address's value, packed or plain; null if it is damaged or too long. @param {string} value @param {number} most its characters */
export async function unpack(value, most) {
  if (!PACKED.test(value)) return Array.from(value).length <= most ? value : null;
  try {
    const letters = atob(value.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
    const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    let text = "";
    // A small value can hold a large text: stop where no allowed one would go on.
    for (let part = await reader.read(); !part.done && text.length <= 2 * most; part = await reader.read())
      text += utf8.decode(part.value, { stream: true });
    return Array.from(text).length <= most ? text : null;
  } catch {
    return null;
  }
}
