// What the colours behind the text mean, in a line above it, and what to notice, below.

export function explain(root, mode, fixed, say) {
  const key = root.querySelector(".vw-key");
  const chip = (level, text) => {
    const entry = document.createElement("span");
    const sample = document.createElement("i");
    sample.className = "vw-sample vw-" + level;
    entry.append(sample, text);
    return entry;
  };
  key.replaceChildren();
  key.dataset.mode = mode;
  if (mode === "rank") {
    const [one, few, some] = fixed.bands;
    key.append(
      chip(0, say("key.rank", { from: one })),
      chip(1, say("key.ranks", { from: one + 1, to: few })),
      chip(2, say("key.ranks", { from: few + 1, to: some })),
      chip(3, say("key.beyond", { from: some })),
    );
  } else {
    const band = document.createElement("i");
    band.className = "vw-band";
    const [a, b] = fixed.names;
    const n = mode === "versus" ? fixed.versusFull : fixed.surprisalFull;
    key.append(band, say("key." + mode, { n, a, b }));
  }
  root.querySelector(".vw-notice").textContent = say("notice." + mode);
}
