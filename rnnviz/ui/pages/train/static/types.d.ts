// What rnnviz/ui/pages/train/run_view.py sends.

import type { Figure, Header, Shaped, Theme, Themes, Words } from "../../../browser/static/types";

/** The traces of the figures name the arrays that they draw. */
export type TrainTheme = Theme & { curve: Figure; details: Figure; surprisal: string[] } & {
  [name: string]: unknown;
};

export interface Fixed {
  words: Words;
  language: string;
  themes: Themes<TrainTheme>;
  baseline: number | null; // the n-gram's perplexity
  surprisalFull: number; // bits at which the colour behind a character is at its strongest
}

/** What the header says of one trace of the probe. */
export interface About {
  key: string;
  step: number;
  characters: number;
  perplexity: number | null;
}

export interface Answer extends Header {
  run: string;
  born: number;
  state: string;
  alive: boolean;
  started: number; // another each time that it is started, 0 before
  cell: string;
  units: number; // of a layer
  rows: number[][]; // of each layer, the units that are shown
  seconds: number;
  scale: "diverging" | "sequential";
  probe: string;
  steps: number[];
  frames: About[];
  symbols: string[];
  drawn: number;
  digest: string;
  static?: Fixed;
  fraction: number;
  line: string;
  passed: string | null;
  sample: string;
  sampled: string;
  counted: boolean;
  /** What is drawn, in the order of the legend: names of traces that have words. */
  lines: string[];
  numbers: Record<"validation" | "held_out" | "train" | "speed" | "clipped" | "rate", number | null>;
}

export type Curves = Record<string, Float32Array>;

/** One trace: T characters, L layers, the units that are shown; `states` are indices of colours, `next` and `came`
 * numbers of symbols, `nll` nats. */
export interface Frame extends About {
  states: Shaped<Uint8Array>;
  next: Shaped<Uint16Array>;
  chances: Float32Array;
  came: Uint16Array;
  chance: Float32Array;
  nll: Float32Array;
  entropy: Float32Array;
  symbols: string[];
}
