// The stage's side of the lecturer's window: what is shown goes there, keys pressed there come here.
//
// Both speak over a BroadcastChannel called `name(key)`; the window has the key in its address.
//   stage → window   {kind: "step", …} a Desk's `said`; {kind: "room", room} what the class answers, as it comes;
//                    {kind: "gone"} when the lecture is left
//   window → stage   {kind: "hello"} it is there; {kind: "key", key, shift} one of KEYS was pressed;
//                    {kind: "go", name} a step of the appendix is wanted

import { fill } from "../../../browser/static/messages.js";

/** @import { Answer, DeskKey, DeskStep, RoomLive, SceneTheme } from "./types" */

/** Keys that drive the stage, wherever they are pressed. */
export const KEYS = [" ", "ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "PageDown", "PageUp"];

const KEPT = "rnnviz-desk"; // this tab's key, from when it leaves the lecture until it is there again
const SAID = ["pair", "room.answered"]; // words of the window that are the stage's too

/** @param {string} key */
export const name = (key) => `rnnviz-desk-${key}`;

/** The colours that the window has of the stage's. @param {SceneTheme} theme */
function worn({ background, text, muted, grid, model, came }) {
  return { background, text, muted, grid, model, came };
}

export class PresenterChannel {
  /** @type {DeskStep | null} */
  said = null;
  onLeave = () => sessionStorage.setItem(KEPT, this.key);

  /**
   * @param {string} key the stage's own, where it has none from before
   * @param {(pressed: DeskKey) => void} press @param {(name: string) => void} go
   */
  constructor(key, press, go) {
    this.key = sessionStorage.getItem(KEPT) ?? key;
    sessionStorage.removeItem(KEPT); // a copy of the tab is another stage
    window.addEventListener("pagehide", this.onLeave);
    this.channel = new BroadcastChannel(name(this.key));
    this.channel.onmessage = ({ data }) => {
      if (data?.kind === "hello") this.tell();
      else if (data?.kind === "key" && KEYS.includes(data.key)) press(data);
      else if (data?.kind === "go") go(String(data.name));
    };
  }

  /** Open the window, or come back to it. */
  open() {
    const address = new URL("./presenter.html", import.meta.url);
    address.hash = this.key;
    window.open(address, `rnnviz-desk-${this.key}`, "popup,width=900,height=680")?.focus();
  }

  /** What the stage shows now. @param {Answer} answer @param {SceneTheme} theme @param {RoomLive | null} room */
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

  /** The stage has other colours. @param {SceneTheme} theme */
  wear(theme) {
    if (this.said) this.said.colours = worn(theme);
    this.tell();
  }

  /** What the room says from now on; null once it is closed. @param {RoomLive | null} room */
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
