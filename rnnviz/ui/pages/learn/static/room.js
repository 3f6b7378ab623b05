// The stage's side of the room: it polls the room while that is open, and sends the lecturer's wishes.

import { makePhrase } from "../../../browser/static/messages.js";
import { RoomPanel } from "./room_panel.js";

/** @import { Words } from "../../../browser/static/types" */
/** @import { RoomAnswer, RoomDoor, RoomLive, RoomWish } from "./types" */

const RETRY_MS = 1500; // milliseconds after a failed poll

export class Room {
  /** @type {RoomDoor | null} */
  door = null;
  /** @type {RoomLive | null} */
  live = null;
  trouble = "";
  pollFailed = false; // whether the last poll failed
  addressShown = false; // whether the address and the QR code are shown large
  opening = false; // whether the room was asked to open, and no answer has said yet whether it did
  /** @type {(() => void) | null} goes on to the next letter, if there is one */
  nextLetter = null;
  /** @type {ReturnType<typeof makePhrase> | undefined} */
  phrase;
  following = new AbortController();

  /**
   * @param {HTMLElement} root @param {(wish: RoomWish) => void} ask sends a wish @param {() => void} redraw
   * @param {(live: RoomLive | null) => void} sendRoom sends the state to the lecturer's window
   */
  constructor(root, ask, redraw, sendRoom) {
    this.ask = ask;
    this.redraw = redraw;
    this.sendRoom = sendRoom;
    this.panel = new RoomPanel(root, this);
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

  /** Take the room's part of an answer. @param {RoomAnswer} answer @param {Words} words */
  takeAnswer(answer, words) {
    const before = this.door;
    this.door = answer.door;
    this.trouble = answer.trouble ?? "";
    this.phrase = makePhrase(words);
    if (!before !== !this.door) this.follow();
    if (this.door || this.trouble) this.opening = false;
    else if (!this.opening) this.addressShown = false; // while it opens, this answers an ask before that
    this.panel.show();
  }

  /** Poll the room's state as long as it is open. */
  async follow() {
    this.following.abort();
    this.live = null;
    this.pollFailed = false;
    if (!this.door) return;
    this.following = new AbortController();
    const { signal } = this.following;
    while (!signal.aborted) {
      try {
        const edition = /** @type {RoomLive | null} */ (this.live)?.edition ?? "";
        const response = await fetch(`/room?seen=${edition}`, { signal });
        const live = await response.json();
        if (signal.aborted) return;
        if (live.closed) this.dropRoom();
        else this.takeState(live);
      } catch {
        if (signal.aborted) return;
        this.pollFailed = true;
        this.panel.show();
        await new Promise((done) => setTimeout(done, RETRY_MS));
      }
    }
  }

  /** @param {RoomLive} live */
  takeState(live) {
    const before = this.question;
    const same = this.live?.edition === live.edition && !this.pollFailed;
    this.pollFailed = false;
    this.live = live;
    if (same) return;
    const current = this.question;
    const pictureChanged = current?.revealed || before?.revealed || current?.key !== before?.key;
    this.panel.show();
    this.sendRoom(live);
    if (pictureChanged) this.redraw();
  }

  /** Drop the room, which the server has closed. */
  dropRoom() {
    this.following.abort();
    this.door = this.live = null;
    this.sendRoom(null);
    this.panel.show();
    this.redraw();
  }

  // ---- the lecturer ---------------------------------------------------------------------------------

  /** The action of the button "Ask the room": open the room, or show and hide its address. */
  press() {
    this.addressShown = !this.addressShown || !this.door;
    if (!this.door) {
      this.opening = true;
      this.ask({ open: true });
    }
    this.panel.show();
  }

  closeRoom() {
    this.addressShown = this.opening = false;
    this.ask({ open: false });
    this.sendRoom(null);
  }

  /** Hide the address and the QR code; returns whether they were shown. */
  hide() {
    const { addressShown } = this;
    this.addressShown = false;
    if (addressShown) this.panel.show();
    return addressShown;
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
    if (!this.question?.revealed || !this.nextLetter) return false;
    this.nextLetter();
    return true;
  }
}
