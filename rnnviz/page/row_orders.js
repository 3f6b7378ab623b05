// The order of units in the heat map, and their reach, for a network that comes without them: a file of the reader's.
// The methods are those of rnnviz/figures/live.py (`seriate`, `steady`) and rnnviz/page/shown_units.py (`unit_reach`).

const WINDOW_CHARS = 8; // over which slowness takes means
const REACH_PERCENTILE = 98;
const MIN_SIDE_RATIO = 0.2;
const POWER_STEPS = 200; // of the power iteration; the picture needs no more digits

/** @typedef {{ T: number, H: number, values: Float32Array }} Plane values (T, H) by rows */

/** The columns of a plane, each with mean 0. @param {Plane} plane @returns {Float64Array[]} */
function centred({ T, H, values }) {
  return Array.from({ length: H }, (_, unit) => {
    const column = Float64Array.from({ length: T }, (_, t) => values[t * H + unit]);
    const mean = column.reduce((sum, value) => sum + value, 0) / T;
    return column.map((value) => value - mean);
  });
}

/** @param {Float64Array} x @param {Float64Array} y */
function dot(x, y) {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i] * y[i];
  return sum;
}

/** The `count` units that change least often, the slowest first. @param {Plane} plane @param {number} count @returns {number[]} */
export function steady({ T, H, values }, count) {
  const window = Math.min(WINDOW_CHARS, Math.max(1, T >> 1));
  const means = { T: T - window + 1, H, values: new Float32Array((T - window + 1) * H) };
  for (let t = 0; t < means.T; t++)
    for (let unit = 0; unit < H; unit++) {
      let sum = 0;
      for (let s = t; s < t + window; s++) sum += values[s * H + unit];
      means.values[t * H + unit] = sum / window;
    }
  const variances = centred({ T, H, values }).map((column) => dot(column, column) / T);
  const slow = centred(means);
  const share = slow.map((column, unit) => dot(column, column) / means.T / Math.max(variances[unit], 1e-9));
  // A QR decomposition with column pivoting: each unit is chosen for the slow part that the earlier ones leave.
  const rest = slow.map((column, unit) => column.map((value) => value * share[unit]));
  /** @type {number[]} */
  const chosen = [];
  while (chosen.length < Math.min(count, H)) {
    const left = rest.map((column, unit) => (chosen.includes(unit) ? -1 : dot(column, column)));
    const pivot = left.indexOf(Math.max(...left));
    chosen.push(pivot);
    const length = Math.sqrt(left[pivot]);
    if (length < 1e-12) continue;
    const direction = rest[pivot].map((value) => value / length);
    for (const column of rest) {
      const along = dot(column, direction);
      for (let t = 0; t < column.length; t++) column[t] -= along * direction[t];
    }
  }
  return chosen.sort((one, other) => share[other] - share[one]);
}

/** All units, similar ones side by side, constant ones last. @param {Plane} plane @returns {number[]} */
export function alike(plane) {
  const columns = centred(plane);
  const lengths = columns.map((column) => Math.sqrt(dot(column, column)));
  const moving = lengths.flatMap((length, unit) => (length > 1e-9 ? [unit] : []));
  const still = lengths.flatMap((length, unit) => (length > 1e-9 ? [] : [unit]));
  if (moving.length < 3) return lengths.map((_, unit) => unit);
  const n = moving.length;
  const similarity = new Float64Array(n * n);
  moving.forEach((one, i) => {
    for (let j = 0; j <= i; j++) {
      const other = moving[j];
      const correlation = dot(columns[one], columns[other]) / (lengths[one] * lengths[other]);
      similarity[i * n + j] = similarity[j * n + i] = Math.max(0, Math.min(1, (1 + correlation) / 2)) ** 2;
    }
  });
  const scale = moving.map(
    (_, i) => 1 / Math.sqrt(similarity.subarray(i * n, i * n + n).reduce((a, b) => a + b, 0)),
  );
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) similarity[i * n + j] *= scale[i] * scale[j];
  // Power iteration on I + D^-1/2 S D^-1/2, whose largest eigenvector, D^1/2, is known and taken out: what is left
  // converges to the second one, the Fiedler vector of the graph.
  const first = Float64Array.from(scale, (value) => 1 / value);
  const size = dot(first, first);
  let vector = Float64Array.from({ length: n }, (_, i) => Math.sin(i + 1));
  for (let step = 0; step < POWER_STEPS; step++) {
    const next = vector.map((value, i) => value + dot(similarity.subarray(i * n, i * n + n), vector));
    const along = dot(next, first) / size;
    for (let i = 0; i < n; i++) next[i] -= along * first[i];
    const length = Math.sqrt(dot(next, next));
    vector = next.map((value) => value / length);
  }
  const places = moving.map((unit, i) => ({ unit, place: vector[i] * scale[i] }));
  return [...places.sort((one, other) => one.place - other.place).map(({ unit }) => unit), ...still];
}

/** Each unit's reach below and above 0, (2, H). @param {Plane} plane */
export function reach({ T, H, values }) {
  const ends = new Float32Array(2 * H);
  for (let unit = 0; unit < H; unit++) {
    const sorted = Float64Array.from({ length: T }, (_, t) => values[t * H + unit]).sort();
    const [low, high] = [100 - REACH_PERCENTILE, REACH_PERCENTILE].map((share) =>
      Math.abs(percentile(sorted, share)),
    );
    const least = Math.max(MIN_SIDE_RATIO * Math.max(low, high), 1e-3);
    ends[unit] = Math.max(low, least);
    ends[H + unit] = Math.max(high, least);
  }
  return ends;
}

/** numpy's percentile: linear between two values. @param {Float64Array} sorted @param {number} share */
function percentile(sorted, share) {
  const at = ((sorted.length - 1) * share) / 100;
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}
