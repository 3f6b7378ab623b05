// What a training means, in sentences: each figure with the one that it is to be compared with.

/** @import { Phrase } from "../ui/browser/static/messages.js" */
/** @import { Numbers } from "../ui/browser/static/number_format.js" */
/** @import { TrainingRun } from "./training_run.js" */

const GROWN = 10; // times the first norm of the gradient: then its growth is said

/** @param {TrainingRun} run @param {Phrase} phrase @param {Numbers} numbers */
export function sentencesOf(run, phrase, numbers) {
  const { started, ended, measured } = run;
  if (!started || !measured) return [];
  if (run.diverges) return divergence(run, phrase, numbers);
  const { letters, ngram, ngram_order: order } = started;
  const { characters, train_perplexity: train, validation_perplexity: validation } = measured;
  const values = { n: numbers.whole(characters), uniform: numbers.whole(run.uniform) };
  const sentences = [
    validation === null
      ? phrase("training.after.word", { ...values, perplexity: numbers.number(train) })
      : phrase("training.after", {
          ...values,
          perplexity: numbers.number(validation),
          letters: numbers.number(letters),
        }),
  ];
  if (validation !== null && ngram !== null && validation < ngram)
    sentences.push(phrase("training.passed", { n: order, ngram: numbers.number(ngram) }));
  if (ended?.held_out) {
    const { characters: n, perplexity } = ended.held_out;
    sentences.push(phrase("training.held", { n: numbers.whole(n), perplexity: numbers.number(perplexity) }));
  }
  if (ended) sentences.push(phrase("training.open"));
  return sentences;
}

/** @param {TrainingRun} run @param {Phrase} phrase @param {Numbers} numbers */
function divergence({ reports, ended, uniform, norms }, phrase, numbers) {
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
  return sentences;
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
