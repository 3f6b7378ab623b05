// The browser's side of a view's conversation, as rnnviz/ui/browser/view_socket.py is the server's: one ask at a time, and
// the last wish always wins. Asks go over a WebSocket of the view's own where the page offers one and it stands,
// past Streamlit; else, and what only the page can answer, through `send`.

/** @import { Header } from "./types" */

const ADDRESS = "/live";
const OPEN = 1; // WebSocket's name for it
const PATIENCE = 10000; // milliseconds after which a lost ask is repeated
const TRIES = 3; // connections in a row that fail before none is tried any more

export class ViewSocket {
  client = Math.random().toString(36).slice(2) + Date.now().toString(36);
  seq = 0;
  waiting = 0; // the number of the ask in flight
  wanted = false;
  /** Whether the ask in flight will take long, and a newer one may take its place. */
  long = false;
  /** @type {object | null} what the page is to hear of, until it has answered */
  news = null;
  /** @type {object | null} what the ask in flight has told it */
  told = null;
  /** @type {((ask: object) => void) | null} asks the page: through Streamlit, or whoever stands in its place */
  send = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  token = ""; // what the page calls this view
  /** @type {WebSocket | null} */
  socket = null;
  ready = false; // the token is known there
  failed = 0;
  /** @type {object | null} the ask that has no answer yet, of this connection or of one that broke */
  flying = null;

  /**
   * @param {object} of
   * @param {() => object} of.wish says what is wanted now: the whole wish
   * @param {(data: Uint8Array) => void} of.hear takes an answer
   * @param {(is: boolean) => void} of.late is told when an answer takes too long
   */
  constructor({ wish, hear, late }) {
    this.wish = wish;
    this.hear = hear;
    this.late = late;
  }

  /** Something changed in this view: ask now, or as soon as the answer in flight is here. */
  ask() {
    this.wanted = true;
    if (!this.waiting || this.long) this.go();
  }

  /** Something changed that other parts of the page follow: it is run anew. @param {object} news all of it */
  set(news) {
    this.news = news;
    this.ask();
  }

  go() {
    if (!this.send) return;
    this.wanted = false;
    this.waiting = ++this.seq;
    this.wait();
    const ask = { client: this.client, seq: this.seq, ...this.wish(), ...this.news };
    if (this.flying) this.leave(); // it is asked again: what was sent this way is lost
    const { socket, ready } = this;
    this.flying = null;
    this.told = this.news;
    if (!ready || !socket || this.news) return this.send(ask); // the answer may come at once
    this.flying = ask;
    if (socket.readyState === OPEN) socket.send(JSON.stringify(ask)); // else onclose sees to it
  }

  /** Give whoever answers its time, from now on. */
  wait() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.late(true);
      this.go();
    }, PATIENCE);
  }

  /** The page was run anew, by a session that knows of no ask: whatever was asked has to be asked again. */
  lost() {
    clearTimeout(this.timer);
    this.late(false);
    this.waiting = 0;
    this.wanted = true;
  }

  /** Whether an answer is one to this browser. @param {Header} header */
  owns(header) {
    return header.client === this.client;
  }

  /** Whether an answer is one to the newest ask. @param {Header} header */
  newest(header) {
    return this.owns(header) && header.seq === this.seq;
  }

  /** Whether a newer ask than the one it answers is on its way. @param {Header} header */
  outdated(header) {
    return this.owns(header) && (header.seq ?? 0) < this.waiting;
  }

  /** An answer came: to the newest ask, or of a page made anew. @param {Header} header */
  answered(header) {
    if (this.outdated(header)) return;
    if (this.owns(header)) {
      clearTimeout(this.timer);
      this.late(false);
      this.waiting = 0;
      if (this.news === this.told) this.news = null;
    }
    if (this.wanted && !this.waiting) this.go();
  }

  close() {
    clearTimeout(this.timer);
    this.send = this.flying = null;
    this.leave();
  }

  // ---- the connection -----------------------------------------------------------------------------

  /** Connect, unless it is connected. @param {string} token */
  open(token) {
    if (!this.send || this.failed === TRIES || (this.socket && token === this.token)) return;
    this.leave();
    this.token = token;
    const address = new URL(ADDRESS, window.location.origin);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new WebSocket(address, token);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.socket === socket && this.opened(socket);
    socket.onmessage = ({ data }) => this.socket === socket && this.heard(data);
    socket.onclose = () => {
      if (this.socket !== socket) return;
      const { ready } = this;
      if (!ready) this.failed++;
      this.leave();
      // Where the server is gone too, the page connects anew once it is back, or the ask is repeated.
      if (ready && this.flying) this.open(token);
    };
  }

  /** @param {WebSocket} socket */
  opened(socket) {
    this.ready = true;
    this.failed = 0;
    if (this.flying) socket.send(JSON.stringify(this.flying));
  }

  /** @param {string | ArrayBuffer} data */
  heard(data) {
    const { flying } = this;
    this.flying = null;
    if (typeof data !== "string") this.hear(new Uint8Array(data));
    else if (flying) this.send?.(flying);
  }

  /** Let the connection go, not the ask. */
  leave() {
    const { socket } = this;
    this.socket = null;
    this.ready = false;
    socket?.close();
  }
}
