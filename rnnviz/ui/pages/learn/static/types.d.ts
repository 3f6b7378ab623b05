// What rnnviz/ui/pages/learn sends, and what a scene draws with.

import type { Header, Theme, Themes, Untyped, Words } from "../../../browser/static/types";
import type { Board } from "./board.js";

export type Cell = "mlp" | "ngram" | "rnn" | "gru" | "lstm";
export type SceneTheme = Theme & { cells: Record<Cell, string> } & { [name: string]: unknown };
export type Ramp = "diverging" | "sequential" | "surprisal";

export interface Answer extends Header {
  scene: number;
  module: string;
  step: number;
  steps: number;
  present: boolean;
  titles: string[];
  words: Words;
  language: string;
  themes: Themes<SceneTheme>;
  notice: string;
  code: StepCode | null;
  note: Note;
  formula: string;
  symbols: Symbols;
  query: Record<string, string>;
  room: RoomAnswer;
  data?: Untyped;
  error?: string;
}

/** What asking.py says of the room. */
export interface RoomAnswer {
  door: RoomDoor | null;
  trouble?: string;
  watches?: boolean;
}

/** The way into the room. */
export interface RoomDoor {
  key: string;
  short: string;
  url: string;
  qr: string;
  places: { address: string; interface: string }[];
  at: number;
}

/** What is asked of the room. */
export interface RoomWish {
  open?: boolean;
  key?: string;
  reveal?: number;
  again?: number;
  address?: string;
}

/** What ui/room/rooms.py tells the stage. */
export interface RoomLive {
  edition: number;
  phones: number;
  question: RoomQuestion | null;
}

/** What a revealed letter of Shannon's game shows: probabilities in the phone's order, costs in bits. */
export interface ToldLetters {
  truth: string;
  rows: { kind: string; p: number[]; bits: number; mean: number }[];
  letters: number;
  moves: string;
}

export interface RoomQuestion {
  number: number;
  key: string;
  text: string;
  options: string[];
  answered: number;
  counts: number[];
  revealed: boolean;
  over: boolean;
  told?: Untyped;
}

/** What notes.py says of a step. */
export interface Note {
  title: string;
  lines: string[];
  next: string;
  opens: string;
  appendix: [name: string, title: string][];
}

/** What the lecturer's window is told: numbers count from 1; `opens` is the scene's title. */
export interface DeskStep extends Note {
  scene: number;
  step: number;
  steps: number;
  notice: string;
  language: string;
  words: Words;
  colours: Record<string, string>;
  room: RoomLive | null;
}

/** A key that was pressed in the lecturer's window. */
export interface DeskKey {
  key: string;
  shift: boolean;
}

/** A step's code and what it prints; empty while nobody looks. */
export interface StepCode {
  code?: string;
  printed?: string;
}

/** What each symbol of symbols.py is, and its shape in letters. */
export type Symbols = Record<string, { is: string; shape: string }>;

/** What a symbol is in the picture that is shown. */
export interface Standing {
  shape?: string;
  value?: number | string | number[][];
}

/** Ask the server to change what it remembers. */
export type Ask = (change: Record<string, unknown>) => void;

/** A scene's data comes with its words. */
export type Said<Data> = Data & { words: Words };
export type Draw<Data> = (board: Board, data: Said<Data>, ask: Ask) => void;

/** What a scene's module exports. */
export interface Scene {
  draw: Draw<Untyped>;
}

/** Attributes of a shape: SVG's own names, and short ones that `Board` translates. */
export type Attributes = Record<string, string | number | boolean | null | undefined>;
export type Style = string | (Attributes & { style?: string });

/** What an element answers to. */
export interface Answers {
  enter?: () => void;
  leave?: () => void;
  click?: () => void;
  drag?: (x: number, y: number) => void;
  slide?: Slide;
  label?: string;
}

/** What arrow keys do to something that can be dragged. */
export interface Slide {
  value: number;
  min: number;
  max: number;
  step: number;
  said?: string;
  change: (value: number) => void;
}

/** What is different where a motion begins: x and y in units, relative to the place where it ends. */
export type Motion = { x?: number; y?: number; scale?: number } & Record<string, string | number>;

/** Milliseconds after the step was entered; `to` where CSS can't tell the end by itself. */
export interface MotionTimes {
  begin?: number;
  lasts?: number;
  to?: Record<string, string | number>;
}

