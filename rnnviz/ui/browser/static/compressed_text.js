// A text compressed for an address, in the format of rnnviz/ui/shell/address.py, which unpacks it.

/** @param {string} text @returns {Promise<string>} */
export async function pack(text) {
  const squeezed = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(squeezed).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
