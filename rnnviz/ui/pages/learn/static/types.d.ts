// What rnnviz/ui/pages/learn sends.

import type { Header, Theme, Themes, Untyped, Words } from "../../../browser/static/types";

export type SceneTheme = Theme & { [name: string]: unknown };
export type Ramp = "diverging" | "sequential" | "surprisal";

export interface Answer extends Header {
  scene: number;
  step: number;
  steps: number;
  present: boolean;
  titles: string[];
  words: Words;
  language: string;
  themes: Themes<SceneTheme>;
  notice: string;
  code: StepCode | null;
  note: Note;
  formula: string;
  symbols: Symbols;
  query: Record<string, string>;
  room: RoomAnswer;
  data?: Untyped;
  error?: string;
}

/** What poll.py says of the room. */
export interface RoomAnswer {
  door: RoomDoor | null;
  trouble?: string;
  watches?: boolean;
}

/** The way into the room. */
export interface RoomDoor {
  key: string;
  short: string;
  url: string;
  qr: string;
  places: { address: string; interface: string }[];
  at: number;
}

/** What is asked of the room. */
export interface RoomWish {
  open?: boolean;
  key?: string;
  reveal?: number;
  again?: number;
  address?: string;
}

/** What ui/room/rooms.py tells the stage. */
export interface RoomLive {
  edition: number;
  phones: number;
  question: RoomQuestion | null;
}

export interface RoomQuestion {
  number: number;
  key: string;
  text: string;
  options: string[];
  answered: number;
  counts: number[];
  revealed: boolean;
  over: boolean;
  told?: Untyped;
}

/** What the lecturer's window shows of a step. */
export interface Note {
  title: string;
  lines: string[];
  next: string;
  opens: string;
  appendix: [name: string, title: string][];
}

/** What the lecturer's window is told: numbers count from 1; `opens` is the scene's title. */
export interface DeskStep extends Note {
  scene: number;
  step: number;
  steps: number;
  notice: string;
  language: string;
  words: Words;
  colours: Record<string, string>;
  room: RoomLive | null;
}

/** A key that was pressed in the lecturer's window. */
export interface DeskKey {
  key: string;
  shift: boolean;
}

/** A step's code. */
export interface StepCode {
  code: string;
}

/** What each symbol of symbols.py is, and its shape in letters. */
export type Symbols = Record<string, { is: string; shape: string }>;

/** What a symbol is in the picture that is shown. */
export interface Standing {
  shape?: string;
  value?: number | string | number[][];
}

/** Ask the server to change what it remembers. */
export type Ask = (change: Record<string, unknown>) => void;

/** A part of a picture: rnnviz/lecture/primitives.py says what each kind has. */
export interface KitNode {
  kind: string;
  stands?: string;
  here?: unknown;
  parts: KitNode[];
  lines: KitNode[];
  sizes: number[];
  marks: string[];
  values: Untyped[];
  rows: Untyped[];
  ys: Untyped[];
  name: string;
  [more: string]: Untyped;
}

export interface KitControl {
  name: string;
  kind: "slider" | "choice" | "field" | "again" | "toggle";
  label: string;
  value: unknown;
  [more: string]: Untyped;
}

/** What a step answers: a picture, or the question before it. */
export interface KitAnswer {
  key: string;
  controls: KitControl[];
  picture?: KitNode;
  question?: KitQuestion;
}

/** `right` and `predicted` are there with the picture. */
export interface KitQuestion {
  text: string;
  options: string[];
  again: string;
  right?: number;
  predicted?: number;
}