/** Where a control or a picture stands, in units. */
export type Area = [x: number, y: number, width?: number, height?: number];
export type Range = [low: number, high: number];

/** x and y; a line breaks where y is null. */
export type Point = (number | null)[];
export type Ticks = [value: number, text: string][];

export interface Line {
  points: Point[];
  colour?: string;
  dash?: string;
  width?: number;
  dots?: boolean;
  label?: string;
  at?: number;
  anchor?: string;
  stands?: string;
}

export interface ChartOptions {
  log?: boolean;
  logX?: boolean;
  xTicks?: Ticks;
  yTicks?: Ticks;
  xTitle?: string;
  yTitle?: string;
  size?: number;
  lines?: Line[];
  marks?: { x: number; text?: string; colour?: string }[];
}

export interface MatrixOptions {
  x: number;
  y: number;
  values: number[][];
  cell?: number[];
  label?: string | string[];
  shape?: boolean;
  edges?: boolean;
  digits?: number;
  size?: number;
  full?: number;
  scale?: Ramp;
  colour?: string;
  name?: string;
  stands?: string;
  lit?: (i: number, j: number) => number;
  hover?: ((i: number | null, j: number) => void) | null;
  edit?: (i: number, j: number, value: number) => void;
  pick?: (i: number, j: number) => void;
  limit?: number;
}

/** A row of the small net's sum, from top to bottom. */
export interface SumRow {
  values: number[][];
  symbols?: string[][];
  words?: string;
  sign?: string;
  colour?: string;
  stands?: string;
  line?: boolean;
  full?: number;
}

/** A part of one unit's pre-activation, as a bar. */
export interface Term {
  said: string;
  value: number;
  stands?: string;
  colour?: string;
  strong?: boolean;
  line?: boolean;
  phi?: boolean;
}

// ---- each scene's data, as its Python twin answers ----

export interface Counts {
  n: number;
  limit: number;
  longest: number;
  size: number;
  table: string;
  sizes: number[][];
  seen: number[][];
  never: number[];
  network: string;
  parameters: number;
  order: number;
  text: string;
  known: boolean[];
  full: number;
  rows: {
    kind: Cell;
    name: string;
    held: number | null;
    bits: number[] | null;
    chances?: number[];
    mean?: number;
  }[];
}

/** What three rules keep of a text. */
export interface Kept {
  first: string;
  t: number;
  steps: number;
  short: number;
  character: string;
  rows: {
    kind: string;
    before: string | number[];
    after: string | number[];
    times: number | null;
    next: [symbol: string, chance: number][];
  }[];
}

/** How far apart two texts are by three rules, and what each rule costs. */
export interface Rules {
  first: string;
  second: string;
  t: number;
  steps: number;
  short: number;
  size: number;
  rows: { kind: string; apart: number[]; bits: number; stored: string | null; work: number }[];
}

export interface MemorylessLayers {
  show: "layers";
  seed: number;
  pairs: string[];
  targets: number[];
  symbols: string[];
  X: number[][];
  W_xh: number[][];
  b_h: number[];
  H: number[][];
  W_hq: number[][];
  b_q: number[];
  O: number[][];
  P: number[][];
  losses: number[];
  loss: number;
}

export interface Memoryless {
  show: "texts";
  kind: string;
  kinds: [kind: string, label: string][];
  left: { text: string; marks: string[]; state: number[]; chances: number[] };
  right: { text: string; marks: string[]; state: number[]; chances: number[] };
  symbols: string[];
  prediction: number;
  state: number;
  alike: boolean;
  limit: number;
}

export interface RecurrenceReal {
  show: "unit";
  model: string;
  marks: string[];
  text: string;
  limit: number;
  t: number;
  unit: number;
  units: number[];
  count: number;
  states: number[][];
  input: number;
  before: number;
  bias: number;
  sum: number;
  h: number;
}

/** Matrices of the step that is shown have a row for each of `texts`. */
export interface RecurrenceSmall {
  show: "walk" | "figure" | "parameters";
  texts: string[];
  symbols: string[];
  longest: number;
  seed: number;
  t: number;
  grown: boolean;
  states: number[][][];
  outputs: number[][][];
  W_xh: number[][];
  W_hh: number[][];
  b_h: number[][];
  W_hq: number[][];
  b_q: number[][];
  x: number[][];
  before: number[][];
  from_input: number[][];
  from_state: number[][];
  pre_activation: number[][];
  state: number[][];
  output: number[][];
  sizes: Record<string, number>;
  parameters: number;
  tables: number[];
}

