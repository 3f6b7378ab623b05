// Types of the answers of rnnviz/ui/shell/dashboard.py.

import type { Figure, Header, Theme, Themes, WireArray, Words } from "../../../../ui/browser/static/types";

/** Colours by name; a palette is a list of [behind, letter]. */
export type DashboardTheme = Theme & { palettes: Record<string, [behind: string, letter: string][]> } & {
  [name: string]: unknown;
};

/** A text, a colour behind each character. `codes`, `levels` and `values` are names of arrays: digests of contents. */
export interface AboutText {
  codes: string;
  levels: string;
  values: string | null;
  palette: string;
  label: string;
  name: string;
  at: number | null;
  linked: boolean;
  marked: [start: number, stop: number] | null;
  bars: [symbol: string, probability: number][];
  pick: number | null;
}

/** A figure with its two sentences, see `DashboardPanel` in dashboard.py. */
export interface AboutPanel {
  name: string;
  title: string;
  notice: string;
  altText: string;
  limits: string;
  height: number;
  width: number;
  link: "" | "x" | "xy" | "points";
  pick: "" | "at" | "bar";
  picks: unknown[];
  figures: Themes<Figure>;
}

export interface Answer extends Header {
  address: { [name: string]: string | null };
  words: Words;
  language: string;
  themes: Themes<DashboardTheme>;
  levels: number;
  at: number | null;
  spans: [start: number, stop: number][];
  select: boolean;
  quiet: boolean;
  scale: [palette: string, low: string, high: string] | null;
  texts: AboutText[];
  panels: AboutPanel[];
}

export type Arrays = Record<string, WireArray>;
