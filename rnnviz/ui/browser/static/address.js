// The page's address. Only this module writes it: ui/shell/address.py lists the page's values, each view adds its own.
// A frequent change, such as typing, replaces the current entry of the browser's history. Another model, part or
// example begins a new entry.

import { pack } from "./compressed_text.js";

/** @typedef {{ [name: string]: string | null }} Fields values by name; null for a default */

const PAUSE = 400; // milliseconds of rest before a write: browsers refuse more than 100 writes in 30 seconds
const TURNS = ["model", "part", "run", "section"]; // a change of these begins a new entry

/** Whether both values are there and differ. @param {string | null} [now] @param {string | null} [before] */
const both = (now, before) => Boolean(now && before && now !== before);

export class Address {
  /** @type {Map<string, { fields: () => Fields, path: string }>} functions that list values, by component, with their page */
  says = new Map();
  /** Whether writes wait until the server has read the address of the last arrival. */
  held = true;
  /** Whether Back or Forward made them wait. */
  back = false;
  /** The number of the last arrival that was read: the server may send it again after Back, for another view. */
  arrival = 0;
  turning = false;
  path = "";
  /** @type {Fields} */
  written = {};
  /** @type {Promise<void>} */
  chain = Promise.resolve();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;

  /** @param {{ location: Location, history: History, addEventListener: Window["addEventListener"] }} place */
  constructor(place) {
    this.place = place;
    place.addEventListener("popstate", () => this.left());
    this.replaceAfterBack(place.history);
  }

  /**
   * A workaround: let no entry begin between Back or Forward and the answer to it. A run of the page that was left may
   * still end meanwhile, and Streamlit would add an entry for that page, which the next Back would open.
   * @param {History} history
   */
  replaceAfterBack(history) {
    const push = history.pushState;
    history.pushState = (...entry) => (this.back ? history.replaceState : push).apply(history, entry);
  }

  /** Add a component, whose values `fields` lists at each write. @param {string} who @param {() => Fields} fields */
  join(who, fields) {
    this.says.set(who, { fields, path: this.place.location.pathname });
  }

  /** Remove a component, unless a newer one has joined by its name. @param {string} who @param {() => Fields} fields the function that joined */
  leave(who, fields) {
    if (this.says.get(who)?.fields === fields) this.says.delete(who);
  }

  /** Write after a rest. Cheap: each keystroke calls this. */
  touch() {
    clearTimeout(this.timer);
    this.timer = this.held ? undefined : setTimeout(() => this.write(), PAUSE);
  }

  /** Let the next change begin a new entry; pending values are written into the current one first. */
  turn() {
    if (this.timer !== undefined) this.write();
    this.turning = true;
  }

  /** Hold all writes after Back or Forward, until the page has read that address. */
  left() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.turning = false;
    this.path = "";
    this.held = this.back = true;
  }

  /** Release the writes once the server has read the present address. @param {Fields} asked the values that it read @param {number} arrival the arrival's number */
  read(asked, arrival) {
    if (!this.held || arrival === this.arrival) return;
    const here = new URLSearchParams(this.place.location.search);
    const mine = Object.keys(this.fields());
    this.held = mine.some((name) => (asked[name] ?? null) !== (here.getAll(name).at(-1) ?? null));
    if (this.held) return;
    this.arrival = arrival;
    this.back = false;
  }

  /** The values of all components on this page; a view's replace the page's. @returns {Fields} */
  fields() {
    const here = Array.from(this.says).filter(([, { path }]) => path === this.place.location.pathname);
    const { page, ...views } = Object.fromEntries(here.map(([who, { fields }]) => [who, fields()]));
    return Object.assign({}, page, ...Object.values(views));
  }

  /** Write now; resolves after the write. Writes form a chain, because packing a text is asynchronous. */
  write() {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.held) return this.chain;
    const { turning } = this;
    const fields = this.fields();
    this.turning = false;
    const path = this.place.location.pathname;
    this.chain = this.chain.then(() => this.put(fields, path, turning));
    return this.chain;
  }

  /** @param {Fields} fields @param {string} path of their page @param {boolean} turning whether a new entry is wanted */
  async put(fields, path, turning) {
    const packed = typeof fields.text === "string" ? { ...fields, text: await pack(fields.text) } : fields;
    if (this.held || path !== this.place.location.pathname) return;
    const { location, history } = this.place;
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(packed))
      if (value === null) query.delete(name);
      else query.set(name, value);
    const changed = TURNS.some((name) => both(fields[name], this.written[name]));
    const turned = this.path === location.pathname ? turning || changed : turning && !this.path;
    this.path = location.pathname;
    this.written = fields;
    const search = query.toString();
    if (search === new URLSearchParams(location.search).toString()) {
      this.turning ||= turning; // no change yet: the wish for a new entry stays
      return;
    }
    const url = `${location.pathname}${search ? `?${search}` : ""}${location.hash}`;
    if (turned) history.pushState(history.state, "", url);
    else history.replaceState(history.state, "", url);
  }
}

/** The tab's address; null in Node. */
export const address = typeof window === "undefined" ? null : new Address(window);