/** Where something was drawn, in units. */
export interface Laid {
  x: number;
  y: number;
  width: number;
  height: number;
}

export type Factor = "X" | "W_xh" | "H" | "W_hh";

export interface Product {
  X: number[][];
  W_xh: number[][];
  H: number[][];
  W_hh: number[][];
  sum: number[][];
  product: number[][];
  apart: number[][];
  difference: number;
  seed: number;
  edited: boolean;
  word: {
    t: number;
    steps: number;
    inputs: string;
    symbols: string[];
    x: number[][];
    before: number[][];
    W_xh: number[][];
    W_hh: number[][];
    from_input: number[][];
    from_state: number[][];
    sum: number[][];
    b_h: number[][];
    state: number[][];
  };
}

export interface WordPath {
  show: "path";
  at: number;
  letters: string;
  usual: string;
  symbols: string[];
  hidden: number[][];
  p: number[];
  before: number[];
  change: number;
  losses: [usual: number, here: number];
}

export interface WordWhy {
  show: "why";
  kinds: number[][];
}

export interface WordBatch {
  show: "batch";
  n: number;
  most: number;
  t: number;
  T: number;
  units: number;
  windows: string[][];
  symbols: string[];
  x: number[][];
}

export interface Word {
  show: "word";
  word: string;
  seed: number;
  at: number;
  steps: number;
  inputs: string[];
  labels: string[];
  targets: number[];
  symbols: string[];
  p: number[][];
  losses: number[];
  hidden: number[][];
  perplexity: number;
  curve: number[];
  written: string;
}

export interface PerplexityGame {
  show: "game";
  text: string;
  word: string;
  case: string;
  size: number;
  p: number[];
  costs: (number | null)[];
  mean: number | null;
  perplexity: number | null;
}

export interface PerplexityHeart {
  show: "heart";
  train: number[];
  held: number[];
  uniform: number;
  best: number;
  pass: number;
  passes: number;
  vote: string;
}

export interface PerplexityBooks {
  show: "books";
  rows: { title: string; characters: number; perplexity: number; log10: number; mean: number }[];
  range: Range;
}

export interface PerplexityLength {
  show: "length";
  rows: { text: string; cut: number; log10: number[]; perplexity: number[] }[];
  kind: string;
  kinds: string[];
  limit: number;
}

export interface PerplexityRain {
  show: "rain";
  beginning: string;
  rows: { ending: string; bits: number[]; perplexity: number; log10: number; times: number; reads: string }[];
  uniform: number;
  kind: string;
  kinds: string[];
  limit: number;
}

export interface PerplexityBits {
  show: "bits";
  text: string;
  limit: number;
  kind: string;
  kinds: string[];
  surprisals: number[];
  mean: number;
  perplexity: number;
  rows: { name: string; bits: number }[];
}

/** Bounds, and where they may lie. */
export interface Bounded {
  lower: number;
  upper: number;
  interval: [low: number, high: number];
}

export interface PerplexityShannon {
  show: "shannon";
  sentence: number;
  sentences: number;
  given: string;
  shown: string;
  left: number;
  tried: string;
  history: string;
  limit: number;
  ranks: number[];
  found: number;
  class: Bounded | null;
  models: { kind: string; bits: number; bounds: Bounded | null }[];
  least: number;
  uniform: number;
}

export interface BackwardsClip {
  show: "clip";
  gradient: [number, number];
  clipped: [number, number];
  norms: [number, number];
  threshold: number;
  sizes: Record<string, [before: number, after: number]>;
  numbers: number;
  norm: number;
  short: number;
  factor: number;
  inputs: string;
}

export interface BackwardsCost {
  show: "cost";
  cut: number;
  cuts: number[];
  lengths: number[];
  units: number;
  measured: [forward: number, both: number, update: number][];
  kept: [all: number, cut: number][];
  alone: number;
  flows: [withState: number, without: number];
}

export interface BackwardsCut {
  show: "cut";
  steps: number;
  tau: number;
  inputs: string[];
  states: number[][];
  sizes: number[][];
  heard: boolean[][];
  full: number[][];
  left: number[][];
  norms: [full: number, left: number, out: number];
  kept: [all: number, left: number];
}

