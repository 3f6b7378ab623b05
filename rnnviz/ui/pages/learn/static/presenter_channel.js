// The stage's side of the lecturer's window: it sends the step's notes, and receives keys.
//
// Both sides use a BroadcastChannel called `channelName(key)`; the window's address contains the key.
//   stage → window   {kind: "step", …} a PresenterChannel's `step`; {kind: "room", room} the class's answers so far;
//                    {kind: "gone"} the lecture is left
//   window → stage   {kind: "hello"} the window is open; {kind: "key", key, shift} one of KEYS was pressed;
//                    {kind: "go", name} a step of the appendix is wanted

import { fill } from "../../../browser/static/messages.js";

/** @import { Answer, PresenterKey, PresenterStep, RoomLive, SceneTheme } from "./types" */

/** Keys that drive the stage, also when pressed in the lecturer's window. */
export const KEYS = [" ", "ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "PageDown", "PageUp"];

const KEY_STORAGE = "rnnviz-desk"; // the storage key for this tab's key, between leaving the lecture and returning
const SHARED_WORDS = ["pair", "room.answered", "edit"]; // the stage's words that the window needs too

/** @param {string} key */
export const channelName = (key) => `rnnviz-desk-${key}`;

export class PresenterChannel {
  /** @type {PresenterStep | null} */
  step = null;
  notesOpen = false;
  /** @type {BroadcastChannel | undefined} */
  channel;
  onLeave = () => sessionStorage.setItem(KEY_STORAGE, this.key);

  /**
   * @param {string} key used unless the tab has kept one
   * @param {(pressed: PresenterKey) => void} press @param {(name: string) => void} go
   * @param {() => void} askNotes asks for the step again, with the next one's picture
   */
  constructor(key, press, go, askNotes) {
    this.key = key;
    this.press = press;
    this.go = go;
    this.askNotes = askNotes;
  }

  /** Begin to send and to receive. */
  begin() {
    this.key = sessionStorage.getItem(KEY_STORAGE) ?? this.key;
    sessionStorage.removeItem(KEY_STORAGE); // a duplicated tab copies the storage, but must be another stage
    window.addEventListener("pagehide", this.onLeave);
    this.channel = new BroadcastChannel(channelName(this.key));
    this.channel.onmessage = ({ data }) => {
      if (data?.kind === "hello") this.openNotes();
      else if (data?.kind === "key" && KEYS.includes(data.key)) this.press(data);
      else if (data?.kind === "go") this.go(String(data.name));
    };
  }

  /** The window is open: it wants the notes at once, and then the next step's picture too. */
  openNotes() {
    this.sendStep();
    this.notesOpen = true;
    this.askNotes();
  }

  /** Open the window, or focus it if it is open. */
  open() {
    if (!this.channel) return;
    const address = new URL("./presenter.html", import.meta.url);
    address.hash = this.key;
    window.open(address, `rnnviz-desk-${this.key}`, "popup,width=900,height=680")?.focus();
  }

  /** Send the present step's notes. @param {Answer} answer @param {SceneTheme} theme @param {RoomLive | null} room */
  show(answer, theme, room) {
    const { scene, step, steps, note, notice, language, words, titles, themes } = answer;
    const names = Object.keys(words).filter((name) => name.startsWith("desk") || SHARED_WORDS.includes(name));
    this.step = {
      ...note,
      scene_title: titles[scene - 1],
      next: note.next_scene ? fill(words.pair, { name: note.next_scene, value: note.next }) : note.next,
      ...{ scene, step: step + 1, steps, notice, language, room, themes },
      words: Object.fromEntries(names.map((name) => [name, words[name]])),
      colours: theme,
    };
    this.sendStep();
  }

  /** Send the notes again after a change of theme. @param {SceneTheme} theme */
  setTheme(theme) {
    if (this.step) this.step.colours = theme;
    this.sendStep();
  }

  /** Send the room's state; null once it is closed. @param {RoomLive | null} room */
  sendRoom(room) {
    if (this.step) this.step.room = room;
    this.channel?.postMessage({ kind: "room", room });
  }

  sendStep() {
    if (this.step) this.channel?.postMessage({ kind: "step", ...this.step });
  }

  close() {
    if (!this.channel) return;
    window.removeEventListener("pagehide", this.onLeave);
    this.onLeave();
    this.channel.postMessage({ kind: "gone" });
    this.channel.close();
  }
}
