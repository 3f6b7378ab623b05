// Types of data from Streamlit, Plotly and the server. No browser fetches this file.

/** The argument with which Streamlit's components v2 call a component. */
export interface Component {
  parentElement: HTMLElement;
  data: Uint8Array | null;
  setTriggerValue(name: string, value: unknown): void;
}

/** What a view's modules are given, from `_look` in views.py: its element's class, its style sheet, its elements. */
export interface Look {
  root: string;
  styles: string;
  markup: string;
}

/** Plotly ships no types: its figures are as untyped as the JSON they come in. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Untyped = any;

export interface Figure {
  data: Untyped[];
  layout: Untyped;
}

declare global {
  interface Window {
    Plotly?: {
      react(place: HTMLElement, data: Untyped[], layout: Untyped, config: object): Promise<void>;
      purge(place: HTMLElement): void;
    };
  }
}

/** A theme of figures/themes.py; the scales are ramps of as many colours as the page asked for. */
export interface Theme {
  name: "light" | "dark";
  background: string;
  text: string;
  muted: string;
  grid: string;
  axis: string;
  model: string;
  ngram: string;
  memoryless: string;
  uniform: string;
  bar: string;
  actual: string;
  cursor: string;
  pinned: string;
  diverging: string[];
  sequential: string[];
  surprisal: string[];
  reason: string[];
  bands: string[];
  versus: string[];
}
export type Themes<T = Theme> = { light: T; dark: T };

export type Words = Record<string, string>;

/** An array of an answer: flat, with its shape. */
export type Shaped<A> = A & { shape: number[] };
export type WireArray = Shaped<Float32Array | Uint32Array | Uint16Array | Uint8Array>;

/** The part of every answer's header that names its ask: the browser's id and the ask's number. */
export interface Header {
  client?: string;
  seq?: number;
}

/** The heat map's data: the states of the characters from `start` on, as colour indices. */
export interface States {
  start: number;
  units: number;
  states: Uint8Array;
  unitOfRow: Uint16Array | null; // null: row n is unit n
  isUnknown(t: number): boolean;
}

/** The prediction bars' data. */
export interface Predictions {
  ids: ArrayLike<number>;
  holds(t: number): boolean;
  expected(t: number): { id: number; p: number }[];
  symbol(id: number): string;
  probability(t: number): number;
  entropy(t: number): number;
  reshapedAt(t: number): Reshaped | undefined;
  memorylessAt(t: number): Reshaped | undefined; // the memoryless network's probabilities of the same symbols
}

/** A reshaped prediction, see `reshaped` in page/live_answer.py. */
export interface Reshaped {
  p: Float32Array; // of the listed symbols
  actual: number;
  left: number;
}

/** The columns and rows of a heat map that are drawn, and their size in pixels. */
export interface Window2D {
  first: number;
  last: number;
  columns: number;
  rows: { from: number; count: number };
  width: number;
  height: number;
  strip: number;
}
