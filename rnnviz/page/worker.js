// The page's worker: it reads whole texts, and trains networks; a page starts one of it for each.

import { serveTexts } from "./text_worker.js";
import { serveTraining } from "./training_worker.js";

/** @import { TrainingMessage, WorkerMessage } from "./types" */

const TEXT_MESSAGES = ["network", "read", "expect", "stop"];

/** @param {any} scope the worker's global object, for which the DOM's types have no name */
export function serve(scope) {
  const [read, train] = [serveTexts(scope), serveTraining(scope)];
  scope.onmessage = (/** @type {{ data: WorkerMessage | TrainingMessage }} */ { data }) =>
    TEXT_MESSAGES.includes(data.kind)
      ? read(/** @type {WorkerMessage} */ (data))
      : train(/** @type {TrainingMessage} */ (data));
}
