// The engine of the page that needs no server answers what the core answers: every number, for every cell.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Network, Reading, weigh, write } from "../../rnnviz/page/engine.js";
import { answers } from "../../rnnviz/page/model.js";
import { describe } from "../../rnnviz/page/own_network.js";
import { Reader } from "../../rnnviz/page/reader.js";
import { alike, reach, steady } from "../../rnnviz/page/row_orders.js";
import { readNetwork } from "../../rnnviz/page/safetensors.js";
import { unpack } from "../../rnnviz/ui/browser/static/payload.js";

const CLOSE = 1e-4;
const folder = mkdtempSync(join(tmpdir(), "rnnviz-"));
execFileSync("python", ["-m", "tests.javascript.golden", folder], { stdio: "inherit" });
after(() => rmSync(folder, { recursive: true }));

/** @param {string} file */
function blocks(file) {
  const bytes = readFileSync(join(folder, file));
  const found = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32LE(at);
    found.push(new Uint8Array(bytes.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return found;
}

/** @param {string} file */
const json = (file) => JSON.parse(readFileSync(join(folder, file), "utf8"));
const look = json("look.json");

/** A network of the page: what it is made of, with the colours that the page's script has. @param {string} file */
function network(file) {
  const { header, arrays } = unpack(blocks(file)[0]);
  const { model: made } = header;
  made.fixed.themes = look.colours;
  const bytes = new Uint8Array(readFileSync(join(folder, file.replace(".golden", ".safetensors"))));
  return { made, arrays, ...readNetwork(bytes) };
}

const files = readdirSync(folder).filter((name) => name.endsWith(".golden"));

test("there is a network of every cell", () => assert.equal(files.length, 10));

for (const file of files) {
  const [, ...rest] = blocks(file);
  const { made, arrays, tensors } = network(file);

  for (const plain of [false, true])
    test(`${file}: every answer is the core's, ${plain ? "by plain loops" : "by WebAssembly"}`, () => {
      const own = answers(made, tensors, arrays, plain);
      for (let n = 0; n < rest.length; n += 2) {
        const ask = JSON.parse(new TextDecoder().decode(rest[n]));
        const theirs = unpack(rest[n + 1]);
        const mine = own.answer(ask);
        const { numbers, step, moves, ...head } = theirs.header;
        const { numbers: counted, step: stepped, moves: moved, ...about } = mine.header;
        const said = `ask ${n / 2}`;
        assert.deepEqual(about, head, said);
        assert.deepEqual(Object.keys(stepped ?? {}).sort(), Object.keys(step ?? {}).sort(), said);
        for (const [name, value] of Object.entries(step ?? {}))
          assert.ok(Math.abs(Number(stepped?.[name]) - Number(value)) < CLOSE, `${said}: ${name}`);
        const units = (/** @type {any} */ of) => of?.map((/** @type {number[]} */ [unit]) => unit);
        assert.deepEqual(units(moved), units(moves), said);
        moves?.forEach((/** @type {number[]} */ [, added], /** @type {number} */ n) =>
          assert.ok(
            Math.abs(Number(moved?.[n][1]) - added) < CLOSE,
            `${said}: what unit ${moves[n][0]} added`,
          ),
        );
        for (const [name, value] of Object.entries(numbers)) {
          const other = counted[/** @type {keyof typeof counted} */ (name)];
          if (typeof value === "number")
            assert.ok(Math.abs(Number(other) - value) < CLOSE * Math.max(1, value), name);
          else assert.equal(other, value, `${said}: ${name}`);
        }
        assert.deepEqual(Object.keys(mine.arrays).sort(), Object.keys(theirs.arrays).sort(), said);
        for (const [name, values] of Object.entries(theirs.arrays)) {
          const found = mine.arrays[name];
          assert.equal(found.length, values.length, `${said}: ${name}`);
          const colours = name === "states" || name === "unit"; // rounding may choose the next
          const most = colours ? 1 : values instanceof Float32Array ? CLOSE : 0;
          values.forEach((value, i) => {
            const apart = Math.abs(found[i] - value);
            assert.ok(
              apart <= most * (colours ? 1 : Math.max(1, Math.abs(value))), // not relative: a colour is a level
              `${said}: ${name}[${i}] ${found[i]} ≠ ${value}`,
            );
          });
        }
      }
    });

  test(`${file}: what is written is drawn from the prediction`, () => {
    const network = new Network(made.config, tensors);
    const reading = new Reading(network, 0);
    reading.read([3, 4, 5]);
    const shape = { temperature: 0, top_k: null, top_p: null };
    if (network.end) {
      const texts = Array.from({ length: 40 }, () => write(reading, 3, 400, { ...shape, temperature: 1 }));
      assert.ok(texts.every((ids) => !ids.includes(network.end)));
      assert.ok(texts.filter((ids) => ids.length < 400).length > 30, "a text ends where the network ends it");
      return;
    }
    const [first, second] = write(reading, 3, 2, shape);
    const logs = Array.from(reading.logs(3)).slice(1);
    assert.equal(first, 1 + logs.indexOf(Math.max(...logs)));
    reading.read([3, 4, 5, first]);
    const next = Array.from(reading.logs(4)).slice(1);
    assert.equal(second, 1 + next.indexOf(Math.max(...next)));
    const drawn = write(reading, 4, 400, { temperature: 1, top_k: 2, top_p: null });
    assert.equal(drawn.length, 400);
    assert.ok(drawn.every((id) => id > 0 && id < network.V));
  });
}

test("characters are drawn as often as the core's weights say", () => {
  const { made, tensors, arrays } = network(files[0]);
  const { reading } = answers(made, tensors, arrays);
  reading.read([3, 4, 5]);
  let seed = 1;
  const chance = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  const shape = { temperature: 0.7, top_k: 12, top_p: 0.9 };
  const { symbols, weights } = weigh(reading.logs(3), shape); // held against the core above
  const sum = weights.reduce((a, b) => a + b, 0);
  const draws = 6000;
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (let n = 0; n < draws; n++) {
    const [id] = write(reading, 3, 1, shape, chance);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  symbols.forEach((id, i) => {
    const p = weights[i] / sum;
    const apart = Math.abs((counts.get(id) ?? 0) - draws * p);
    assert.ok(apart <= 4 * Math.sqrt(draws * p * (1 - p)), `${id}: ${counts.get(id)} of ${draws * p}`);
  });
  assert.ok([...counts.keys()].every((id) => symbols.includes(id)));
});

test("a text that is given up half-way leaves no trace", () => {
  const { made, tensors, arrays } = network(files[0]);
  const [one, other] = [answers(made, tensors, arrays), answers(made, tensors, arrays)];
  const [first, second] = [{ text: "The Time Traveller" }, { text: "The Time Machine", base: 1, unit: 2 }];
  assert.deepEqual(one.answer(first), other.answer(first));
  const steps = one.reading.steps(one.readAsk({ text: "The Time Machine stood still" }).ids);
  for (let n = 0; n < 9; n++) steps.next();
  assert.deepEqual(one.answer(second), other.answer(second));
});

test("a long text is read a little at a time, and a newer one takes its place", async () => {
  const long = "The Time Traveller (for so it will be convenient to speak of him) ".repeat(300);
  const { made, tensors, arrays } = network(files[0]);
  /** @type {any[]} */
  const heard = [];
  /** @type {number[]} */
  const shares = [];
  await /** @type {Promise<void>} */ (
    new Promise((resolve) => {
      const hear = (/** @type {any} */ answer) => {
        heard.push(answer);
        if (answer.header.seq === 2) reader.ask({ text: `${long}!`, seq: 3, base: 2 });
        if (answer.header.seq === 3) resolve();
      };
      const reader = new Reader(answers(made, tensors, arrays), hear, (done, length) =>
        shares.push(done / length),
      );
      reader.ask({ text: "The", seq: 0 });
      assert.equal(heard.shift().header.seq, 0); // a short one is answered at once
      setTimeout(() => {
        reader.ask({ text: long, seq: 1 });
        assert.deepEqual([heard.length, shares.length], [0, 1]); // the page doesn't wait for it
        setTimeout(() => reader.ask({ text: `Now ${long}`, seq: 2 }));
      });
    })
  );
  assert.deepEqual(
    heard.map(({ header }) => header.seq),
    [2, 3],
  );
  assert.ok(shares.length > 1 && shares.every((share) => share > 0 && share < 1));
  const fresh = answers(made, tensors, arrays);
  fresh.answer({ text: "The", seq: 0 });
  assert.deepEqual(heard[0], fresh.answer({ text: `Now ${long}`, seq: 2 }));
  assert.deepEqual(heard[1], fresh.answer({ text: `${long}!`, seq: 3, base: 2 }));
});

test("a draw follows the weights", () => {
  const logs = Float32Array.from([0.1, 0.4, 0.3, 0.2], Math.log);
  const { symbols, weights } = weigh(logs, { temperature: 0.5, top_k: null, top_p: 0.8 });
  assert.deepEqual(symbols, [1, 2, 3]);
  const sum = weights.reduce((a, b) => a + b, 0);
  const shares = weights.map((weight) => Number((weight / sum).toFixed(3)));
  assert.deepEqual(shares, [0.64, 0.36, 0]); // as in rnnviz.sampling_distribution
});

test("a nucleus is the smallest that has top_p", () => {
  const logs = new Float32Array(5).fill(Math.log(0.2)); // of four equally probable symbols, two have one half
  for (const size of [1, 2, 3]) {
    const { weights } = weigh(logs, { temperature: 1, top_k: null, top_p: size / 4 });
    assert.equal(weights.filter((weight) => weight > 0).length, size);
  }
});

for (const file of files)
  test(`${file}: a file alone gives the same network`, () => {
    const { made, arrays, tensors, description } = network(file);
    assert.deepEqual(description.config, made.config);
    const own = describe("mine", description, tensors, made, look);
    for (const name of /** @type {const} */ ([
      "symbols",
      "cell",
      "layers",
      "units",
      "steadyUnits",
      "quantities",
      "heldOutBits",
    ]))
      assert.deepEqual(own.model.fixed[name], made.fixed[name], name);
    assert.deepEqual(own.model.normaliser, made.normaliser);
    assert.ok(Math.abs(own.model.unknownCost - made.unknownCost) < 1e-12);
    const rows = Object.keys(arrays).filter((name) => name.startsWith("rows:") || name.startsWith("reach:"));
    assert.deepEqual(Object.keys(own.arrays).sort(), rows.sort());
    // It names no row, so it has no weighted sums behind the units.
    const { units, layers } = made.fixed;
    for (const name of rows)
      assert.equal(own.arrays[name].length, name.startsWith("reach:") ? 2 * layers * units : units, name);
    const { header } = answers(own.model, tensors, own.arrays).answer({ text: "The Time", order: "alike" });
    const whole = answers(made, tensors, arrays).answer({ text: "The Time" }).header;
    assert.deepEqual(header.numbers, whole.numbers);
  });

for (const file of files)
  test(`${file}: other weights are read as by a new network, in rows that stay`, () => {
    const { made, tensors, description } = network(file);
    const halves = () =>
      Object.fromEntries(Object.entries(tensors).map(([name, values]) => [name, values.map((x) => x / 2)]));
    const { model, arrays } = describe("mine", description, tensors, made, look, true);
    const order = Array.from({ length: model.fixed.units }, (_, unit) => unit);
    for (const name of ["alike", "steady"]) assert.deepEqual([...arrays[`rows:${name},0,hidden`]], order);
    assert.equal(arrays["reach:hidden"][0], model.fixed.quantities.hidden.high);
    const fresh = answers(model, halves(), arrays);
    const copies = Object.fromEntries(
      Object.entries(tensors).map(([name, values]) => [name, values.slice()]),
    );
    const own = answers(model, copies, arrays);
    const { digest } = own.answer({ text: "The Time Machine", temperature: 0.5 }).header;
    own.assign(halves());
    const ask = { text: "The Time Machine", base: 1, digest, unit: 1, pin: 3, why: true, temperature: 0.5 };
    const [after, expected] = [own.answer(ask), fresh.answer(ask)];
    assert.equal(after.header.fixed, undefined); // it isn't sent again
    assert.deepEqual({ ...after.header, revision: 1 }, expected.header);
    assert.deepEqual(after.arrays, expected.arrays);
  });

test("a text that is being read is read to its end before other weights come, once", async () => {
  const { made, tensors, arrays } = network(files[0]);
  const long = "The Time Traveller (for so it will be convenient to speak of him) ".repeat(300);
  const whole = answers(made, tensors, arrays).answer({ text: long });
  const copies = Object.fromEntries(Object.entries(tensors).map(([name, values]) => [name, values.slice()]));
  const own = answers(made, copies, arrays);
  const reader = await new Promise((resolve) => {
    const hear = (/** @type {any} */ answer) => {
      assert.deepEqual(answer, whole);
      resolve(reading);
    };
    const reading = new Reader(own, hear, () => {
      reading.weights = Object.fromEntries(
        Object.entries(tensors).map(([name, values]) => [name, values.map(() => 0)]),
      );
    });
    reading.ask({ text: long });
  });
  reader.onAnswer = () => {};
  await reader.ask({ text: "The" });
  const { reading } = own;
  await reader.ask({ text: "The Time" });
  assert.equal(own.reading, reading); // of the same weights
  assert.ok(Math.abs(Number(own.reading.numbers().perplexity) - made.config.vocabulary_size) < 1e-3);
});

test("units are ordered, and their reach measured, as in the core", () => {
  const { values, ...core } = json("orders.json");
  const plane = { T: values.length, H: values[0].length, values: Float32Array.from(values.flat()) };
  assert.deepEqual(steady(plane, 6), core.steady);
  const order = alike(plane);
  assert.ok(
    [order, order.toReversed()].some((way) => String(way) === String(core.alike)),
    String(order),
  ); // a sign is free
  reach(plane).forEach((end, i) => {
    assert.ok(Math.abs(end - core.reach.flat()[i]) < 1e-6);
  });
});
