// The address: one that writes it, what becomes an entry of the history, and when nothing is written.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import { Address } from "../../rnnviz/ui/browser/static/address.js";
import { pack } from "../../rnnviz/ui/browser/static/compressed_text.js";

/** @import { Fields } from "../../rnnviz/ui/browser/static/address.js" */

/** A browser's tab: its entries, and which of them it shows. @param {string} search */
function tab(search = "", pathname = "/") {
  /** @type {(() => void)[]} */
  const hears = [];
  const entries = [{ pathname, search }];
  let at = 0;
  /** @param {string} url */
  const entry = (url) => {
    const { pathname, search } = new URL(url, "http://here");
    return { pathname, search };
  };
  const place = {
    get location() {
      return { ...entries[at], hash: "" };
    },
    history: {
      state: {},
      /** @param {unknown} _s @param {string} _t @param {string} url */
      pushState: (_s, _t, url) => entries.splice(++at, Infinity, entry(url)),
      /** @param {unknown} _s @param {string} _t @param {string} url */
      replaceState: (_s, _t, url) => entries.splice(at, 1, entry(url)),
    },
    /** @param {string} _name @param {() => void} hear */
    addEventListener: (_name, hear) => hears.push(hear),
  };
  const address = new Address(/** @type {any} */ (place));
  const back = () => {
    at -= 1;
    for (const hear of hears) hear();
  };
  const go = (/** @type {string} */ url) => place.history.pushState({}, "", url);
  return { address, back, go, shown: () => entries.map((url) => url.pathname + url.search) };
}

let arrivals = 0;

/** @param {Address} address @param {Fields} fields @param {Fields | null} [serverFields] what an arrival read */
function answer(address, fields, serverFields = null) {
  address.join("page", () => fields);
  if (serverFields) arrivals += 1;
  address.releaseWrites(serverFields ?? {}, arrivals);
  return address.write();
}

test("a packed text is zlib's, in letters that an address may have", async () => {
  for (const text of ["", "machine", "水🇫🇷é\n".repeat(300)]) {
    const packed = await pack(text);
    assert.match(packed, /^[A-Za-z0-9_-]*$/);
    assert.equal(inflateSync(Buffer.from(packed, "base64url")).toString("utf8"), text);
  }
});

test("nothing is written before the server has read the address", async () => {
  const { address, shown: paths } = tab("?model=b&foreign=1");
  await answer(address, { model: "a" });
  await answer(address, { model: "a" }, { model: "other" });
  assert.deepEqual(paths(), ["/?model=b&foreign=1"]);
  await answer(address, { model: "b", part: null }, { model: "b", foreign: "1" });
  await answer(address, { model: "b", part: "gates" });
  assert.equal(paths().at(-1), "/?model=b&foreign=1&part=gates");
});

test("what changes before the address was read is written once it was", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { address, shown: paths } = tab("?model=a");
  address.join("page", () => ({ model: "a", show: "texts" }));
  address.beginEntry();
  await address.write();
  assert.deepEqual(paths(), ["/?model=a"]);
  address.releaseWrites({ model: "a" }, ++arrivals);
  context.mock.timers.runAll();
  await address.chain;
  assert.deepEqual(paths(), ["/?model=a", "/?model=a&show=texts"]);
});

test("a letter replaces the entry, another model begins one, and so does what is said to", async () => {
  const { address, shown: paths } = tab();
  await answer(address, { model: "a" }, {});
  await answer(address, { model: "a", unit: "1" });
  await answer(address, { model: "a", unit: "2" });
  assert.deepEqual(paths(), ["/?model=a&unit=2"]);
  await answer(address, { model: "b", unit: "2" });
  assert.deepEqual(paths(), ["/?model=a&unit=2", "/?model=b&unit=2"]);
  address.beginEntry();
  await answer(address, { model: "b", unit: null });
  assert.deepEqual(paths(), ["/?model=a&unit=2", "/?model=b&unit=2", "/?model=b"]);
});

test("a turn leaves in the entry what was there, though it was not written yet", async () => {
  const { address, shown: paths } = tab();
  await answer(address, { model: "a" }, {});
  /** @type {Fields} */
  let fields = { model: "a", unit: "7" };
  address.join("page", () => fields);
  address.scheduleWrite();
  address.beginEntry();
  fields = { model: "a", unit: "8" };
  await address.write();
  assert.deepEqual(paths(), ["/?model=a&unit=7", "/?model=a&unit=8"]);
});

test("after Back no entry begins until that entry was read: Streamlit may add one for the page that was left", async () => {
  const { address, back, go, shown: paths } = tab();
  await answer(address, { model: "a" }, {});
  go("/perplexity");
  await answer(address, { model: "a" }, {});
  back();
  go("/perplexity?model=a");
  go("/?model=a");
  assert.deepEqual(paths(), ["/?model=a", "/perplexity?model=a"]);
  await answer(address, { model: "a" }, { model: "a" });
  go("/inside");
  assert.deepEqual(paths(), ["/?model=a", "/inside"]);
});

test("after Back nothing is written until that entry was read, and what was typed stays in its own", async () => {
  const { address, back, shown: paths } = tab();
  await answer(address, { model: "a" }, {});
  await answer(address, { model: "b" });
  back();
  await answer(address, { model: "b", unit: "3" });
  assert.deepEqual(paths(), ["/?model=a", "/?model=b"]);
  await answer(address, { model: "a" }, { model: "a" });
  await answer(address, { model: "a", unit: "4" });
  assert.deepEqual(paths(), ["/?model=a&unit=4", "/?model=b"]);
});

test("what is as usual goes, and what others say stays", async () => {
  const { address, shown: paths } = tab("?scene=3");
  await answer(address, { part: "map", lang: "zh" }, {});
  const live = () => ({ unit: "5" });
  address.join("live", live);
  await address.write();
  assert.deepEqual(paths(), ["/?scene=3&part=map&lang=zh&unit=5"]);
  address.leave("live", () => ({}));
  await answer(address, { lang: null, part: null });
  assert.equal(paths().at(-1), "/?scene=3&unit=5");
  address.leave("live", live);
  await answer(address, { lang: null, part: null });
  assert.equal(paths().at(-1), "/?scene=3&unit=5"); // as a view that is made anew finds it
});

test("what is said of one page is not written into the address of another", async () => {
  const { address, go, shown: paths } = tab();
  address.join("live", () => ({ text: "a" }));
  await answer(address, { model: "a" }, {});
  go("/inside");
  await address.write();
  assert.equal(paths().at(-1), "/inside");
  await answer(address, { model: "a", part: "map" });
  assert.deepEqual(paths().slice(1), ["/inside?model=a&part=map"]);
});
