// The page's address. Only this module writes it: ui/shell/address.py lists the page's values, each view adds its own.
// A frequent change, such as typing, replaces the current entry of the browser's history. Another model, part or
// example begins a new entry.

import { pack } from "./compressed_text.js";

/** @typedef {{ [name: string]: string | null }} Fields values by name; null for a default */

const WRITE_PAUSE_MS = 400; // milliseconds of rest before a write: browsers refuse more than 100 writes in 30 seconds
const ENTRY_FIELDS = ["model", "part", "run", "section"]; // a change of these begins a new entry

/** Whether both values are there and differ. @param {string | null} [value] @param {string | null} [previous] */
const differ = (value, previous) => Boolean(value && previous && value !== previous);

export class Address {
  /** @type {Map<string, { fields: () => Fields, path: string }>} functions that list values, by component, with their page */
  components = new Map();
  /** Whether writes wait until the server has read the address of the last arrival. */
  waiting = true;
  /** Whether Back or Forward made them wait. */
  back = false;
  /** The number of the last arrival that was read: the server may send it again after Back, for another view. */
  arrival = 0;
  entryDue = false;
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
    place.addEventListener("popstate", () => this.holdWrites());
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

  /** Add a component, whose values `fields` lists at each write. @param {string} name @param {() => Fields} fields */
  join(name, fields) {
    this.components.set(name, { fields, path: this.place.location.pathname });
  }

  /** Remove a component, unless a newer one has joined by its name. @param {string} name @param {() => Fields} fields the function that joined */
  leave(name, fields) {
    if (this.components.get(name)?.fields === fields) this.components.delete(name);
  }

  /** Write after a rest. Cheap: each keystroke calls this. */
  scheduleWrite() {
    clearTimeout(this.timer);
    this.timer = this.waiting ? undefined : setTimeout(() => this.write(), WRITE_PAUSE_MS);
  }

  /** Let the next change begin a new entry; pending values are written into the current one first. */
  beginEntry() {
    if (this.timer !== undefined) this.write();
    this.entryDue = true;
  }

  /** Hold all writes after Back or Forward, until the page has read that address. */
  holdWrites() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.entryDue = false;
    this.path = "";
    this.waiting = this.back = true;
  }

  /** Release the writes once the server has read the present address. @param {Fields} serverFields the values that it read @param {number} arrival the arrival's number */
  releaseWrites(serverFields, arrival) {
    if (!this.waiting || arrival === this.arrival) return;
    const query = new URLSearchParams(this.place.location.search);
    const mine = Object.keys(this.fields());
    this.waiting = mine.some((name) => (serverFields[name] ?? null) !== (query.getAll(name).at(-1) ?? null));
    if (this.waiting) return;
    this.arrival = arrival;
    this.back = false;
    this.scheduleWrite(); // of what has changed meanwhile
  }

  /** The values of all components on this page; a view's replace the page's. @returns {Fields} */
  fields() {
    const { pathname } = this.place.location;
    const present = Array.from(this.components).filter(([, { path }]) => path === pathname);
    const { page, ...views } = Object.fromEntries(present.map(([name, { fields }]) => [name, fields()]));
    return Object.assign({}, page, ...Object.values(views));
  }

  /** Write now; resolves after the write. Writes form a chain, because packing a text is asynchronous. */
  write() {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.waiting) return this.chain;
    const { entryDue: turning } = this;
    const fields = this.fields();
    this.entryDue = false;
    const path = this.place.location.pathname;
    this.chain = this.chain.then(() => this.put(fields, path, turning));
    return this.chain;
  }

  /** @param {Fields} fields @param {string} path of their page @param {boolean} turning whether a new entry is wanted */
  async put(fields, path, turning) {
    const packed = typeof fields.text === "string" ? { ...fields, text: await pack(fields.text) } : fields;
    if (this.waiting || path !== this.place.location.pathname) return;
    const { location, history } = this.place;
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(packed))
      if (value === null) query.delete(name);
      else query.set(name, value);
    const changed = ENTRY_FIELDS.some((name) => differ(fields[name], this.written[name]));
    const newEntry = this.path === location.pathname ? turning || changed : turning && !this.path;
    this.path = location.pathname;
    this.written = fields;
    const search = query.toString();
    if (search === new URLSearchParams(location.search).toString()) {
      this.entryDue ||= turning; // no change yet: the wish for a new entry stays
      return;
    }
    const url = `${location.pathname}${search ? `?${search}` : ""}${location.hash}`;
    if (newEntry) history.pushState(history.state, "", url);
    else history.replaceState(history.state, "", url);
  }
}

/** The tab's address; null in Node. */
export const address = typeof window === "undefined" ? null : new Address(window);
