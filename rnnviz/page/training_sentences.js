// What a training means, in sentences: each figure with the one that it is to be compared with.

/** @import { Phrase } from "../ui/browser/static/messages.js" */
/** @import { Numbers } from "../ui/browser/static/number_format.js" */
/** @import { TrainingRun } from "./training_run.js" */
/** @import { TrainingReport } from "./types" */

const GROWN = 10; // times the first norm of the gradient: then its growth is said

const WORSE = 1.05; // times the best perplexity: then it overfits

/** @param {TrainingRun} run @param {Phrase} phrase @param {Numbers} numbers */
export function sentencesOf(run, phrase, numbers) {
  const { started, ended, measured, diverges } = run;
  if (!started || !run.reports.length) return [];
  const sentences = diverges ? divergence(run, phrase, numbers) : [];
  if (measured && (ended || !diverges)) sentences.push(...standing(run, measured, phrase, numbers));
  if (ended?.held_out) {
    const { characters: n, perplexity } = ended.held_out;
    sentences.push(phrase("training.held", { n: numbers.whole(n), perplexity: numbers.number(perplexity) }));
  }
  if (ended && measured) sentences.push(phrase("training.open"));
  return sentences;
}

/** What a report says, the best one at the end. @param {TrainingRun} run @param {TrainingReport} measured @param {Phrase} phrase @param {Numbers} numbers */
function standing({ started, ended, reports, uniform, diverges }, measured, phrase, numbers) {
  const { characters, train_perplexity: train, validation_perplexity: validation } = measured;
  const n = numbers.whole(characters);
  if (!started || validation === null) {
    const values = { n, perplexity: numbers.number(train), uniform: numbers.whole(uniform) };
    return [phrase("training.after.word", values)];
  }
  const { letters, ngram, ngram_order: order } = started;
  const last = reports[reports.length - 1];
  const values = { n, perplexity: numbers.number(validation), letters: numbers.number(letters) };
  const sentences = [phrase(ended && measured !== last ? "training.best" : "training.after", values)];
  const best = reports.findLast((report) => report.best);
  if (!diverges && best?.validation_perplexity && overfits(best, last)) {
    const since = numbers.whole(best.characters);
    sentences.push(phrase(ended ? "training.overfitted" : "training.overfits", { n: since }));
  } else if (ngram !== null && validation < Math.min(ngram, letters ?? Infinity))
    sentences.push(phrase("training.passed", { n: order, ngram: numbers.number(ngram) }));
  return sentences;
}

/** Whether a network has got worse on the validation text, and better on its own. @param {TrainingReport} best @param {TrainingReport} last */
const overfits = (best, last) =>
  Number(last.validation_perplexity) > WORSE * Number(best.validation_perplexity) &&
  last.train_perplexity < best.train_perplexity;

/** @param {TrainingRun} run @param {Phrase} phrase @param {Numbers} numbers */
function divergence({ reports, ended, uniform, norms, order }, phrase, numbers) {
  const perplexity = numbers.number(reports.at(-1)?.train_perplexity);
  const sentences = [
    ended?.reason === "diverged"
      ? phrase("training.diverged")
      : phrase("training.worse", { perplexity, uniform: numbers.whole(uniform) }),
  ];
  const [first, ...others] = norms.map(([, norm]) => norm);
  const last = Math.max(...others.filter(Number.isFinite));
  if (last > GROWN * first)
    sentences.push(
      phrase("training.exploded", { first: numbers.rough(first, 2), last: numbers.rough(last, 2) }),
    );
  // AdamW scales each weight's step by its own gradients: there clipping makes no smaller ones.
  const helps = order.recipe.clip === null && order.recipe.optimiser !== "adamw";
  return [...sentences, phrase(helps ? "training.advice.clip" : "training.advice")];
}

/** What to see in the curve. @param {TrainingRun} run @param {Phrase} phrase */
export function captionOf({ started, diverges }, phrase) {
  if (diverges) return phrase("training.curve.up");
  return started?.ngram
    ? phrase("training.curve", { n: started.ngram_order })
    : phrase("training.curve.word");
}

/** The time left, and the speed; "" before the first report. @param {TrainingRun} run @param {Phrase} phrase @param {Numbers} numbers */
export function timeLeft({ reports, order }, phrase, numbers) {
  const last = reports.at(-1);
  if (!last) return "";
  const left = Math.ceil((1 - last.share) * order.seconds);
  const time =
    left < 90 ? phrase("text.seconds", { n: left }) : phrase("text.minutes", { n: Math.ceil(left / 60) });
  return phrase("training.left", { time, speed: numbers.rough(last.characters_per_second, 2) });
}
