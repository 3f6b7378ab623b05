// The room that answers: followed while it is open, asked by Space, told to the lecturer's window.

import { sayer } from "../../../browser/static/messages.js";
import { RoomPanel } from "./room_panel.js";

/** @import { Words } from "../../../browser/static/types" */
/** @import { RoomAnswer, RoomDoor, RoomLive, RoomWish } from "./types" */

const KEPT = "rnnviz-room"; // the key of this tab's room, for when the page is loaded again
const LEFT = "rnnviz-room-left"; // there once this tab has left the page: not in a copy of the tab
const PAUSE = 1500; // milliseconds before another look after one that failed

export class Room {
  /** @type {RoomDoor | null} */
  door = null;
  /** @type {RoomLive | null} */
  live = null;
  trouble = "";
  watches = false; // whether it is somebody else who may open a room
  lost = false;
  sheet = false; // whether the way in is shown large
  /** @type {(() => void) | null} what goes on to the next letter, where there is one */
  next = null;
  /** @type {RoomWish} what is asked of the server and not yet on its way */
  pending = {};
  /** @type {RoomWish} */
  flying = {};
  began = false;
  /** @type {ReturnType<typeof sayer> | undefined} */
  say;
  following = new AbortController();
  onLeave = () => sessionStorage.setItem(LEFT, "1");

  /**
   * @param {HTMLElement} root @param {() => void} start sends a wish @param {() => void} redraw
   * @param {(live: RoomLive | null) => void} tell the lecturer's window
   */
  constructor(root, start, redraw, tell) {
    this.start = start;
    this.redraw = redraw;
    this.tell = tell;
    this.words = new RoomPanel(root, this);
    window.addEventListener("pagehide", this.onLeave);
  }

  close() {
    this.following.abort();
    window.removeEventListener("pagehide", this.onLeave);
  }

  /** The question that the stage shows, if the room has heard of it. */
  get question() {
    return this.door && this.live?.question ? this.live.question : null;
  }

  /** The answers to a question, once they are revealed. @param {string} key */
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

  /** What an answer says of the room. @param {RoomAnswer} answer @param {Words} words */
  take(answer, words) {
    const before = this.door;
    this.flying = {};
    this.door = answer.door;
    this.trouble = answer.trouble ?? "";
    this.watches = answer.watches ?? false;
    this.say = sayer(words);
    if (!this.began) this.claim();
    this.began = true;
    if (before?.key !== this.door?.key) this.follow();
    if (!this.door && !this.trouble) this.sheet = false;
    this.words.show();
  }

  /** A tab that has loaded the page again, or another of its addresses, has its room again. */
  claim() {
    const [how] = performance.getEntriesByType("navigation");
    const key = sessionStorage.getItem(KEPT);
    const reloaded = /** @type {PerformanceNavigationTiming | undefined} */ (how)?.type === "reload";
    const again = reloaded || sessionStorage.getItem(LEFT) !== null;
    sessionStorage.removeItem(LEFT);
    if (!this.door && key && again) this.ask({ key });
  }

  /** Look at the room from now on, for as long as it is this one. */
  async follow() {
    this.following.abort();
    this.live = null;
    this.lost = false;
    if (!this.door) return sessionStorage.removeItem(KEPT);
    const { key } = this.door;
    sessionStorage.setItem(KEPT, key);
    this.following = new AbortController();
    const { signal } = this.following;
    while (!signal.aborted) {
      try {
        const seen = /** @type {RoomLive | null} */ (this.live)?.edition ?? "";
        const got = await fetch(`/room/${key}?seen=${seen}`, { signal });
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

  /** It was closed, by a server that stopped. */
  gone() {
    this.following.abort();
    this.door = this.live = null;
    sessionStorage.removeItem(KEPT);
    this.tell(null);
    this.words.show();
    this.redraw();
  }

  // ---- the lecturer ---------------------------------------------------------------------------------

  /** The button "Ask the room". */
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

  /** Hide the way in. Returns whether it was shown. */
  hide() {
    const { sheet } = this;
    this.sheet = false;
    if (sheet) this.words.show();
    return sheet;
  }

  /** Show the answers, if there are any that aren't shown. Returns whether there were. */
  reveal() {
    if (this.hide()) return true;
    const { question } = this;
    if (!question?.answered || question.revealed) return false;
    this.ask({ reveal: question.number });
    return true;
  }

  again() {
    if (this.question) this.ask({ again: this.question.number });
  }

  /** What Space does for the room. Returns whether it did anything. */
  space() {
    if (this.reveal()) return true;
    if (!this.question?.revealed || !this.next) return false;
    this.next();
    return true;
  }
}
