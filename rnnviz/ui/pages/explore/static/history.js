// The text's undo history. The browser's own is lost when a script writes, and takes seconds to restore twenty
// thousand characters. This one also knows each character's writer.

const MAX_STEPS = 400; // steps that are kept

/**
 * One change: at character `at`, `into` replaced `out`.
 * @typedef {object} Step
 * @property {number} at in characters
 * @property {string} out
 * @property {string} into
 * @property {string} outBy the writer of each character of `out`: HUMAN or NETWORK
 * @property {string} intoBy
 * @property {string} kind "type", "delete" or a continuation's name: such a step may grow; "" for one that may not
 */

export const HUMAN = ".";
export const NETWORK = "n";

export class History {
  /** @type {Step[]} */
  done = [];
  /** @type {Step[]} */
  undone = [];
  mayGrow = false; // whether the last step may still grow

  clear() {
    this.done = [];
    this.undone = [];
    this.mayGrow = false;
  }

  /** Let the next change begin a new step. */
  seal() {
    this.mayGrow = false;
  }

  /** @param {Step} step */
  add(step) {
    const last = this.done.at(-1);
    const joined = this.mayGrow && last ? join(last, step) : null;
    if (joined) this.done.pop();
    this.done.push(joined ?? step);
    this.undone = [];
    this.mayGrow = step.kind !== "";
    if (this.done.length > MAX_STEPS) this.done.shift();
  }

  /** The inverse of the last step, or null. */
  undo() {
    const step = this.done.pop();
    this.mayGrow = false;
    if (!step) return null;
    this.undone.push(step);
    return invert(step);
  }

  /** The step that was undone last, or null. */
  redo() {
    const step = this.undone.pop();
    this.mayGrow = false;
    if (step) this.done.push(step);
    return step ?? null;
  }
}

/** @param {Step} step @returns {Step} */
function invert({ at, out, into, outBy, intoBy, kind }) {
  return { at, out: into, into: out, outBy: intoBy, intoBy: outBy, kind };
}

/**
 * Two steps as one, or null: letters of a word, characters deleted one after another, a continuation.
 * @param {Step} last @param {Step} step @returns {Step | null}
 */
function join(last, step) {
  if (last.kind !== step.kind) return null;
  const after = last.at + last.intoBy.length; // intoBy counts characters, into UTF-16 units
  if (step.kind === "delete") {
    const [earlier, later] = step.at === last.at ? [last, step] : [step, last];
    if (step.at !== last.at && step.at + step.outBy.length !== last.at) return null;
    return { ...step, out: earlier.out + later.out, outBy: earlier.outBy + later.outBy };
  }
  if (step.out || step.at !== after) return null;
  if (step.kind === "type" && /\s$/.test(last.into) && /^\S/.test(step.into)) return null;
  return { ...last, into: last.into + step.into, intoBy: last.intoBy + step.intoBy };
}
