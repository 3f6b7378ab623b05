// What build.py puts into the page, and what the page's parts hand to one another.

import type { Fixed, Answer as Header } from "../pages/explore/static/types";

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

/** All that the engine needs but the weights. */
export interface Made {
  fixed: Fixed;
  digest: string;
  opening: string;
  config: Config;
  unknownCost: number;
  normaliser: Record<string, string>; // what becomes of a character before it is read
  /** the unit of each row, by order, layer and quantity */
  rows: Record<string, Uint16Array>;
  /** how far below and above 0 each unit goes, (2, L, H), by quantity */
  reach: Record<string, Float32Array>;
}

/** What the view wants to see: Ask in rnnviz/ui/pages/explore/live_session.py. */
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

type Numbers = { [name in keyof Header["numbers"]]: Header["numbers"][name] | null };
export type Answer = Omit<Header, "numbers"> & { numbers: Numbers };

/** weight:NAME, level:K.keys|share|backoff, rows:ORDER,LAYER,QUANTITY */
export type Arrays = Record<string, Uint8Array | Uint16Array | Uint32Array | Float32Array>;

/** What character `at` costs more without each of those before it, bits. */
export interface Left {
  at: number;
  bits: Float32Array;
}

/** What the view is told. */
export interface Told {
  header: Answer;
  arrays: Arrays;
}

/** What boot.js hands to page.js. */
export interface Parts {
  made: Made;
  arrays: Arrays;
  markup: string;
  styles: string;
  /** the library's source, unpacked when it is wanted */
  plotly: () => Promise<BlobPart>;
  /** tell the reader what went wrong */
  say: (error: unknown) => void;
}
