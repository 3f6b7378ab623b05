// A chunk of text as elements: neighbours of one colour share a span, and no text is ever parsed.

const LN2 = Math.LN2;
const JOINED = /[\u200d\ufe0e\ufe0f\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}]|\p{M}/u;
// Controls, and marks that turn the order of letters or can't be seen; not those that join emoji and scripts.
const UNSEEN = /^[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Co}\p{Cn}]$/u;

// How a character stands in running text. A line break shows a mark, and breaks.
function shown(code) {
  if (code === 10) return "⏎\n";
  if (code === 9) return "\t";
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  const character = String.fromCodePoint(code);
  if (code < 0x7f || (code > 0xa0 && code < 0xad)) return character;
  if (UNSEEN.test(character)) return "‹" + code.toString(16).toUpperCase().padStart(4, "0") + "›";
  return character;
}

// The number of the colour of each character of a chunk, 0 for none.
export function levels(chunk, mode, fixed) {
  const n = chunk.codes.length;
  const level = new Uint8Array(n);
  if (mode === "rank") {
    const [one, few, some] = fixed.bands;
    for (let i = 0; i < n; i++) {
      const rank = Math.abs(chunk.rank[i]);
      level[i] = rank <= one ? 0 : rank <= few ? 1 : rank <= some ? 2 : 3;
    }
  } else if (mode === "versus" && chunk.versus) {
    const half = fixed.versusSteps >> 1;
    for (let i = 0; i < n; i++) {
      const share = chunk.versus[i] / LN2 / fixed.versusFull;
      level[i] = Math.max(0, Math.min(2 * half, Math.round(half + share * half)));
    }
  } else {
    const top = fixed.surprisalSteps - 1;
    for (let i = 0; i < n; i++)
      level[i] = Math.max(0, Math.min(top, Math.round((chunk.nll[i] / LN2 / fixed.surprisalFull) * top)));
  }
  return level;
}

// Where clusters go on: characters that must be drawn together with the one before them.
function joined(chunk, level, neutral) {
  const text = String.fromCodePoint(...chunk.codes);
  if (!JOINED.test(text) || !Intl.Segmenter) return null;
  const goesOn = new Uint8Array(chunk.codes.length);
  let i = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)) {
    const first = i;
    for (const _ of segment) {
      if (i > first) {
        goesOn[i] = 1;
        // A cluster has one colour: that of its most remarkable part.
        if (Math.abs(level[i] - neutral) > Math.abs(level[first] - neutral)) level[first] = level[i];
      }
      i++;
    }
    for (let j = first + 1; j < i; j++) level[j] = level[first];
  }
  return goesOn;
}

// The chunk's element. It keeps what `find` and `range` need: where each character stands in which span.
export function paint(chunk, mode, fixed) {
  const level = levels(chunk, mode, fixed);
  const neutral = mode === "versus" ? fixed.versusSteps >> 1 : 0;
  const goesOn = joined(chunk, level, neutral);
  const element = document.createElement("div");
  element.className = "vw-chunk";
  element.dataset.mode = mode;
  const { codes, rank } = chunk;
  const offsets = new Uint32Array(codes.length); // of a character in its span's text
  const runs = [];
  let text = "";
  let from = 0;
  const finish = (to) => {
    if (to === from) return;
    const span = document.createElement("span");
    span.textContent = text;
    if (level[from] !== neutral) span.className = "vw-" + level[from];
    if (rank[from] < 0) span.classList.add("vw-unknown");
    if (codes[from] === 10) span.classList.add("vw-break");
    span.run = runs.length;
    runs.push({ span, from, to });
    element.append(span);
    from = to;
    text = "";
  };
  const kind = (i) => level[i] * 4 + (rank[i] < 0 ? 2 : 0) + (codes[i] === 10 ? 1 : 0);
  for (let i = 0; i < codes.length; i++) {
    if (i > from && !goesOn?.[i] && kind(i) !== kind(i - 1)) finish(i);
    offsets[i] = text.length;
    text += shown(codes[i]);
  }
  finish(codes.length);
  Object.assign(element, { chunk, runs, offsets });
  return element;
}

// The run that holds the chunk's character i.
function runOf(element, i) {
  let low = 0;
  let high = element.runs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (element.runs[middle].from <= i) low = middle;
    else high = middle - 1;
  }
  return element.runs[low];
}

// A DOM range over the chunk's characters i .. j - 1.
export function range(element, i, j) {
  const first = runOf(element, i);
  const last = runOf(element, j - 1);
  const found = document.createRange();
  found.setStart(first.span.firstChild, element.offsets[i]);
  const end = j < last.to ? element.offsets[j] : last.span.firstChild.length;
  found.setEnd(last.span.firstChild, end);
  return found;
}

export function box(element, i) {
  const rects = range(element, i, i + 1).getClientRects();
  return rects[0] ?? element.getBoundingClientRect();
}

// The character of a span that is under a point of the screen.
export function find(element, span, x, y) {
  const { from, to } = element.runs[span.run];
  let low = from;
  let high = to - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const rect = box(element, middle);
    if (rect.top > y || (rect.bottom >= y && rect.left > x)) high = middle - 1;
    else low = middle;
  }
  return element.chunk.start + low;
}
