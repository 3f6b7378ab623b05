// The browser's side of a view's asks; rnnviz/ui/browser/view_socket.py is the server's side. One ask is in flight at a
// time, and the last wish always wins. Asks go over the view's own WebSocket, past Streamlit, if the page offers one
// and it is open. All others, and asks that only the page can answer, go through `sendToPage`.
//
//   key a     ask 1 is sent                      (seqInFlight = 1)
//   key b, c  only `askDue` is set: the ask would be out of date before the server could read it
//   answer 1  drawn, and ask 2 states the text as it is now, with b and c: no key is lost, none waits in a queue
//
// An ask may be lost with its connection, and an answer may come twice or late. Each has a number (`seq`): an answer to
// an older ask than the one in flight is ignored, and an ask without an answer is repeated as a new one.

/** @import { Header, Untyped } from "./types" */

const ADDRESS = "/live";
const OPEN = 1; // WebSocket.OPEN, which Node lacks
const ANSWER_TIMEOUT_MS = 10000; // milliseconds until an ask without an answer is repeated
const MAX_FAILED_CONNECTIONS = 3; // failed connections in a row, after which no more are tried

export class ViewSocket {
  client = Math.random().toString(36).slice(2) + Date.now().toString(36);
  seq = 0;
  seqInFlight = 0; // the number of the ask in flight, 0 for none
  askDue = false;
  /** Whether a newer ask may replace the one in flight. Only page/page.js sets it, while a network there reads a long text. */
  replaceable = false;
  /** @type {Untyped} changes that the page must hear of, until it has answered; null for none */
  pageChanges = null;
  /** @type {object | null} those in the ask in flight */
  pageChangesInFlight = null;
  /** @type {((ask: object) => void) | null} sends an ask to the page: through Streamlit, or to the engine in its place */
  sendToPage = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  token = ""; // the page's token for this view
  /** @type {WebSocket | null} */
  socket = null;
  ready = false; // whether the connection is open, so that the server knows the token
  failed = 0; // failed connections in a row
  /** @type {object | null} the ask without an answer, sent over this connection or over a broken one */
  askInFlight = null;

  /**
   * @param {object} callbacks
   * @param {() => object} callbacks.makeAsk makes the whole ask of this moment
   * @param {(data: Uint8Array) => void} callbacks.takeAnswer takes an answer
   * @param {(isLate: boolean) => void} callbacks.showDelay called when an answer takes too long, and when it no longer does
   */
  constructor({ makeAsk, takeAnswer, showDelay }) {
    this.makeAsk = makeAsk;
    this.takeAnswer = takeAnswer;
    this.showDelay = showDelay;
  }

  /** Ask now, or once the answer in flight has come. */
  ask() {
    this.askDue = true;
    if (!this.seqInFlight || this.replaceable) this.sendAsk();
  }

  /** Tell the page of changes that its other parts follow, which reruns it. @param {object} changes all of them */
  askPage(changes) {
    this.pageChanges = changes;
    this.ask();
  }

  sendAsk() {
    if (!this.sendToPage) return;
    this.askDue = false;
    this.seqInFlight = ++this.seq;
    this.startTimer();
    const ask = { client: this.client, seq: this.seq, ...this.makeAsk(), ...this.pageChanges };
    // A connection delivers in order, so its late answer would come before the new ask's.
    if (this.askInFlight) this.disconnect(); // the connection's answer is overdue: drop it, and ask again
    const { socket, ready } = this;
    this.askInFlight = null;
    this.pageChangesInFlight = this.pageChanges;
    if (!ready || !socket || this.pageChanges) return this.sendToPage(ask); // last: an engine may answer inside this call
    this.askInFlight = ask;
    if (socket.readyState === OPEN) socket.send(JSON.stringify(ask)); // else onclose connects again and sends it
  }

  /** Start the timer that repeats the ask after ANSWER_TIMEOUT_MS. */
  startTimer() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.showDelay(true);
      this.sendAsk();
    }, ANSWER_TIMEOUT_MS);
  }

  /** Forget the ask in flight and want another: a new session knows of no ask. */
  forgetAsk() {
    clearTimeout(this.timer);
    this.showDelay(false);
    this.seqInFlight = 0;
    this.askDue = true;
  }

  /** Whether an answer is to an ask of this view. @param {Header} header */
  owns(header) {
    return header.client === this.client;
  }

  /** Whether an answer is to this view's newest ask. @param {Header} header */
  isNewest(header) {
    return this.owns(header) && header.seq === this.seq;
  }

  /** Whether an answer is to an older ask than this view's newest; one to no ask, than the one in flight. @param {Header} header */
  isOutdated(header) {
    const { seq = 0 } = header;
    return this.owns(header) && seq < (seq ? this.seq : this.seqInFlight);
  }

  /** End the ask in flight, as its answer has come; ask again if wanted. An outdated answer is ignored. @param {Header} header */
  endAsk(header) {
    if (this.isOutdated(header)) return;
    if (this.owns(header)) {
      clearTimeout(this.timer);
      this.showDelay(false);
      this.seqInFlight = 0;
      if (this.pageChanges === this.pageChangesInFlight) this.pageChanges = null;
    }
    if (this.askDue && !this.seqInFlight) this.sendAsk();
  }

  close() {
    clearTimeout(this.timer);
    this.sendToPage = this.askInFlight = null;
    this.disconnect();
  }

  // ---- the connection -----------------------------------------------------------------------------

  /** Connect with a token, unless such a connection exists or MAX_FAILED_CONNECTIONS have failed. @param {string} token */
  connect(token) {
    if (!this.sendToPage || this.failed === MAX_FAILED_CONNECTIONS || (this.socket && token === this.token))
      return;
    this.disconnect();
    this.token = token;
    const address = new URL(ADDRESS, window.location.origin);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new WebSocket(address, token);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.socket === socket && this.onOpen(socket);
    socket.onmessage = ({ data }) => this.socket === socket && this.onMessage(data);
    socket.onclose = () => {
      if (this.socket !== socket) return;
      const { ready } = this;
      if (!ready) this.failed++;
      this.disconnect();
      // If the server is down too, the next answer of the page connects again, or the timer repeats the ask.
      if (ready && this.askInFlight) this.connect(token);
    };
  }

  /** @param {WebSocket} socket */
  onOpen(socket) {
    this.ready = true;
    this.failed = 0;
    if (this.askInFlight) socket.send(JSON.stringify(this.askInFlight));
  }

  /** @param {string | ArrayBuffer} data */
  onMessage(data) {
    const { askInFlight } = this;
    this.askInFlight = null;
    // Text instead of bytes: the server leaves this ask to the page, see ASK_PAGE in view_socket.py.
    if (typeof data !== "string") this.takeAnswer(new Uint8Array(data));
    else if (askInFlight) this.sendToPage?.(askInFlight);
  }

  /** Close the connection; the ask in flight stays. */
  disconnect() {
    const { socket } = this;
    this.socket = null;
    this.ready = false;
    socket?.close();
  }
}
