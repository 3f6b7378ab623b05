// A view's conversation with the server: one ask at a time, what goes over its own connection, and that nothing is
// lost where there is none or it breaks.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { ViewSocket } from "../../rnnviz/ui/browser/static/view_socket.js";

/** A WebSocket that nobody is behind. */
class Socket {
  /** @type {Socket[]} */
  static created = [];
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
    Socket.created.push(this);
  }

  /** @param {string} message */
  send(message) {
    this.sent.push(message);
  }

  close() {
    this.closed = true;
    this.onclose();
  }
}

/** @param {string} token */
function opened(token = "t") {
  const takeAnswer = (/** @type {Uint8Array} */ data) => heard.push([...data]);
  const link = new ViewSocket({ makeAsk: () => ({}), takeAnswer, showDelay: () => {} });
  link.sendToPage = (ask) => pageAsks.push(/** @type {{ seq: number }} */ (ask).seq);
  link.connect(token);
  return link;
}

/** One whose connection broke under its ask. */
function broken() {
  const link = opened();
  stands();
  link.ask();
  last().onclose();
  return link;
}

/** @type {number[][]} */
let heard = [];
/** @type {number[]} the numbers of the asks that went to the page */
let pageAsks = [];
/** The server knows the token. */
const stands = () => last().onopen();
const last = () => /** @type {Socket} */ (Socket.created.at(-1));
/** The numbers of the asks that went over the newest connection. */
const seqs = () => last().sent.map((message) => JSON.parse(message).seq);
const answer = (/** @type {ViewSocket} */ link, /** @type {number} */ seq) =>
  link.endAsk({ client: link.client, seq });

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  heard = [];
  pageAsks = [];
  Socket.created = [];
  const browser = /** @type {any} */ (globalThis);
  browser.window = { location: { origin: "https://hall.example:8501" } };
  browser.WebSocket = Socket;
});

/** A link, what it has sent, and whether it said that an answer is late. */
function conversation() {
  /** @type {{ seq?: number, wish?: number }[]} */
  const sent = [];
  const state = { wish: 0, late: false };
  const link = new ViewSocket({
    makeAsk: () => ({ wish: state.wish }),
    takeAnswer: () => {},
    showDelay: (isLate) => {
      state.late = isLate;
    },
  });
  link.sendToPage = (ask) => sent.push(ask);
  const ask = () => {
    state.wish++;
    link.ask();
  };
  const answer = (/** @type {number | undefined} */ seq) => link.endAsk({ client: link.client, seq });
  return { link, sent, state, ask, answer };
}

test("one ask is in flight, and the last wish wins", () => {
  const { link, sent, ask, answer } = conversation();
  for (let i = 0; i < 5; i++) ask();
  assert.equal(sent.length, 1);
  answer(1);
  assert.deepEqual(
    sent.map(({ seq, wish }) => [seq, wish]),
    [
      [1, 1],
      [2, 5],
    ],
  );
  answer(1); // late, and of no use any more
  assert.equal(link.seqInFlight, 2);
  answer(2);
  assert.equal(link.seqInFlight, 0);
  assert.ok(link.isNewest({ client: link.client, seq: 2 }));
  assert.ok(!link.isNewest({ client: link.client, seq: 1 })); // later still, by another way
  assert.ok(link.isOutdated({ client: link.client, seq: 1 })); // a run of the page that began before the second
  assert.ok(!link.isOutdated({ client: link.client })); // a notebook's kernel, which nobody asked
  assert.ok(!link.isNewest({ client: "another", seq: 2 }));
});

test("what was asked of a session that is no more is asked again", () => {
  const { link, sent, state, ask } = conversation();
  ask();
  state.late = true;
  link.forgetAsk();
  assert.ok(!state.late);
  link.endAsk({ client: "", seq: 0 }); // of the page that was run anew
  assert.deepEqual(
    sent.map(({ seq }) => seq),
    [1, 2],
  );
});

test("another browser's answer leaves the wait as it is", () => {
  const { link, ask } = conversation();
  ask();
  link.endAsk({ client: "another", seq: 9 });
  assert.equal(link.seqInFlight, 1);
  assert.ok(!link.isOutdated({ client: "another", seq: 0 }));
});

