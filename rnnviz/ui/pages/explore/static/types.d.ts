// Types of the answers of rnnviz/ui/pages/explore: page/initial_data.py makes the fixed part, live_session.py each answer.

import type { Header, Theme, Themes, Untyped, Words } from "../../../browser/static/types";

/** A scale from values to colours, see `ColourScale` in figures/themes.py. */
export interface Scale {
  kind: "diverging" | "sequential";
  low: number;
  high: number;
}

/** The fixed part of the answers, see `fixed_part` in initial_data.py. */
export interface Fixed {
  words: Words;
  model: string;
  titles: Record<string, string>;
  notes: Record<string, string>; // what each network's units follow; the page alone has them
  heldOutBits: number | null; // bits per character of the model's held-out text
  suggests: boolean;
  examples: Example[];
  language: string;
  cell: string;
  layers: number;
  units: number;
  steadyUnits: number;
  listedNext: number;
  named: Named[];
  unnamed: string; // the sentence on the reason why no unit is named
  first: { quantity: string; layer: number; unit: number | null };
  reach: Record<string, number[][][]>; // each unit's reach, (2, L, H) by state: shown_units.py
  numbers: TextNumber[];
  quantities: Record<string, Scale>;
  symbols: string[];
  ngram: string | null;
  order: number; // n of the n-gram model
  memoryless: string | null; // the network that can be shown beside this one
  themes: Themes<Theme>;
  surprisalFull: number;
  reasonFull: number;
  limit: number;
  temperature: number;
}

/** A number of the text, declared in page/text_numbers.py. */
export interface TextNumber {
  name: string;
  count: boolean; // shown without decimals
  folded: boolean; // under More, not in the header
}

/** A named unit: its finding is confirmed on the model's card. */
export interface Named {
  name: string;
  caption: string;
  target: string;
  about: string;
  quantity: string;
  layer: number;
  unit: number;
}

export interface Answer extends Header {
  fixed?: Fixed;
  digest: string;
  heldRows: number; // the text's first rows, which the browser holds
  length: number;
  revision: number;
  start: number;
  stop: number;
  heldColumns: [number, number]; // the window's first held column, and the one after the last
  heldUnitRows: number;
  quantity: string;
  layer: number;
  order: string;
  unit: number | null;
  step?: Record<string, number>; // the unit's step `at` the pinned character, see `unit_step` in live_answer.py
  moves?: [unit: number, added: number][]; // what moved a weighted sum most there, see `weighted_step`
  occlusionAt?: number; // the character that the array `occlusion` belongs to
  numbers: Record<string, number | null>; // by the names of Fixed.numbers
  foreign: "" | "unknown" | "surprise"; // the reason why the text is foreign to the model
  text?: string;
  offer?: Untyped;
  session?: string;
  continuation?: string;
  tree?: { at: number; past: number }; // the tree of what may follow the text's first `at` characters, from `past` before on
  opening?: string;
  arrival?: Arrival;
  suggestion?: Suggestion;
}

export interface Arrays {
  ids: Uint32Array;
  nll: Float32Array;
  ngram?: Float32Array;
  memoryless?: Float32Array;
  unit?: Uint8Array;
  occlusion?: Float32Array; // bits by which a character's surprisal rises without each of those before it
  states: Uint8Array;
  next: Uint32Array;
  chances: Float32Array;
  entropy: Float32Array;
  reshaped?: Float32Array;
  memorylessNext?: Float32Array;
  unitOfRow?: Uint16Array;
  /** A row for each branch of the tree, see `Branch` in scoring/sampling.py: the probability, and that of a draw. */
  treeParents?: Uint16Array;
  treeIds?: Uint32Array;
  treeChances?: Float32Array;
}

/** An example text, see `Example` in page/initial_data.py. */
export interface Example {
  name: string;
  text: string;
  model: string | null;
  notice: string;
}

/** The search for a model that reads the text better: once done, with the fields of `Suggestion` in model_suggestion.py. */
export interface Suggestion {
  state: "pending" | "done" | "failed";
  own_bits?: number; // the chosen model's bits per character
  name?: string | null; // the better model; null if none is clearly better
  bits?: number | null; // that model's
  read_as?: [string, string]; // how each of the two reads the text
}

/** The view of an address, see `Bookmark` in page.py. */
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

/** The parameters of sampling, see `SamplingSettings` in scoring/sampling.py. */
export interface SamplingSettings {
  temperature: number;
  top_k: number | null;
  top_p: number | null;
}

/** A place in the figure: a character, and a unit if the place is in the heat map. */
export interface Place {
  t: number;
  unit: number | null;
}

/** The figure's measures, in pixels. */
export interface Box {
  width: number;
  height: number;
  inner: number;
  top: { states: number; strip: number; perplexity: number };
  heat: number;
  lines: number;
}
