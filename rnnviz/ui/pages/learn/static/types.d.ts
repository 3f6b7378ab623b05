// Types of the answers of rnnviz/ui/pages/learn.

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

/** The room's part of an answer, see page.py. */
export interface RoomAnswer {
  door: RoomDoor | null;
  trouble?: string;
}

/** The room's address and QR code, see `OpenRoom.join_info` in ui/serving/room/classroom.py. */
export interface RoomDoor {
  short: string;
  url: string;
  qr: string;
  places: { address: string; interface: string }[];
  at: number;
}

/** The room's part of an ask, see page.py. */
export interface RoomWish {
  open?: boolean;
  reveal?: number;
  again?: number;
  address?: string;
}

/** The room's state, see `stage_poll` in ui/serving/room/classroom.py. */
export interface RoomLive {
  edition: number;
  phones: number;
  revealed: number;
  question: RoomQuestion | null;
}

export interface RoomQuestion {
  number: number;
  key: string;
  text: string;
  options: string[];
  answered: number;
  votes: number;
  counts: number[];
  revealed: boolean;
  over: boolean;
  answers?: Untyped;
}

/** A step's notes for the lecturer's window. */
export interface Note {
  title: string;
  lines: string[];
  plan: [begins: number, minutes: number][]; // in minutes, of a talk of 45 and of 90
  right: string; // a question's right option, or ""
  preview: KitAnswer | null; // the next step, where the notes are open
  next: string;
  next_scene: string; // the title of the scene that begins with the next step, or ""
  appendix: [name: string, title: string][];
}

/** The message to the lecturer's window; numbers count from 1. */
export interface PresenterStep extends Note {
  scene: number;
  scene_title: string;
  step: number;
  steps: number;
  notice: string;
  language: string;
  words: Words;
  colours: SceneTheme;
  themes: Themes<SceneTheme>;
  room: RoomLive | null;
}

/** A key pressed in the lecturer's window. */
export interface PresenterKey {
  key: string;
  shift: boolean;
}

/** A step's code. */
export interface StepCode {
  code: string;
}

/** The symbols of symbols.py, each with its description and its shape in letters. */
export type Symbols = Record<string, { is: string; shape: string }>;

/** A symbol's shape and value in the present picture. */
export interface Standing {
  shape?: string;
  value?: number | string | number[][];
}

/** Asks the server for other values of controls, by their names. */
export type ChangeControls = (change: Record<string, unknown>) => void;

/** A part of a picture; rnnviz/lecture/primitives.py has the fields of each kind. */
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
  kind: "slider" | "choice" | "field" | "button";
  label: string;
  value: unknown;
  [more: string]: Untyped;
}

/** A step's drawing: a picture, or the question before it. */
export interface KitAnswer {
  key: string;
  controls: KitControl[];
  picture?: KitNode;
  exhibit?: KitNode; // what an open question is about
  question?: KitQuestion;
}

/** A step's question; `right` and `predicted` come with the picture. */
export interface KitQuestion {
  text: string;
  options: string[];
  again: string;
  right?: number;
  predicted?: number;
}
