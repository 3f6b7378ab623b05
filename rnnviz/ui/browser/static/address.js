// The address of what is in view, for all that is on the page. Nothing else writes it: the page's Python says by
// ui/address.py what belongs in it, a view says the rest. What is written over and over, as a text that is typed,
// replaces the entry of the browser's history; another model, part or example begins a new one.

import { pack } from "./compressed_text.js";

/** @typedef {{ [name: string]: string | null }} Fields null for what is as usual */

const PAUSE = 400; // milliseconds of rest before anything is written: browsers refuse more than 100 in 30 seconds
const TURNS = ["model", "part", "run", "section"]; // what begins a new entry when it changes

/** Whether something was said before and after, and not the same. @param {string | null} [now] @param {string | null} [before] */
const both = (now, before) => Boolean(now && before && now !== before);

export class Address {
  /** @type {Map<string, { fields: () => Fields, path: string }>} who says what, and of which page */
  says = new Map();
  /** Nothing is written before the server has read the address that somebody arrived by. */
  held = true;
  /** The last one that was read: what is said of it again after going back is of another view. */
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
  }

  /** From now on `fields` says, when it is asked, what of a part of the page belongs in the address. @param {string} who @param {() => Fields} fields */
  join(who, fields) {
    this.says.set(who, { fields, path: this.place.location.pathname });
  }

  /** @param {string} who @param {() => Fields} fields the same that joined: another may have taken the place */
  leave(who, fields) {
    if (this.says.get(who)?.fields === fields) this.says.delete(who);
  }

  /** Something may have changed: write once there is a rest. Costs a keystroke next to nothing. */
  touch() {
    clearTimeout(this.timer);
    this.timer = this.held ? undefined : setTimeout(() => this.write(), PAUSE);
  }

  /** What comes next begins a new entry; what is here now stays in the one that is there. */
  turn() {
    if (this.timer !== undefined) this.write();
    this.turning = true;
  }

  /** The reader went back or forward: the page will read that address before it is written again. */
  left() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.turning = false;
    this.path = "";
    this.held = true;
  }

  /** What the server read when somebody arrived last, and the number of that arrival. @param {Fields} asked @param {number} arrival */
  read(asked, arrival) {
    if (!this.held || arrival === this.arrival) return;
    const here = new URLSearchParams(this.place.location.search);
    const mine = Object.keys(this.fields());
    this.held = mine.some((name) => (asked[name] ?? null) !== (here.getAll(name).at(-1) ?? null));
    if (!this.held) this.arrival = arrival;
  }

  /** What is said of this page; a view's word counts more than the page's. @returns {Fields} */
  fields() {
    const here = Array.from(this.says).filter(([, { path }]) => path === this.place.location.pathname);
    const { page, ...views } = Object.fromEntries(here.map(([who, { fields }]) => [who, fields()]));
    return Object.assign({}, page, ...Object.values(views));
  }

  /** Write now. Resolves when it is done. */
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

  /** @param {Fields} fields @param {string} path the page's that they are of @param {boolean} turning */
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
      this.turning ||= turning; // what is to come hasn't come yet
      return;
    }
    const url = `${location.pathname}${search ? `?${search}` : ""}${location.hash}`;
    if (turned) history.pushState(history.state, "", url);
    else history.replaceState(history.state, "", url);
  }
}

/** The tab's; in Node there is none. */
export const address = typeof window === "undefined" ? null : new Address(window);
