// Types of the page's contents, from build.py, and of the data between its modules.

import type { Theme, Themes } from "../ui/browser/static/types";
import type { Answer, Fixed, Scale } from "../ui/pages/explore/static/types";
import type { Fixed as ViewerFixed } from "../ui/pages/perplexity/static/types";

/** The files of a page, by name; fixed parts and openings by language. */
export interface Index {
  first: Record<string, string>; // the network with which a page begins, by language
  networks: Record<string, { weights: string; data: string; fixed: Record<string, string> }>;
  openings: Record<string, string>;
  successors: Record<string, string>; // networks of the versions before, and those that replace them
  texts: Record<string, string>; // what the part for whole texts says
  worker: string; // the script that reads whole texts, and trains
  training: Record<string, string>; // what the part that trains has, by language
  corpora: Record<string, Corpus>; // texts to train on, by name
  documentation?: string; // the address of a page that explains; "" for none
  offline?: string; // the service worker; a page of one file has none
}

/** A text to train on: its file, what a card says of it, and the first sentence to watch. */
export interface Corpus {
  file: string;
  name: string;
  title: string;
  licence: string;
  language: string;
  ends: boolean;
  watched: string;
}

/** What the page's script has beside its modules. */
export interface Look {
  markup: string;
  styles: string;
  texts: { markup: string; viewer: { markup: string; styles: string } };
  training: string; // its markup
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
  end?: number; // the symbol of a text's end; none: texts don't end
}

/** A weighted sum of a layer's units, see `WeightedSum` in rnnviz/networks/model_card.py. */
export interface WeightedSum {
  weights: Float32Array;
  bias: number;
  layer: number;
}

export type Tensors = Record<string, Float32Array>;

