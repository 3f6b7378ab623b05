// What rnnviz/ui/pages/perplexity sends: surprise.py the fixed part, viewer.py each answer.

import type { Figure, Header, Theme, Themes, WireArray, Words } from "../../../browser/static/types";

export type ViewerTheme = Theme & { figure: Figure } & { [name: string]: unknown };
export type Mode = "surprisal" | "rank" | "versus";

export interface Fixed {
  words: Words;
  language: string;
  names: string[];
  window: number;
  context: number;
  themes: Themes<ViewerTheme>;
  bands: [number, number, number];
  surprisalFull: number;
  surprisalSteps: number;
  versusFull: number;
  versusSteps: number;
}

export interface Answer extends Header {
  static?: Fixed;
  digest: string;
  length: number;
  count: number;
  chunk: number;
  spans: [index: number, start: number, stop: number][];
  place: number;
  told?: Told;
  part?: Part;
  jump?: [serial: number, start: number, stop: number];
}

/** What each model expected in the place of a character, most probable first. */
export interface Told {
  at: number;
  lists: { model: string; top: [string, number][] | null; approximate?: boolean }[];
}

/** What a passage costs, given all before it: nats a character, by each model. */
export interface Part {
  at: [start: number, stop: number];
  nats: number[];
}

export type Arrays = Record<string, WireArray>;

/** A part of the text: its characters' code points and costs. */
export interface Chunk {
  index: number;
  start: number;
  codes: Uint32Array;
  nll: Float32Array;
  rank: Int32Array;
  unknown: Int32Array;
  entropy: Float32Array;
  versus?: Float32Array;
  otherRank?: Int32Array;
}
