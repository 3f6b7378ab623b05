// The newest training, kept in this browser (IndexedDB), so that a closed page loses nothing: one database, one entry,
// and beside it, by its id, the order with its text, which is large and never changes. Two tabs share the database: the
// last that writes is kept, whole.
//
//   const kept = new KeptTraining();
//   await kept.keep(run, order)        // throws a FileError that says why nothing can be kept here
//   await kept.read()                  // null: there is none
//   await kept.forget()                // the whole database goes

import { FileError } from "./safetensors.js";

/** @import { KeptRun, TrainingOrder } from "./types" */

const DATABASE = "rnnviz-training";
const STORE = "newest"; // of a run, by this name, and its order, by its id
const RUN = "run";

/** The result of a request. @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const result = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** The reason, as a key of the page's words, why the browser keeps nothing. @param {unknown} error */
function reasonOf(error) {
  const { name } = /** @type {Error} */ (error);
  return name === "QuotaExceededError" ? "training.kept.full" : "training.kept.refused";
}

export class KeptTraining {
  /** @type {Promise<unknown>} the last work on the database: each waits for the one before it */
  last = Promise.resolve();

  /** @template T @param {(database: IDBDatabase) => Promise<T>} act @returns {Promise<T>} */
  async use(act) {
    const work = async () => {
      if (!globalThis.indexedDB) throw new FileError("training.kept.none");
      try {
        const request = indexedDB.open(DATABASE);
        request.onupgradeneeded = () => request.result.createObjectStore(STORE);
        const database = await result(request);
        try {
          return await act(database);
        } finally {
          database.close(); // an open one would keep another tab from deleting it
        }
      } catch (error) {
        throw new FileError(reasonOf(error));
      }
    };
    const turn = this.last.then(work);
    this.last = turn.catch(() => {});
    return turn;
  }

  /** Keep a training in place of the last one. @param {KeptRun} run @param {TrainingOrder} order */
  keep(run, order) {
    return this.use(async (database) => {
      const writing = database.transaction(STORE, "readwrite");
      const store = writing.objectStore(STORE);
      if (!(await result(store.count(order.id)))) {
        store.clear(); // another tab's, or an older one
        store.put(order, order.id);
      }
      store.put({ ...run, id: order.id }, RUN);
      // Not the requests: a full disk is told when all of it is to be written.
      await new Promise((resolve, reject) => {
        writing.oncomplete = resolve;
        writing.onabort = () => reject(writing.error);
      });
    });
  }

  /** The training that is kept, or null. @returns {Promise<{ run: KeptRun, order: TrainingOrder } | null>} */
  read() {
    return this.use(async (database) => {
      const store = database.transaction(STORE).objectStore(STORE);
      const run = await result(store.get(RUN));
      const order = run?.id && (await result(store.get(run.id)));
      return order ? { run, order } : null;
    });
  }

  /** Delete all that is kept. */
  forget() {
    return this.use(async (database) => {
      database.close();
      await result(indexedDB.deleteDatabase(DATABASE));
    });
  }
}
