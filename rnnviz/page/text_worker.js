// The worker that reads whole texts, so that the page stays alive meanwhile. A message in, its answers out, by `id`:
//
//   network   a network, by `key`, which later messages name
//   read      a text: progress with the figures so far, then its costs; "stop" ends it, and all before it, with what was read
//   expect    a network's predictions of a character of the text that it read last

import { Network, Reading } from "./engine.js";
import { pause } from "./reader.js";
import { TextScore } from "./scoring.js";
import { Stretches } from "./stretches.js";
import { characterAt, Vocabulary } from "./vocabulary.js";

/** @import { ExpectMessage, NetworkMessage, ReadMessage, WorkerMessage } from "./types" */

export const CONTEXT_CHARS = 500; // that a network reads before a character whose predictions are asked for
const PROGRESS_MS = 100; // milliseconds between two messages of progress
const LISTED_CHARACTERS = 5;

/** @param {any} scope the worker's global object @returns {(message: WorkerMessage) => void} */
export function serveTexts(scope) {
  /** @type {Map<string, { message: NetworkMessage, network: Network, ids: Uint32Array }>} */
  const networks = new Map();
  let stopped = 0; // the number of the last reading that is to stop

  const at = (/** @type {string} */ key) => {
    const entry = networks.get(key);
    if (!entry) throw new Error(`no network ${key}`);
    return entry;
  };

  /** @param {ReadMessage} message */
  async function read({ id, key, text }) {
    const entry = at(key);
    const { symbols, normaliser, unknownCost, config } = entry.message;
    const vocabulary = new Vocabulary(symbols, normaliser, config.end);
    const score = new TextScore(text, vocabulary, (ids) => new Stretches(entry.network, ids, unknownCost));
    const { length } = score;
    let since = 0;
    for (const done of score.steps()) {
      if (performance.now() - since < PROGRESS_MS) continue;
      scope.postMessage({ id, progress: { done, length, figures: score.figures() } });
      await pause(); // "stop" comes in here
      if (id <= stopped) break;
      since = performance.now();
    }
    const figures = score.figures();
    const { nll, rank, entropy } = /** @type {Stretches} */ (score.reading);
    const count = figures.characters;
    entry.ids = score.ids;
    const signed = Int32Array.from(rank.subarray(0, count), (n, i) => (score.ids[i] ? n : -n));
    const codes = codesOf(text, vocabulary, count);
    const columns = { codes, nll: nll.slice(0, count), rank: signed, entropy: entropy.slice(0, count) };
    const buffers = Object.values(columns).map(({ buffer }) => buffer);
    scope.postMessage({ id, figures, columns, length, units: score.at }, buffers);
  }

  /** @param {ExpectMessage} message */
  function expect({ id, key, position }) {
    const { message, network, ids } = at(key);
    const reading = new Reading(network, message.unknownCost);
    const context = Array.from(ids.subarray(Math.max(0, position - CONTEXT_CHARS), position));
    reading.read(context);
    const logs = reading.logs(context.length);
    const order = Array.from(logs.keys()).sort((a, b) => logs[b] - logs[a] || a - b);
    const top = order
      .slice(0, LISTED_CHARACTERS)
      .map((symbol) => [symbol ? message.symbols[symbol - 1] : "<unk>", Math.exp(logs[symbol])]);
    scope.postMessage({ id, prediction: { top, approximate: position > CONTEXT_CHARS } });
  }

  // One after another: a network's memory holds one text, and a text that is read pauses for messages.
  let queue = Promise.resolve();

  /** @param {WorkerMessage} data */
  async function answer(data) {
    try {
      if (data.kind === "network") {
        const network = new Network(data.config, data.tensors);
        networks.set(data.key, { message: data, network, ids: new Uint32Array() });
      } else if (data.kind === "read") await read(data);
      else if (data.kind === "expect") expect(data);
    } catch (error) {
      scope.postMessage({ id: data.id, error: String(error) });
    }
  }

  return (message) => {
    if (message.kind === "stop") stopped = message.id;
    else queue = queue.then(() => answer(message));
  };
}

/** The first characters of a text as they are read. @param {string} text @param {Vocabulary} vocabulary @param {number} count */
function codesOf(text, { replaced }, count) {
  const codes = new Uint32Array(count);
  for (let i = 0, unit = 0; i < count; i++) {
    const { code, end } = characterAt(text, unit);
    codes[i] = replaced.get(code) ?? code;
    unit = end;
  }
  return codes;
}