/** One level of an n-gram model's tables: see ngram.js. */
export interface Level {
  keys: Uint32Array | Float64Array;
  share: Float32Array | Float64Array;
  backoff: Float32Array | Float64Array;
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
  /** each row's reach below and above 0, (2, L, rows), by state */
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
  write?: boolean;
  at?: number;
  tree?: number | null;
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

/** The arrays of a .data file by name: level:K.keys|share|backoff, rows:ORDER,LAYER,QUANTITY, reach:STATE, sums:STATE. */
export type Arrays = Record<string, Uint8Array | Uint16Array | Uint32Array | Float32Array>;

/** The bits by which the cost of character `at` rises without each of those before it. */
export interface WhyBits {
  at: number;
  bits: Float32Array;
}

/** The unchanging part of the text viewer and of the page around it. */
export type TextFixed = Omit<ViewerFixed, "names" | "window" | "context">;

/** A network of the page, once it is here. */
export interface PageNetwork {
  model: PageModel;
  tensors: Tensors;
}

/** A network with what whole texts show of it. */
export interface ChosenNetwork extends PageNetwork {
  name: string;
  title: string;
  titles: Record<string, string>; // of all networks of the page, by name
  vocabularySize: number;
  usualPerplexity: number | null; // on text that it was not trained on
}

/** Messages to the worker (worker.js) on texts: see text_worker.js. */
export interface NetworkMessage {
  kind: "network";
  id: number;
  key: string;
  config: Config;
  tensors: Tensors;
  symbols: string[];
  normaliser: Record<string, string>;
  unknownCost: number;
}
export interface ReadMessage {
  kind: "read";
  id: number;
  key: string;
  text: string;
}
export interface ExpectMessage {
  kind: "expect";
  id: number;
  key: string;
  position: number;
}
export type WorkerMessage = NetworkMessage | ReadMessage | ExpectMessage | { kind: "stop"; id: number };

/** The recipe of a training in the page: fields of `TrainConfig` in rnnviz/networks/config.py, by their names. */
export interface Recipe {
  cell: "rnn" | "gru" | "lstm";
  hidden_size: number;
  activation: "tanh" | "relu";
  batch: number;
  steps: number;
  learning_rate: number;
  weight_decay: number;
  clip: number | null;
  optimiser: "adamw" | "sgd" | "momentum";
  initialisation: "torch" | "normal" | "identity";
  sigma: number;
  fresh_rows: number;
  min_count: number;
  seed: number;
}

/** A training that is asked for. `corpus` and the rest go into the card. */
export interface TrainingOrder {
  id: string; // of this training alone
  source: string; // the reader's choice: a text of the page's, "hello", or "own"
  text: string; // as it stands in its file
  ends?: boolean; // whether each line is a text that ends
  corpus: { name: string; title: string; licence: string; language: string };
  recipe: Recipe;
  seconds: number; // of training
  version: string; // of rnnviz
}

/** Messages to the worker that trains: see training_worker.js. A training's answers bear its `id`. */
export type TrainingMessage =
  | { kind: "train"; id: number; order: TrainingOrder }
  | { kind: "resume"; id: number; snapshot: TrainingSnapshot } // paused until "continue"
  | { kind: "pause" | "continue" | "end"; id: number } // a pause sends a snapshot; "end": enough, score what there is
  | { kind: "snapshot"; id: number };

/** The worker's answers. */
export type TrainingAnswer =
  | { id: number; kind: "started"; started: TrainingStart }
  | { id: number; kind: "weights"; tensors: Tensors; characters: number } // for the picture, a few times a second
  | { id: number; kind: "report"; report: TrainingReport }
  | { id: number; kind: "snapshot"; snapshot: TrainingSnapshot } // every few seconds, and when asked for
  | { id: number; kind: "ended"; ended: TrainingEnd }
  | { id: number; kind: "error"; error: string; values?: Record<string, string | number> }; // a key of the page's words, or a message

export interface TrainingStart {
  config: Config;
  symbols: string[];
  normaliser: string;
  parameters: number;
  characters: { train: number; validation: number; held_out: number }; // the last two are 0 for a short text
  dropped: number; // different characters that are read as unknown
  uniform: number; // perplexities on the validation text, or null without one
  letters: number | null; // of letter frequencies
  ngram: number | null;
  ngram_order: number;
}

/** `StepReport` in rnnviz/lab/fit/step_report.py. */
export interface TrainingReport {
  step: number;
  characters: number;
  seconds: number; // of training
  share: number; // of the run, 0 … 1
  train_perplexity: number; // since the last report
  validation_perplexity: number | null;
  gradient_norms: [step: number, norm: number][]; // before clipping, the largest ones since the last report
  learning_rate: number;
  characters_per_second: number;
  best: boolean;
  sample: string;
}

/** All that a training goes on with: it can be cloned, and kept in IndexedDB. */
export interface TrainingSnapshot {
  order: TrainingOrder;
  started: TrainingStart;
  reports: TrainingReport[];
  tensors: Tensors; // the present weights, in torch's shapes
  state: Record<string, unknown>; // the trainer's own
}

export interface TrainingEnd {
  reason: "done" | "ended" | "diverged";
  description: Description; // with its card
  tensors: Tensors; // the best
  held_out: { characters: number; unknown: number; perplexity: number; bits_per_character: number } | null;
}

/** A training as the browser keeps it, beside its order; one that has ended has no `state`. */
export interface KeptRun extends Omit<TrainingSnapshot, "order" | "state"> {
  id?: string; // its order's
  name: string; // of the network, in the page's list
  state?: Record<string, unknown>;
  ended?: TrainingEnd;
}

/** A setting of `TrainConfig` that the reader may change: its words and limits, from training_words.py. */
export interface Dial {
  name: keyof Recipe;
  label: string;
  help: string;
  more: boolean; // whether it is under More
  choices: [value: string | number, words: string][]; // none: a number
  low: number;
  high: number;
  whole: boolean;
  off: number | null; // the number that stands for null
}

/** The unchanging part of the page's training. */
export interface TrainingFixed {
  words: Record<string, string>;
  version: string; // of rnnviz
  dials: Dial[];
  applying: Record<string, Record<string, string[]>>; // names of dials, by cell and initialisation
  times: [seconds: number, words: string][];
  recipes: Record<"text" | "word", Recipe & { seconds: number }>;
  shortestSplit: number; // characters
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
