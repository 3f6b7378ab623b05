// The curves of a training against characters read: perplexity beside its baselines, and the gradient's norm.

import { find } from "../ui/browser/static/dom.js";
import { Axis, drawPlot } from "../ui/browser/static/plot.js";

/** @import { Phrase } from "../ui/browser/static/messages.js" */
/** @import { Numbers } from "../ui/browser/static/number_format.js" */
/** @import { KitNode } from "../ui/pages/learn/static/types" */
/** @import { TrainingRun } from "./training_run.js" */

const FONT_PX = 12;
const LEVEL_PX = 24; // pixels between two labelled values upwards, at least
const TICK_PX = 110; // pixels between two labelled numbers of characters, at least

/** A value's name on an axis: 200K. @param {Numbers} numbers @param {number} value */
const short = (numbers, value) => numbers.format(value, { notation: "compact", maximumFractionDigits: 1 });

/** @param {number[]} values @param {(value: number) => string} name */
const named = (values, name) => Object.fromEntries(values.map((value) => [value, name(value)]));

/** @param {HTMLElement} root @param {TrainingRun} run @param {Phrase} phrase @param {Numbers} numbers @param {string} about what the curve says */
export function drawPlots(root, { started, reports, norms, order, uniform }, phrase, numbers, about) {
  const last = reports.at(-1);
  if (!started || !last) return;
  const name = (/** @type {number} */ value) => short(numbers, value);
  const end = last.characters / Math.max(last.share, 1e-3); // of the axis: where the time will be over
  const log_x = !started.characters.validation; // a word is learnt in the first of so many steps
  const ends = [log_x ? reports[0].characters : 0, end];
  const most = Math.max(1, Math.floor(find(root, "div.tr-plot").clientWidth / TICK_PX));
  const ticks = log_x ? undefined : named(new Axis(ends, [], false, 0).roundValues(most), name);
  const across = { x: phrase("training.x"), xs: ends, ticks, log_x, log: true };
  const { letters, ngram, ngram_order: n } = started;
  const xs = reports.map(({ characters }) => characters);
  const train = reports.map(({ train_perplexity }) => train_perplexity);
  const validation = reports.filter(({ validation_perplexity }) => validation_perplexity !== null);
  const levels = [uniform, letters, ngram].filter((level) => level !== null);
  const shown = [...train, ...validation.map(({ validation_perplexity: p }) => p)].filter(Number.isFinite);
  const high = 1.3 * Math.max(.../** @type {number[]} */ (shown), uniform);
  const low = Math.max(1, 0.75 * Math.min(.../** @type {number[]} */ (shown), ...levels));
  /** @param {string} kind @param {number | null} value @param {string} dash */
  const level = (kind, value, dash) => line(kind, ends, [value, value], { dash });
  /** @param {string} kind @param {number[]} places @param {(number | null)[]} ys @param {object} pen */
  const line = (kind, places, ys, pen) => ({
    name: phrase(`training.line.${kind}`, { n }),
    colour: kind,
    width: 1.5,
    xs: places,
    ys,
    ...pen,
  });
  const lines = [
    level("uniform", uniform, "dash"),
    level("letters", letters, "dot"),
    level("ngram", ngram, "dot"),
    line("train", xs, train, { colour: "muted" }),
    line(
      "validation",
      validation.map(({ characters }) => characters),
      validation.map(({ validation_perplexity }) => validation_perplexity),
      { colour: "model", width: 2.5 },
    ),
  ];
  const curve = find(root, "figure.tr-curve");
  const up = { y: phrase("training.y"), ys: [low, high], levels: levelsOf(low, high, curve, numbers) };
  plot(curve, { ...across, ...up, lines }, numbers, about);
  const { clip } = order.recipe;
  const places = norms.map(([characters]) => characters);
  const values = norms.map(([, norm]) => norm);
  const limited = { ...level("norm", clip, "dash"), name: "" };
  const gradient = { ...line("norm", places, values, { colour: "model" }), name: "" };
  const title = phrase("training.y.norm");
  const norm = find(root, "figure.tr-norm");
  const sizes = [...values, clip ?? values[0]].filter((value) => value > 0 && Number.isFinite(value));
  const [least, largest] = [Math.min(...sizes) / 1.3, Math.max(...sizes) * 1.3];
  const scale = { y: title, ys: [least, largest], levels: levelsOf(least, largest, norm, numbers) };
  plot(norm, { ...across, ...scale, lines: [limited, gradient] }, numbers, title);
}

/**
 * Labelled values of a figure's logarithmic axis, as many as its height has room for: 1, 2 and 5 times powers of ten, or fewer;
 * undefined: the axis's own.
 * @param {number} low @param {number} high @param {HTMLElement} figure @param {Numbers} numbers
 */
function levelsOf(low, high, figure, numbers) {
  if (low < 1e-6 || high > 1e6) return undefined;
  const most = Math.max(2, Math.floor(find(figure, "div.tr-plot").clientHeight / LEVEL_PX) - 1);
  const powers = Array.from({ length: 13 }, (_, i) => 10 ** (i - 6));
  const series = [[1, 2, 5], [1, 3], [1]].map((steps) =>
    powers.flatMap((power) => steps.map((n) => n * power)),
  );
  const every = (/** @type {number} */ n) => powers.filter((_, i) => (i - 6) % n === 0);
  const within = [...series, every(2), every(3), every(6)].map((values) =>
    values.filter((value) => value >= low && value <= high),
  );
  const few = within.find((values) => values.length <= most) ?? [];
  return named(few, (value) => numbers.rough(value, 1));
}

/** @param {HTMLElement} figure @param {object} node @param {Numbers} numbers @param {string} about */
function plot(figure, node, numbers, about) {
  const host = find(figure, "div.tr-plot");
  const { clientWidth: width, clientHeight: height } = host;
  if (width < 10 * FONT_PX || height < 6 * FONT_PX) return; // no room yet, or no more
  const { lines, ...rest } = /** @type {KitNode} */ (node);
  const drawn = lines
    .map((line) => ({ ...line, ys: line.ys.map((y) => (Number.isFinite(y) && Number(y) > 0 ? y : null)) }))
    .filter((line) => line.ys.some((y) => y !== null));
  host.ariaLabel = about;
  host.replaceChildren(drawPlot({ ...rest, lines: drawn }, numbers, FONT_PX, { width, height }));
}
