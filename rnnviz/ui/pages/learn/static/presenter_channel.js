// The stage's side of the lecturer's window: it sends the step's notes, and receives keys.
//
// Both sides use a BroadcastChannel called `name(key)`; the window's address contains the key.
//   stage → window   {kind: "step", …} a PresenterChannel's `said`; {kind: "room", room} the class's answers so far;
//                    {kind: "gone"} the lecture is left
//   window → stage   {kind: "hello"} the window is open; {kind: "key", key, shift} one of KEYS was pressed;
//                    {kind: "go", name} a step of the appendix is wanted

import { fill } from "../../../browser/static/messages.js";

/** @import { Answer, DeskKey, DeskStep, RoomLive, SceneTheme } from "./types" */

/** Keys that drive the stage, also when pressed in the lecturer's window. */
export const KEYS = [" ", "ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "PageDown", "PageUp"];

const KEPT = "rnnviz-desk"; // the storage key for this tab's key, between leaving the lecture and returning
const SAID = ["pair", "room.answered"]; // the stage's words that the window needs too

/** @param {string} key */
export const name = (key) => `rnnviz-desk-${key}`;

/** The colours of the stage's theme that the window uses. @param {SceneTheme} theme */
function worn({ background, text, muted, grid, model, actual }) {
  return { background, text, muted, grid, model, actual };
}

export class PresenterChannel {
  /** @type {DeskStep | null} */
  said = null;
  onLeave = () => sessionStorage.setItem(KEPT, this.key);

  /**
   * @param {string} key used unless the tab has kept one
   * @param {(pressed: DeskKey) => void} press @param {(name: string) => void} go
   */
  constructor(key, press, go) {
    this.key = sessionStorage.getItem(KEPT) ?? key;
    sessionStorage.removeItem(KEPT); // a duplicated tab copies the storage, but must be another stage
    window.addEventListener("pagehide", this.onLeave);
    this.channel = new BroadcastChannel(name(this.key));
    this.channel.onmessage = ({ data }) => {
      if (data?.kind === "hello") this.tell();
      else if (data?.kind === "key" && KEYS.includes(data.key)) press(data);
      else if (data?.kind === "go") go(String(data.name));
    };
  }

  /** Open the window, or focus it if it is open. */
  open() {
    const address = new URL("./presenter.html", import.meta.url);
    address.hash = this.key;
    window.open(address, `rnnviz-desk-${this.key}`, "popup,width=900,height=680")?.focus();
  }

  /** Send the present step's notes. @param {Answer} answer @param {SceneTheme} theme @param {RoomLive | null} room */
  show(answer, theme, room) {
    const { scene, step, steps, note, notice, language, words, titles } = answer;
    const names = Object.keys(words).filter((name) => name.startsWith("desk") || SAID.includes(name));
    this.said = {
      ...note,
      opens: titles[scene - 1],
      next: note.opens ? fill(words.pair, { name: note.opens, value: note.next }) : note.next,
      ...{ scene, step: step + 1, steps, notice, language, room },
      words: Object.fromEntries(names.map((name) => [name, words[name]])),
      colours: worn(theme),
    };
    this.tell();
  }

  /** Send the notes again after a change of theme. @param {SceneTheme} theme */
  wear(theme) {
    if (this.said) this.said.colours = worn(theme);
    this.tell();
  }

  /** Send the room's state; null once it is closed. @param {RoomLive | null} room */
  hear(room) {
    if (this.said) this.said.room = room;
    this.channel.postMessage({ kind: "room", room });
  }

  tell() {
    if (this.said) this.channel.postMessage({ kind: "step", ...this.said });
  }

  close() {
    window.removeEventListener("pagehide", this.onLeave);
    this.onLeave();
    this.channel.postMessage({ kind: "gone" });
    this.channel.close();
  }
}
