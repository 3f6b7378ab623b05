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
  query: Record<string, string>;
  data?: Untyped;
  error?: string;
}

/** Ask the server to change what it remembers. */
export type Ask = (change: Record<string, unknown>) => void;

export type Draw<Data> = (board: Board, data: Data & { words: Words }, ask: Ask) => void;

/** What a scene's module exports. */
export interface Scene {
  draw: Draw<Untyped>;
}

/** Attributes of a shape: SVG's own names, and short ones that `Board` translates. */
export type Attributes = Record<string, string | number | boolean | null | undefined>;
export type Style = string | (Attributes & { style?: string });
export type Into = SVGElement | undefined;

/** What an element answers to. */
export interface Answers {
  enter?: () => void;
  leave?: () => void;
  click?: () => void;
  drag?: (x: number, y: number) => void;
  label?: string;
}

/** Where a control or a picture stands, in units. */
export interface Area {
  x: number;
  y: number;
  width?: number;
  height?: number;
}

export type Point = [x: number, y: number | null];
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
}

export interface ChartOptions {
  x: number;
  y: number;
  width: number;
  height: number;
  xs: [low: number, high: number];
  ys: [low: number, high: number];
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
  cell?: [width: number, height: number];
  label?: string | string[];
  shape?: boolean;
  digits?: number;
  size?: number;
  full?: number;
  scale?: Ramp;
  colour?: string;
  name?: string;
  lit?: (i: number, j: number) => number;
  hover?: ((i: number | null, j?: number) => void) | null;
  edit?: (i: number, j: number, value: number) => void;
  pick?: (i: number, j: number) => void;
  limit?: number;
}
