// A view's own connection: what goes over it, and that nothing is lost where there is none or it breaks.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Direct } from "../../rnnviz/ui/browser/static/direct.js";

/** A WebSocket that nobody is behind. */
class Socket {
  /** @type {Socket[]} */
  static made = [];
  /** @type {string[]} */
  sent = [];
  readyState = 1;
  closed = false;
  onopen = () => {};
  onclose = () => {};
  onmessage = (/** @type {{ data: string | ArrayBuffer }} */ _event) => {};

  /** @param {URL} address @param {string} token */
  constructor(address, token) {
    this.address = String(address);
    this.token = token;
    Socket.made.push(this);
  }

  /** @param {string} said */
  send(said) {
    this.sent.push(said);
  }

  close() {
    this.closed = true;
    this.onclose();
  }
}

/** @param {string} token */
function opened(token = "t", to = new Direct((data) => heard.push([...data]))) {
  to.page = (ask) => asked.push(ask);
  to.open(token);
  return to;
}

/** @type {number[][]} */
let heard = [];
/** @type {object[]} what went to the page */
let asked = [];
/** The server knows the token. */
const stands = () => last().onopen();
const last = () => /** @type {Socket} */ (Socket.made.at(-1));

beforeEach(() => {
  heard = [];
  asked = [];
  Socket.made = [];
  const browser = /** @type {any} */ (globalThis);
  browser.window = { location: { origin: "https://hall.example:8501" } };
  browser.WebSocket = Socket;
});

test("an ask goes to the page until the connection stands, then over it", () => {
  const direct = opened();
  direct.send({ seq: 1 });
  assert.deepEqual(asked, [{ seq: 1 }]);
  assert.equal(last().address, "wss://hall.example:8501/live");
  assert.equal(last().token, "t");
  stands();
  direct.send({ seq: 2 });
  assert.deepEqual(last().sent, ['{"seq":2}']);
  last().onmessage({ data: new Uint8Array([7, 8]).buffer });
  assert.deepEqual(heard, [[7, 8]]);
  assert.equal(asked.length, 1);
});

test("what the server leaves to the page is asked there, once", () => {
  const direct = opened();
  stands();
  direct.send({ seq: 1 });
  last().onmessage({ data: "" });
  assert.deepEqual(asked, [{ seq: 1 }]);
  direct.send({ seq: 2 });
  assert.equal(last().sent.length, 2);
});

test("what is asked after a connection broke goes to the page, whose answer mends it", () => {
  const direct = opened();
  stands();
  last().onclose();
  assert.equal(Socket.made.length, 1);
  direct.send({ seq: 2 });
  assert.deepEqual(asked, [{ seq: 2 }]);
  direct.open("t");
  assert.equal(Socket.made.length, 2);
  stands();
  direct.send({ seq: 3 });
  assert.equal(asked.length, 1);
});

test("an ask that a broken connection took goes over the next, which is made at once", () => {
  const direct = opened();
  stands();
  direct.send({ seq: 1 });
  last().onclose();
  assert.equal(Socket.made.length, 2);
  stands();
  assert.deepEqual(last().sent, ['{"seq":1}']);
  last().onmessage({ data: new Uint8Array([7]).buffer });
  assert.deepEqual([heard, asked], [[[7]], []]);
  direct.send({ seq: 2 });
  assert.deepEqual(last().sent.at(-1), '{"seq":2}');
});

test("nothing is sent over a connection that is closing; the next one takes the ask", () => {
  const direct = opened();
  stands();
  const closing = last();
  closing.readyState = 2;
  direct.send({ seq: 1 });
  assert.deepEqual(closing.sent, []);
  closing.onclose();
  stands();
  assert.deepEqual([last().sent, asked], [['{"seq":1}'], []]);
});

test("where the server is gone too, it is tried once, and again when the page is back", () => {
  const direct = opened();
  stands();
  direct.send({ seq: 1 });
  last().onclose();
  last().onclose();
  assert.equal(Socket.made.length, 2);
  direct.open("t"); // the page's answer: the session is the same
  stands();
  assert.deepEqual(last().sent, ['{"seq":1}']);
});

test("what was asked again meanwhile, or of another session, is not asked twice", () => {
  const direct = opened();
  stands();
  direct.send({ seq: 1 });
  last().onclose();
  last().onclose();
  direct.send({ seq: 2 }); // it has waited too long, or is lost with its session
  assert.deepEqual(asked, [{ seq: 2 }]);
  direct.open("new");
  stands();
  assert.deepEqual([last().token, last().sent], ["new", []]);
});

test("an ask that is repeated has waited too long: it goes to the page, and a late answer does no harm", () => {
  const direct = opened();
  stands();
  direct.send({ seq: 1 });
  direct.send({ seq: 2 });
  last().onmessage({ data: new Uint8Array([7]).buffer });
  assert.deepEqual([asked, heard], [[{ seq: 2 }], []]);
  assert.equal(last().closed, true);
});

test("it connects once for each token, and gives up where no connection ever stands", () => {
  const direct = opened("a");
  direct.open("a");
  direct.open("");
  assert.equal(Socket.made.length, 1);
  direct.open("b");
  assert.equal(Socket.made.length, 2);
  assert.equal(Socket.made[0].closed, true);
  for (let n = 0; n < 5; n++) {
    last().onclose();
    direct.open("b");
  }
  assert.equal(Socket.made.length, 4); // the second, and two more
});

test("a view that ends closes it, and asks nothing any more", () => {
  const direct = opened();
  stands();
  direct.send({ seq: 1 });
  direct.close();
  assert.equal(last().closed, true);
  assert.deepEqual(asked, []);
});

test("where the browser allows no connection everything goes to the page", () => {
  Object.assign(globalThis, {
    WebSocket: () => {
      throw new SyntaxError("refused");
    },
  });
  const direct = opened();
  direct.open("t");
  direct.send({ seq: 1 });
  assert.deepEqual(asked, [{ seq: 1 }]);
});
