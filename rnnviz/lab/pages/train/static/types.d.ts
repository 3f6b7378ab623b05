// Types of the answers of rnnviz/lab/pages/train/run_view.py.

import type { Figure, Header, Shaped, Theme, Themes, Words } from "../../../../ui/browser/static/types";

/** A theme with its figures, whose traces have names of arrays in place of values. */
export type TrainTheme = Theme & { curve: Figure; details: Figure; surprisal: string[] } & {
  [name: string]: unknown;
};

export interface Fixed {
  words: Words;
  language: string;
  themes: Themes<TrainTheme>;
  baseline: number | null; // the n-gram model's perplexity
  surprisalFull: number; // bits of the strongest colour behind a character
}

/** The header's entry of a frame, a trace of the sentence to watch. */
export interface About {
  key: string;
  step: number;
  characters: number;
  perplexity: number | null;
}

export interface Answer extends Header {
  run: string;
  created: number;
  state: string;
  alive: boolean;
  started: number; // a new number at each start, 0 before
  cell: string;
  unitCount: number; // units of a layer
  rows: number; // named rows of the finished network, which stand above the units
  shownUnits: (string | number)[][]; // the rows' names and the units' numbers, by layer
  seconds: number;
  scale: "diverging" | "sequential";
  watchText: string;
  steps: number[];
  frames: About[];
  symbols: string[];
  logPosition: number; // bytes of the event log that the answer tells of
  digest: string;
  fixed?: Fixed;
  fraction: number;
  progressLine: string;
  passed: string | null;
  sample: string;
  samplePlace: string;
  hasNgram: boolean; // whether an n-gram model is a baseline
  /** The lines drawn, in the order of the legend: names of traces. */
  lines: string[];
  numbers: Record<"validation" | "held_out" | "train" | "speed" | "clipped" | "rate", number | null>;
}

export type Curves = Record<string, Float32Array>;

/**
 * A frame: T characters, L layers, H units shown. `states` (T, L, H) are colour indices, `next` and `actual` numbers of
 * symbols, `nll` and `entropy` nats.
 */
export interface Frame extends About {
  states: Shaped<Uint8Array>;
  next: Shaped<Uint16Array>;
  chances: Float32Array;
  actual: Uint16Array;
  chance: Float32Array;
  nll: Float32Array;
  entropy: Float32Array;
  symbols: string[];
}
