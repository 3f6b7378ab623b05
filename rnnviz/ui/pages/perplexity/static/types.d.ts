// Types of the answers of rnnviz/ui/pages/perplexity: surprise.py makes the fixed part, viewer.py each answer.

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
  fixed?: Fixed;
  digest: string;
  length: number;
  count: number;
  chunk: number;
  spans: [index: number, start: number, stop: number][];
  place: number;
  expected?: ExpectedLists;
  passage?: PassageCost;
  jump?: [serial: number, start: number, stop: number];
}

/** Each model's prediction of a character, the most probable symbols first. */
export interface ExpectedLists {
  at: number;
  lists: { model: string; top: [string, number][] | null; approximate?: boolean }[];
}

/** A passage's cost given all before it, in nats per character, by model. */
export interface PassageCost {
  at: [start: number, stop: number];
  nats: number[];
}

export type Arrays = Record<string, WireArray>;

/** A chunk of the text: its characters' code points and values. */
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
