// What rnnviz/ui/pages/train/watch.py sends.

import type { Figure, Header, Shaped, Theme, Themes, Words } from "../../../browser/static/types";

export type TrainTheme = Theme & { figure: Figure & { clip: number; spread: number } } & {
  [name: string]: unknown;
};

export interface Fixed {
  words: Words;
  language: string;
  themes: Themes<TrainTheme>;
  baseline: number | null; // the n-gram's perplexity
}

/** What the header says of one trace of the probe. */
export interface About {
  key: string;
  kind: "now" | "kept";
  step: number;
  characters: number;
  perplexity: number | null;
}

export interface Answer extends Header {
  run: string;
  born: number;
  state: string;
  alive: boolean;
  started: boolean;
  cell: string;
  units: number;
  seconds: number;
  scale: "diverging" | "sequential";
  probe: string;
  steps: number[];
  frames: About[];
  symbols: string[];
  rows: boolean;
  drawn: number;
  answer: string;
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

/** The curves, and `rows`: each layer's units, those alike side by side. */
export type Curves = Record<
  "characters" | "train" | "gradient" | "rate" | "measured" | "validation" | "looked" | "held_out",
  Float32Array
> & { rows?: Uint16Array };

/** One trace: T characters, L layers, H units; `states` are indices of colours, `next` and `came` numbers of symbols. */
export interface Frame extends About {
  states: Shaped<Uint8Array>;
  next: Shaped<Uint16Array>;
  chances: Float32Array;
  came: Uint16Array;
  chance: Float32Array;
  entropy: Float32Array;
  symbols: string[];
}