export interface BackwardsDial {
  show: "dial";
  radius: number;
  range: [number, number];
  power: number;
  lags: number;
  seed: number;
  matrix: number[][];
  size: number;
  eigenvalues: [re: number, im: number][];
  linear: number[];
  tanh: number[];
  rule: number[];
  norms: [low: number, high: number];
}

export interface BackwardsFlow {
  show: "flow";
  text: string;
  limit: number;
  curves: { cell: "rnn" | "gru" | "lstm"; points: number[]; left: string }[];
}

export interface BackwardsRandom {
  show: "random";
  keep: number;
  draw: number;
  steps: number;
  draws: number;
  terms: number[];
  weights: number[][];
  average: number[];
  estimates: number[];
  at: number[];
  mean: number[];
  band: number[];
  full: number;
  regular: number;
  cut: number;
  last: number;
  error: number;
}

export interface BackwardsWord {
  show: "word";
  steps: number;
  walked: number;
  recurrent: boolean;
  inputs: string[];
  labels: string[];
  alphabet: string[];
  loss: number;
  losses: number[];
  chances: number[];
  output: number[][];
  fromLoss: number[][];
  fromNext: number[][];
  state: number[][];
  slope: number[][];
  delta: number[][];
  before: number[][];
  terms: number[][][];
  added: number[][][];
  cached: { each: Record<string, number>; numbers: number; bytes: number };
}

export interface BackwardsGap {
  show: "gap";
  gap: number;
  gaps: number[];
  gates: string;
  clipping: string | null;
  updates: number;
  last: number;
  every: number;
  chance: number;
  sequence: string;
  rows: { cell: string; curves: number[][]; ranges: Record<string, [low: number, high: number]> }[];
}

export interface BackwardsLinear {
  show: "linear";
  word: string;
  marks: string[];
  t: number;
  s: number;
  unit: number;
  against: string;
  learned: string;
  rounds: number[][];
  joins: number;
  difference: number;
  shares: number[];
  /** The minGRU and the GRU, at steps s and t. */
  rows: {
    name: string;
    perplexity: number;
    keep: [number[], number[]];
    write: [number[], number[]];
    apart: [gates: number, written: number];
  }[];
}

export interface Questions {
  key: string;
  number: number;
  count: number;
  exercise: number | null;
  question: string;
  options: string[];
  pick: number | null;
  score: { right: number; given: number };
  answer?: number;
  reason?: string;
  setting?: number;
  settings?: string[];
  dial?: string;
  rows?: { label: string; value: string; share: number | null }[];
  table?: Measured | null;
}

/** What was measured under some conditions, one a column. */
export interface Measured {
  title: string;
  columns: string[];
  column: number | null;
  rows: { label: string; values: string[] }[];
  measured: string;
}

/** A step of a scene: the scene's number from 1, the step from 0. */
export interface Place {
  scene: number;
  step: number;
}

export interface Summary {
  show: "points" | "further";
  rows?: { number: string; of: string; says: string; go: Place }[];
  score?: { right: number; given: number };
  count?: number;
  go?: Place;
  reading?: [authors: string, year: number, title: string][];
}

// ---- steps drawn by kit.js ----

/** A part of a picture: rnnviz/lecture/pictures.py says what each kind has. */
export interface KitNode {
  kind: string;
  stands?: string;
  here?: unknown;
  parts: KitNode[];
  lines: KitNode[];
  sizes: number[];
  marks: string[];
  values: Untyped[];
  rows: Untyped[];
  ys: Untyped[];
  name: string;
  [more: string]: Untyped;
}

export interface KitControl {
  name: string;
  kind: "slider" | "choice" | "field" | "again" | "toggle";
  label: string;
  value: unknown;
  [more: string]: Untyped;
}

/** What a step answers: a picture, or the question before it. `pick` is the control that ends the question. */
export interface KitAnswer {
  key: string;
  pick: string;
  title: string;
  controls: KitControl[];
  picture?: KitNode;
  question?: KitQuestion;
}

/** `right` and `predicted` are there with the picture. */
export interface KitQuestion {
  text: string;
  options: string[];
  again: string;
  right?: number;
  predicted?: number;
}
