// What the address asks of the page, in the app's own format: rnnviz/ui/shell/address.py packs texts, and
// `read_bookmark` in rnnviz/ui/shell/bookmark.py says what a missing or damaged value means.

import { unpack } from "../ui/browser/static/compressed_text.js";

/** @import { Arrival } from "../ui/pages/explore/static/types" */
/** @import { Ask, PageModel } from "./types" */

const BOOKMARKED = ["text", "at", "pin", "why", "unit", "layer", "quantity", "order", "rows"];
const ORDERS = ["steady", "alike", "index"];
const MAX_ADDRESS_TEXT_CHARS = 2000; // of a text in an address, as in rnnviz/ui/shell/address.py

/** Whether an address has a value of the view's. @param {URLSearchParams} query */
export const isBookmark = (query) => BOOKMARKED.some((name) => query.has(name));

/** A whole number up to nine digits; null for anything else. @param {string | null} value */
const whole = (value) => (/^\d{1,9}$/.test(value ?? "") ? Number(value) : null);

/**
 * The view of an address on a network: its text (null without one), the part of an ask, and what the view restores.
 * @param {URLSearchParams} query @param {PageModel["fixed"]} fixed
 * @returns {Promise<{ text: string | null, looks: Ask, arrival: Arrival }>}
 */
export async function arrive(query, { quantities, layers, units, named, first, words }) {
  const number = (/** @type {string} */ name) => whole(query.get(name));
  const packed = query.get("text");
  const text = packed === null ? null : await unpack(packed, MAX_ADDRESS_TEXT_CHARS);
  const quantity = query.get("quantity");
  const order = query.get("order");
  const [layer, unit, cut] = [number("layer"), number("unit"), number("of")];
  const chosen = ["quantity", "layer", "order", "unit"].some((name) => query.has(name));
  const begin = query.get("unit") === "none" ? { ...first, unit: null } : first;
  // A quantity or a layer alone has no unit: the first one's number would mean another one there.
  const looks = {
    ...(!chosen || query.has("unit") ? begin : { quantity: "hidden", layer: 0, unit: null }),
    order: order && ORDERS.includes(order) ? order : "steady",
    ...(quantity && quantity in quantities && { quantity }),
    ...(layer !== null && layer < layers && { layer }),
  };
  // Weighted sums are rows behind the units.
  const sums = named.filter((row) => row.unit >= units && row.quantity === looks.quantity);
  if (unit !== null && unit < units + sums.length) looks.unit = unit;
  const arrival = {
    ...looks,
    memoryless: false,
    caret: number("at"),
    pin: number("pin"),
    why: number("why") === 1,
    rows: number("rows") ?? 0,
    wrong: packed !== null && text === null ? words["page.damaged"] : "",
    cut: text !== null && cut !== null && cut > MAX_ADDRESS_TEXT_CHARS ? cut : null,
  };
  return { text, looks, arrival };
}
