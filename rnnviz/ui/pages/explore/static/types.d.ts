// What rnnviz/ui/pages/explore sends: page.py the fixed part, live_session.py each answer.

import type { Figure, Header, Theme, Themes, Untyped, Words } from "../../../browser/static/types";

/** How values become colours: figures/themes.py, Scale. */
export interface Scale {
  kind: "diverging" | "sequential";
  low: number;
  high: number;
}

export type LiveTheme = Theme & { figure: Figure } & { [name: string]: unknown };

/** What no keystroke changes. */
export interface Fixed {
  words: Words;
  model: string;
  titles: Record<string, string>;
  usual: number | null;
  advises: boolean;
  examples: Example[];
  language: string;
  cell: string;
  layers: number;
  units: number;
  few: number;
  listed: number;
  named: Named[];
  unnamed: string; // why there is none
  first: { quantity: string; layer: number; unit: number | null };
  reach: Record<string, number[][][]>; // how far below and above 0 each unit of each layer goes: unit_order.py
  quantities: Record<string, Scale>;
  symbols: string[];
  ngram: string | null;
  order: number; // of that
  memoryless: string | null; // the network that can be shown beside this one
  themes: Themes<LiveTheme>;
  surprisalFull: number;
  reasonFull: number;
  limit: number;
  temperature: number;
}

/** A unit whose meaning the model's card has confirmed: by what it responds to. */
export interface Named {
  name: string;
  caption: string;
  about: string;
  quantity: string;
  layer: number;
  unit: number;
}

export interface Answer extends Header {
  static?: Fixed;
  digest: string;
  known: number;
  length: number;
  revision: number;
  start: number;
  stop: number;
  held: [number, number];
  unitFrom: number;
  quantity: string;
  layer: number;
  order: string;
  unit: number | null;
  step?: Record<string, number>; // one unit's, `at` the pinned character: live_session.py
  why?: number; // the character that the array of that name is about
  numbers: {
    characters: number;
    unknown: number;
    perplexity: number;
    bits: number;
    entropy: number;
    foreign: "" | "unknown" | "surprise";
  };
  text?: string;
  offer?: Untyped;
  session?: string;
  continuations?: string[];
  opening?: string;
  arrival?: Arrival;
  better?: Better;
}

export interface Arrays {
  ids: Uint32Array;
  nll: Float32Array;
  ngram?: Float32Array;
  memoryless?: Float32Array;
  unit?: Uint8Array;
  why?: Float32Array; // bits that a character costs more without each of those before it
  states: Uint8Array;
  next: Uint32Array;
  chances: Float32Array;
  entropy: Float32Array;
  reshaped?: Float32Array;
  beside?: Float32Array;
  rows?: Uint16Array;
}

/** What can be clicked to be read: examples.py. */
export interface Example {
  name: string;
  text: string;
  model: string | null;
  notice: string;
}

/** Whether another model reads a text better: model_suggestion.py. */
export interface Better {
  state: "pending" | "done" | "failed";
  own: number;
  name: string | null;
  bits: number | null;
}

/** What an address says of the view: bookmark.py. */
export interface Arrival {
  quantity: string;
  layer: number;
  order: string;
  unit: number | null;
  caret: number | null;
  pin: number | null;
  memoryless: boolean;
  why: boolean;
  rows: number;
  wrong: string;
  cut: number | null;
}

/** How predictions are drawn from: scoring/sampling.py. */
export interface Shape {
  temperature: number;
  top_k: number | null;
  top_p: number | null;
}

/** A place in the picture: a character, and a unit if it is in the heat map. */
export interface Place {
  t: number;
  unit: number | null;
}

/** The picture's measures, in pixels. */
export interface Box {
  width: number;
  height: number;
  inner: number;
  top: { states: number; strip: number; perplexity: number };
  heat: number;
  lines: number;
}
