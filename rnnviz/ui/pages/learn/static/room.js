// The stage's side of the room: it polls the room while that is open, and sends the lecturer's wishes.

import { sayer } from "../../../browser/static/messages.js";
import { RoomPanel } from "./room_panel.js";

/** @import { Words } from "../../../browser/static/types" */
/** @import { RoomAnswer, RoomDoor, RoomLive, RoomWish } from "./types" */

const PAUSE = 1500; // milliseconds after a failed poll

export class Room {
  /** @type {RoomDoor | null} */
  door = null;
  /** @type {RoomLive | null} */
  live = null;
  trouble = "";
  lost = false; // whether the last poll failed
  sheet = false; // whether the address and the QR code are shown large
  /** @type {(() => void) | null} goes on to the next letter, if there is one */
  next = null;
  /** @type {RoomWish} the wish for the next ask */
  pending = {};
  /** @type {RoomWish} the wish in the ask in flight */
  flying = {};
  /** @type {ReturnType<typeof sayer> | undefined} */
  say;
  following = new AbortController();

  /**
   * @param {HTMLElement} root @param {() => void} start sends an ask @param {() => void} redraw
   * @param {(live: RoomLive | null) => void} tell sends the state to the lecturer's window
   */
  constructor(root, start, redraw, tell) {
    this.start = start;
    this.redraw = redraw;
    this.tell = tell;
    this.words = new RoomPanel(root, this);
  }

  close() {
    this.following.abort();
  }

  /** The question that the room has, or null. */
  get question() {
    return this.door && this.live?.question ? this.live.question : null;
  }

  /** The question of this key with its answers, if they are revealed; else null. @param {string} key */
  revealed(key) {
    const { question } = this;
    return question?.revealed && question.key === key ? question : null;
  }

  // ---- the server -----------------------------------------------------------------------------------

  wish() {
    this.flying = { ...this.flying, ...this.pending };
    this.pending = {};
    return Object.keys(this.flying).length ? this.flying : undefined;
  }

  /** @param {RoomWish} wish */
  ask(wish) {
    this.pending = { ...this.pending, ...wish };
    this.start();
  }

  /** Take the room's part of an answer. @param {RoomAnswer} answer @param {Words} words */
  take(answer, words) {
    const before = this.door;
    this.flying = {};
    this.door = answer.door;
    this.trouble = answer.trouble ?? "";
    this.say = sayer(words);
    if (!before !== !this.door) this.follow();
    if (!this.door && !this.trouble) this.sheet = false;
    this.words.show();
  }

  /** Poll the room's state as long as it is open. */
  async follow() {
    this.following.abort();
    this.live = null;
    this.lost = false;
    if (!this.door) return;
    this.following = new AbortController();
    const { signal } = this.following;
    while (!signal.aborted) {
      try {
        const seen = /** @type {RoomLive | null} */ (this.live)?.edition ?? "";
        const got = await fetch(`/room?seen=${seen}`, { signal });
        const live = await got.json();
        if (signal.aborted) return;
        if (live.closed) this.gone();
        else this.hear(live);
      } catch {
        if (signal.aborted) return;
        this.lost = true;
        this.words.show();
        await new Promise((done) => setTimeout(done, PAUSE));
      }
    }
  }

  /** @param {RoomLive} live */
  hear(live) {
    const before = this.question;
    const same = this.live?.edition === live.edition && !this.lost;
    this.lost = false;
    this.live = live;
    if (same) return;
    const now = this.question;
    const drawn = now?.revealed || before?.revealed || now?.key !== before?.key;
    this.words.show();
    this.tell(live);
    if (drawn) this.redraw();
  }

  /** Drop the room, which the server has closed. */
  gone() {
    this.following.abort();
    this.door = this.live = null;
    this.tell(null);
    this.words.show();
    this.redraw();
  }

  // ---- the lecturer ---------------------------------------------------------------------------------

  /** The action of the button "Ask the room": open the room, or show and hide its address. */
  press() {
    this.sheet = !this.sheet || !this.door;
    if (!this.door) this.ask({ open: true });
    this.words.show();
  }

  leave() {
    this.sheet = false;
    this.ask({ open: false });
    this.tell(null);
  }

  /** Hide the address and the QR code; returns whether they were shown. */
  hide() {
    const { sheet } = this;
    this.sheet = false;
    if (sheet) this.words.show();
    return sheet;
  }

  /** Reveal the answers, if there are any to reveal; returns whether it did anything. */
  reveal() {
    if (this.hide()) return true;
    const { question } = this;
    if (!question?.votes || question.revealed) return false;
    this.ask({ reveal: question.number });
    return true;
  }

  again() {
    if (this.question) this.ask({ again: this.question.number });
  }

  /** The room's action for Space: reveal, or the next letter; returns whether it did anything. */
  space() {
    if (this.reveal()) return true;
    if (!this.question?.revealed || !this.next) return false;
    this.next();
    return true;
  }
}