test("a lost ask is repeated as it is wished by then", () => {
  const { link, sent, state, ask, answer } = conversation();
  ask();
  state.wish = 7;
  mock.timers.tick(10_001);
  assert.deepEqual(sent.at(-1), { client: link.client, seq: 2, wish: 7 });
  assert.ok(state.late);
  answer(2);
  assert.ok(!state.late);
  mock.timers.tick(60_000);
  assert.equal(sent.length, 2);
});

test("what the page is to hear of goes to it, once, though the connection stands", () => {
  const link = opened();
  stands();
  link.askPage({ what: "at", value: 7 });
  link.ask();
  assert.deepEqual([pageAsks, last().sent], [[1], []]);
  answer(link, 1);
  assert.deepEqual(
    last().sent.map((message) => JSON.parse(message)),
    [{ client: link.client, seq: 2 }],
  );
});

test("an ask goes to the page until the connection stands, then over it", () => {
  const link = opened();
  link.ask();
  assert.deepEqual(pageAsks, [1]);
  assert.equal(last().address, "wss://hall.example:8501/live");
  assert.equal(last().token, "t");
  stands();
  answer(link, 1);
  link.ask();
  assert.deepEqual(seqs(), [2]);
  last().onmessage({ data: new Uint8Array([7, 8]).buffer });
  assert.deepEqual(heard, [[7, 8]]);
  assert.equal(pageAsks.length, 1);
});

test("what the server leaves to the page is asked there, once", () => {
  const link = opened();
  stands();
  link.ask();
  last().onmessage({ data: "" });
  assert.deepEqual(pageAsks, [1]);
  answer(link, 1);
  link.ask();
  assert.deepEqual(seqs(), [1, 2]);
});

test("what is asked after a connection broke goes to the page, whose answer mends it", () => {
  const link = opened();
  stands();
  last().onclose();
  assert.equal(Socket.created.length, 1);
  link.ask();
  assert.deepEqual(pageAsks, [1]);
  answer(link, 1);
  link.connect("t");
  assert.equal(Socket.created.length, 2);
  stands();
  link.ask();
  assert.equal(pageAsks.length, 1);
});

test("an ask that a broken connection took goes over the next, which is made at once", () => {
  broken();
  assert.equal(Socket.created.length, 2);
  stands();
  assert.deepEqual(seqs(), [1]);
  last().onmessage({ data: new Uint8Array([7]).buffer });
  assert.deepEqual([heard, pageAsks], [[[7]], []]);
});

test("nothing is sent over a connection that is closing; the next one takes the ask", () => {
  const link = opened();
  stands();
  const closing = last();
  closing.readyState = 2;
  link.ask();
  assert.deepEqual(closing.sent, []);
  closing.onclose();
  stands();
  assert.deepEqual([seqs(), pageAsks], [[1], []]);
});

test("where the server is gone too, it is tried once, and again when the page is back", () => {
  const link = broken();
  last().onclose();
  assert.equal(Socket.created.length, 2);
  link.connect("t"); // the page's answer: the session is the same
  stands();
  assert.deepEqual(seqs(), [1]);
});

test("what was asked again meanwhile, or of another session, is not asked twice", () => {
  const link = broken();
  last().onclose();
  link.sendAsk(); // it has waited too long, or is lost with its session
  assert.deepEqual(pageAsks, [2]);
  link.connect("new");
  stands();
  assert.deepEqual([last().token, last().sent], ["new", []]);
});

test("an ask that is repeated has waited too long: it goes to the page, and a late answer does no harm", () => {
  const link = opened();
  stands();
  link.ask();
  mock.timers.tick(10_001);
  last().onmessage({ data: new Uint8Array([7]).buffer });
  assert.deepEqual([pageAsks, heard], [[2], []]);
  assert.equal(last().closed, true);
});

test("it connects once for each token, and gives up where no connection ever stands", () => {
  const link = opened("a");
  link.connect("a");
  assert.equal(Socket.created.length, 1);
  link.connect("b");
  assert.equal(Socket.created.length, 2);
  assert.equal(Socket.created[0].closed, true);
  for (let n = 0; n < 5; n++) {
    last().onclose();
    link.connect("b");
  }
  assert.equal(Socket.created.length, 4); // the second, and two more
});

test("a view that ends closes it, and asks nothing any more", () => {
  const link = opened();
  stands();
  link.ask();
  link.close();
  assert.equal(last().closed, true);
  link.connect("t"); // a late answer
  mock.timers.tick(60_000);
  assert.deepEqual([pageAsks, Socket.created.length], [[], 1]);
});
