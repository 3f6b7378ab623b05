// A view's own connection to the server, past Streamlit's: see rnnviz/ui/pages/explore/direct.py.

const ADDRESS = "/live";
const OPEN = 1; // WebSocket's name for it
const TRIES = 3; // connections in a row that fail before none is tried any more

export class Direct {
  token = "";
  ready = false;
  failed = 0;
  /** @type {object | null} the ask that has no answer yet, of this connection or of one that broke */
  ask = null;
  /** @type {WebSocket | null} */
  socket = null;

  /** @param {(data: Uint8Array) => void} hear takes an answer */
  constructor(hear) {
    this.hear = hear;
  }

  /** Ask the page, through Streamlit; whoever has this connection says how. @param {object} _ask */
  page(_ask) {}

  /** Connect, unless it is connected. @param {string} token what the page calls this tab */
  open(token) {
    if (!token || this.failed === TRIES || (this.socket && token === this.token)) return;
    this.leave();
    this.token = token;
    const address = new URL(ADDRESS, window.location.origin);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = connection(address, token);
    if (!socket) {
      this.failed = TRIES;
      return;
    }
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.socket === socket && this.opened();
    socket.onmessage = ({ data }) => this.socket === socket && this.answered(data);
    socket.onclose = () => {
      if (this.socket !== socket) return;
      const { ready } = this;
      if (!ready) this.failed++;
      this.leave();
      // Where the server is gone too, the page connects anew once it is back, or link.js asks again.
      if (ready && this.ask) this.open(token);
    };
  }

  /** The token is known there. */
  opened() {
    this.ready = true;
    this.failed = 0;
    if (this.ask) this.socket?.send(JSON.stringify(this.ask));
  }

  /** @param {string | ArrayBuffer} data */
  answered(data) {
    const { ask } = this;
    this.ask = null;
    if (typeof data !== "string") this.hear(new Uint8Array(data));
    else if (ask) this.page(ask);
  }

  /** Send an ask this way if there is one, else through Streamlit. @param {object} ask */
  send(ask) {
    if (this.ask) this.close(); // it is asked again: what was sent this way is lost
    if (!this.ready || !this.socket) return this.page(ask);
    this.ask = ask;
    if (this.socket.readyState === OPEN) this.socket.send(JSON.stringify(ask)); // else onclose sees to it
  }

  /** Let the connection go, not the ask. */
  leave() {
    const { socket } = this;
    this.socket = null;
    this.ready = false;
    socket?.close();
  }

  close() {
    this.ask = null;
    this.leave();
  }
}

/** A connection, unless the browser allows none. @param {URL} address @param {string} token */
function connection(address, token) {
  try {
    return new WebSocket(address, token);
  } catch {
    return null;
  }
}
