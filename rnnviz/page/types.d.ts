// Types of the page's contents, from build.py, and of the data between its modules.

import type { Theme, Themes } from "../ui/browser/static/types";
import type { Answer, Fixed, Scale } from "../ui/pages/explore/static/types";

/** The files of a page, by name; fixed parts and openings by language. */
export interface Index {
  first: Record<string, string>; // the network with which a page begins, by language
  networks: Record<string, { weights: string; data: string; fixed: Record<string, string> }>;
  openings: Record<string, string>;
  documentation?: string; // the address of a page that explains; "" for none
  offline?: string; // the service worker; a page of one file has none
}

/** What the page's script has beside its modules. */
export interface Look {
  markup: string;
  styles: string;
  colours: Themes<Theme>;
  normalisers: Record<string, Record<string, string>>;
  scales: Record<string, Record<string, Record<string, Scale>>>; // of quantities, by cell and activation
}

/** The description in a network's file. */
export interface Description {
  config: Config;
  symbols: string[];
  normaliser: string;
  card: Record<string, unknown>;
}

export interface Config {
  cell: "mlp" | "rnn" | "gru" | "lstm" | "mingru";
  vocabulary_size: number;
  hidden_size: number;
  layers: number;
  embedding_size: number;
  activation: "tanh" | "relu";
  tied: boolean;
}

export type Tensors = Record<string, Float32Array>;

/** One level of an n-gram model's tables: see ngram.js. */
export interface Level {
  keys: Uint32Array;
  share: Float32Array;
  backoff: Float32Array;
}

/** All data of the engine, except the weights. */
export interface PageModel {
  fixed: Fixed;
  digest: string;
  opening: string;
  config: Config;
  unknownCost: number;
  normaliser: Record<string, string>; // replacements of characters before they are read
  /** the unit of each row, by order, layer and quantity */
  rows: Record<string, Uint16Array>;
  /** each unit's reach below and above 0, (2, L, H), by state */
  reach: Record<string, Float32Array>;
}

/** The view's ask, see `LiveAsk` in rnnviz/page/live_session.py. */
export interface Ask {
  client?: string;
  seq?: number;
  text?: string;
  start?: number;
  columns?: number;
  quantity?: string;
  layer?: number;
  order?: string;
  unit?: number | null;
  pin?: number | null;
  why?: boolean;
  base?: number;
  digest?: string; // of the fixed part that the view holds
  write?: number;
  at?: number;
  temperature?: number;
  top_k?: number | null;
  top_p?: number | null;
  fresh?: boolean;
  model?: string; // another network that is to read the text
  extra?: object; // more of a fresh answer's header
}

export type { Answer };

/** What an answer shows of a text: `Selection` in live_answer.py. */
export interface Selection {
  length: number;
  start: number;
  stop: number;
  quantity: string;
  layer: number;
  order: string;
  unit: number | null;
}

/** The rows of a selection that the view holds: `BrowserRows` in live_answer.py. */
export interface BrowserRows {
  textRows: number;
  unitRows: number;
  low: number;
  high: number;
}

/** The arrays of a .data file by name: level:K.keys|share|backoff, rows:ORDER,LAYER,QUANTITY, reach:STATE. */
export type Arrays = Record<string, Uint8Array | Uint16Array | Uint32Array | Float32Array>;

/** The bits by which the cost of character `at` rises without each of those before it. */
export interface WhyBits {
  at: number;
  bits: Float32Array;
}

/** A text that is being read for its perplexity: Stretches, NgramReading. */
export interface TextReading {
  steps(): Generator<number>; // characters read
  done: number; // characters at the text's beginning whose costs stand
  unsettled: number;
  nll: Float32Array; // nats
  rank?: Uint32Array;
  entropy?: Float32Array; // nats
}

/** The figures of a scored text: `Score` in rnnviz/scoring/score.py. */
export interface ScoreFigures {
  characters: number;
  unknown: number;
  perplexity: number | null;
  perplexity_known: number | null;
  bits_per_character: number | null;
  bits_per_byte: number | null;
  normalised: number;
  replaced: number;
  bytes: number;
  unsettled: number;
}

/** An answer to the view. */
export interface PageAnswer {
  header: Answer;
  arrays: Arrays;
}

declare global {
  // Two lists of files, which build.py puts before offline.js.
  const AT_ONCE: string[];
  const FILES: string[];
}
