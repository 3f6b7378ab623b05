// The optimisers and the schedule of rnnviz/lab/fit/optimiser.py, torch's formulas, in JavaScript.

/** @import { Parameter } from "./backpropagation.js" */
/** @import { Recipe } from "./types" */

const WARM_UP_PARTS = 50; // warm-up takes one part in so many of a run
const FINAL_RATE_SHARE = 0.01;
const MOMENTUM_SHARE = 0.9;
const [BETA_1, BETA_2, EPSILON] = [0.9, 0.99, 1e-8];

/**
 * The learning rate of a step at `read` of `total` that goes `coming` further: linear warm-up, then a cosine.
 * @param {number} highest @param {number} read @param {number} coming @param {number} total
 */
export function rate(highest, read, coming, total) {
  const warm = Math.max(1, Math.floor(total / WARM_UP_PARTS));
  if (read < warm) return (highest * Math.min(warm, read + coming)) / warm;
  const through = Math.min(1, (read - warm) / (total - warm));
  return highest * (FINAL_RATE_SHARE + (1 - FINAL_RATE_SHARE) * 0.5 * (1 + Math.cos(Math.PI * through)));
}

/** The norm of all gradients together. @param {Parameter[]} parameters */
export function gradientNorm(parameters) {
  let sum = 0;
  for (const { gradient } of parameters)
    for (let i = 0; i < gradient.length; i++) sum += gradient[i] * gradient[i];
  return Math.sqrt(sum);
}

export class Optimiser {
  step = 0;

  /** @param {Parameter[]} parameters @param {Recipe} recipe */
  constructor(parameters, recipe) {
    this.parameters = parameters;
    this.recipe = recipe;
    const memory = () => parameters.map(({ values }) => new Float32Array(values.length));
    /** The first moments, or the velocity; and the second moments. */
    this.first = recipe.optimiser === "sgd" ? [] : memory();
    this.second = recipe.optimiser === "adamw" ? memory() : [];
  }

  /** Change the weights. @param {number} learningRate @param {number} norm of the gradients, which clipping scales down */
  update(learningRate, norm) {
    const { recipe, parameters, first, second } = this;
    const { clip, weight_decay, optimiser } = recipe;
    const scale = clip === null ? 1 : 1 / Math.max(1, (norm + 1e-6) / clip); // 1e-6 is that of torch's clip_grad_norm_
    this.step++;
    for (const [n, { values, gradient, decays }] of parameters.entries()) {
      const decay = decays ? weight_decay : 0;
      if (optimiser === "adamw")
        this.adamw(values, gradient, first[n], second[n], learningRate, scale, decay);
      else descend(values, gradient, first[n], learningRate, scale, decay);
    }
  }

  /**
   * AdamW (Loshchilov & Hutter 2019).
   * @param {Float32Array} values @param {Float32Array} gradient @param {Float32Array} first @param {Float32Array} second
   * @param {number} learningRate @param {number} scale @param {number} decay
   */
  adamw(values, gradient, first, second, learningRate, scale, decay) {
    const size = learningRate / (1 - BETA_1 ** this.step);
    const root = 1 / Math.sqrt(1 - BETA_2 ** this.step);
    const kept = 1 - learningRate * decay;
    for (let i = 0; i < values.length; i++) {
      const d = gradient[i] * scale;
      const m = first[i] + (1 - BETA_1) * (d - first[i]);
      const v = BETA_2 * second[i] + (1 - BETA_2) * d * d;
      first[i] = m;
      second[i] = v;
      values[i] = values[i] * kept - (size * m) / (Math.sqrt(v) * root + EPSILON);
    }
  }
}

/**
 * Gradient descent, with momentum where there is a velocity.
 * @param {Float32Array} values @param {Float32Array} gradient @param {Float32Array | undefined} velocity
 * @param {number} learningRate @param {number} scale @param {number} decay
 */
function descend(values, gradient, velocity, learningRate, scale, decay) {
  for (let i = 0; i < values.length; i++) {
    let d = gradient[i] * scale + decay * values[i];
    if (velocity) {
      d += MOMENTUM_SHARE * velocity[i];
      velocity[i] = d;
    }
    values[i] -= learningRate * d;
  }
}
