// Types of the page's contents, from build.py, and of the data between its modules.

import type { Answer, Fixed } from "../ui/pages/explore/static/types";

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
  static?: string;
  write?: number;
  at?: number;
  temperature?: number;
  top_k?: number | null;
  top_p?: number | null;
  fresh?: boolean;
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

/** Arrays by name: weight:NAME, level:K.keys|share|backoff, rows:ORDER,LAYER,QUANTITY, reach:STATE. */
export type Arrays = Record<string, Uint8Array | Uint16Array | Uint32Array | Float32Array>;

/** The bits by which the cost of character `at` rises without each of those before it. */
export interface WhyBits {
  at: number;
  bits: Float32Array;
}

/** An answer to the view. */
export interface PageAnswer {
  header: Answer;
  arrays: Arrays;
}

/** The argument of page.js's `start`, from boot.js. */
export interface Parts {
  model: PageModel;
  arrays: Arrays;
  markup: string;
  styles: string;
  /** unpacks the source of Plotly */
  plotly: () => Promise<BlobPart>;
  /** shows an error on the page */
  showError: (error: unknown) => void;
}
