// The live view: it connects its parts, which don't know one another.

import { FrameLimiter } from "../../../browser/static/animation_frames.js";
import { BaseView } from "../../../browser/static/base.js";
import { find } from "../../../browser/static/dom.js";
import { makePhrase } from "../../../browser/static/messages.js";
import { Numbers } from "../../../browser/static/number_format.js";
import { PredictionBars } from "../../../browser/static/prediction_bars.js";
import { Presenting } from "../../../browser/static/present.js";
import { dress, fonts } from "../../../browser/static/theme.js";
import { Bookmark } from "./bookmark.js";
import { Continuation } from "./continuation.js";
import { Controls } from "./controls.js";
import { Editor } from "./editor.js";
import { Figure } from "./figure.js";
import { FocusRestorer, focusOnArrival } from "./focus.js";
import { meetServerText, remember, takeOver } from "./kept_state.js";
import { handleFigureKey, handleShortcut } from "./keys.js";
import { Readout } from "./readout.js";
import { PLAIN, SamplingControls } from "./sampling_controls.js";
import { Store } from "./store.js";
import { makeColourOf, makePalettes } from "./text_background.js";
import { ContinuationTree } from "./tree.js";
import { heightFor, windowAround } from "./visible_range.js";

/** @import { Theme } from "../../../browser/static/types" */
/** @import { Answer, Arrays, Place, SamplingSettings } from "./types" */

const OPEN = "[role='dialog'], [role='listbox'], [role='menu']"; // elements that Escape closes

export class View extends BaseView {
  store = new Store();
  /** @type {Editor} */
  editor;
  /** @type {Figure} */
  figure;
  /** @type {Controls} */
  controls;
  /** @type {Readout} */
  readout;
  /** @type {PredictionBars} */
  bars;
  /** @type {SamplingControls} */
  samplingControls;
  /** @type {Continuation} */
  continuation;
  /** @type {ContinuationTree} */
  tree;
  /** @type {Bookmark} */
  bookmark;
  /** @type {Numbers} */
  numbers;
  /** @type {Theme} */
  theme;
  font = "";
  model = ""; // the model's name
  /** @type {Record<string, string[]>} the colours behind the text */
  palettes = {};
  /** @type {string[]} the characters of the text in the store */
  characters = [];
  /** @type {string[]} the characters of the last ask */
  askedCharacters = [];
  /** @type {unknown} the number of the text that the page offered last */
  offer;
  /** @type {string | undefined} the token of the server's session */
  session;
  follow = true; // whether the window follows the caret
  sampling = PLAIN;
  barsPlace = 0; // the place of the bars' prediction
  start = 0; // the window's first character
  quantity = "hidden";
  layer = 0;
  order = "steady";
  /** @type {number | null} the unit that colours the text; null for surprisal */
  unit = null;
  memoryless = false; // whether to compare with the network without memory
  /** @type {Place | null} */
  hover = null;
  /** @type {number | null} */
  pin = null;
  why = false; // whether the text's colours show each character's worth to the pinned one
  frames = new FrameLimiter(() => this.redraw());
  paint = new MessageChannel();
  onResize = () => this.resized();
  /** Escape unpins wherever the focus is, unless it closes an open element. @param {KeyboardEvent} event */
  onKey = (event) => {
    this.continuation.endReplay(event);
    if (event.key === "Escape" && !this.editor.composing && !document.querySelector(OPEN))
      this.handleEscape();
    else handleShortcut(this, event);
  };

  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    if (root.dataset.height) find(root, "button.rv-present").hidden = true;
    // Escape doesn't end the presentation at once: it has other uses first, see `handleEscape`.
    else this.presenting = new Presenting(root, () => this.onPresentation(), false);
    this.focus = new FocusRestorer(root);
    this.paint.port1.onmessage = ({ data }) => {
      root.dataset.painted = data;
    };
  }

  close() {
    super.close();
    this.bookmark?.close();
    this.editor?.close();
    this.presenting?.close();
    this.focus.close();
    this.frames.close();
    window.removeEventListener("resize", this.onResize);
    window.removeEventListener("keydown", this.onKey, true);
    this.paint.port1.close();
  }

  recolour() {
    this.dress();
    this.redraw();
  }

  /** @param {boolean} isLate */
  showDelay(isLate) {
    this.controls?.showDelay(isLate);
  }

  /** @param {Answer} header @param {Arrays} arrays */
  receive(header, arrays) {
    const { text } = header; // the server's text, in the answer to a fresh ask; the editor's may differ
    // `whole`: the store could take the answer. Not so if an answer before it was lost, if it is a former view's, or if
    // a later one overtook it on the other path.
    const whole =
      (this.viewSocket.isNewest(header) || text !== undefined) && this.store.apply(header, arrays);
    if (whole) this.characters = text === undefined ? this.askedCharacters : Array.from(text);
    if (whole && header.fixed) this.build();
    if (!whole) {
      this.store.revision = 0;
      this.store.digest = "";
      this.viewSocket.askDue = true;
    } else if (text !== undefined) meetServerText(this, text, header);
    // The ask was made before the layout, which has room for more columns.
    if (whole && !this.root.hidden && this.narrow) this.viewSocket.askDue = true;
    this.viewSocket.endAsk(header);
    if (whole && header.continuation !== undefined) this.continuation.takeText(header.continuation);
    if (whole && header.tree) this.tree.draw(header.tree, /** @type {Required<Arrays>} */ (arrays));
    if (whole) this.frames.ask();
  }

  /** The choices that each ask contains, and that a remounted view restores. */
  get choices() {
    const { pin, why, quantity, layer, order, unit, memoryless, sampling } = this;
    return { pin, why, quantity, layer, order, unit, memoryless, sampling };
  }

  memory() {
    return this.editor ? remember(this) : this.remembered;
  }

  get isDrawn() {
    return this.root.dataset.painted !== undefined;
  }

  /** @param {Uint8Array} data */
  takeFirstAnswer(data) {
    this.takeAnswer(data);
    Object.assign(this.store, { revision: 0, digest: "" }); // the next answer has all rows and symbols
  }

  /** @param {View} first */
  takeOver(first) {
    takeOver(this, first);
  }

  focusText() {
    this.editor.focus();
  }

  /** Make the parts at the first answer; later, set words of another language or the data of another model. */
  build() {
    const { root } = this;
    const { words, language, limit, symbols, temperature, model, first } = this.store.fixed;
    if (this.model !== model) Object.assign(this, first, { model }); // unit numbers mean nothing in another network
    if (!this.editor) {
      this.sampling = { ...PLAIN, temperature };
      this.editor = new Editor(root, limit, {
        change: () => this.onInput(),
        caret: () => this.onCaretMove(),
        hover: (t) => this.setHover(t === null ? null : { t, unit: null }),
        click: (t) => (t !== null || this.why) && this.askWhy(t),
        refused: (beyond) => this.controls.showLimit(beyond),
      });
      this.figure = new Figure(find(root, "div.rv-figure"), {
        hover: (event) => this.setHover(event && this.figure.placeAt(event, this.store)),
        pick: (event) => this.pickPlace(this.figure.placeAt(event, this.store)),
        scroll: (columns) => this.scroll(this.start + columns),
        rows: () => this.redraw(),
      });
      this.figure.pad.addEventListener("keydown", (event) => handleFigureKey(this, event));
      window.addEventListener("resize", this.onResize);
      window.addEventListener("keydown", this.onKey, true); // capturing: before Escape closes a list
      this.observer = new ResizeObserver(this.onResize);
      this.bookmark = new Bookmark(this);
    }
    const phrase = makePhrase(words);
    find(root, "details.rv-more").ontoggle = () => this.foldMore();
    this.foldMore();
    this.presenting?.setWords(phrase);
    this.numbers = new Numbers(language);
    this.bookmark.setWords(phrase);
    this.readout = new Readout(root, phrase, this.store.fixed, this.numbers);
    this.bars = new PredictionBars(root, phrase, this.numbers, (id) => this.continuation.writeSymbol(id));
    this.controls = new Controls(this, phrase);
    if (this.figure.box) this.layOut();
    this.continuation = new Continuation(this, phrase);
    this.tree = new ContinuationTree(this, phrase);
    const reshape = (/** @type {Partial<SamplingSettings>} */ changes) => this.reshape(changes);
    this.samplingControls = new SamplingControls(
      root,
      phrase,
      this.numbers,
      symbols.length,
      () => this.sampling,
      reshape,
    );
    this.dress();
    if (root.hidden)
      queueMicrotask(() => {
        root.hidden = false;
        setTimeout(() => focusOnArrival(root, this.editor.area)); // after the first paint: it takes a layout
        this.observer?.observe(root);
        this.resized();
      });
  }

  dress() {
    if (!this.store.fixed) return;
    this.theme = dress(this.root, this.store.fixed.themes);
    this.font = fonts(this.root).code;
    this.palettes = makePalettes(this.theme);
  }

  // ---- asking -------------------------------------------------------------------------------------

  makeAsk() {
    if (!this.editor) return { fresh: true };
    const { store, continuation } = this;
    const { sampling, ...viewChoices } = this.choices;
    const memoryless = viewChoices.memoryless && store.fixed.memoryless !== null;
    this.askedCharacters = this.editor.characters;
    // Before the layout the view has no width: it asks again once it has.
    const all = this.figure.columns(this.askedCharacters.length, store.fixed.symbols.length);
    const columns = this.root.hidden ? Math.max(1, store.stop - store.start) : all;
    this.start = this.windowStart(this.askedCharacters.length, columns);
    const view = { ...viewChoices, memoryless, ...sampling, start: this.start, columns };
    const requests = {
      write: continuation.asked,
      at: this.editor.caret,
      tree: this.tree.past,
      ...this.controls.suggestions.takePending(),
    };
    return { text: this.editor.text, ...view, base: store.revision, digest: store.digest, ...requests };
  }

  /** The window's first character. @param {number} length @param {number} columns */
  windowStart(length, columns) {
    if (!this.follow) return windowWithin(this.start, columns, 0, length);
    return windowAround(this.start, columns, length, this.editor.caret);
  }

  onInput() {
    this.follow = true;
    this.hover = null;
    // The colours of "why" belong to the former text, and their slow answer would delay the keys.
    if (this.why || (this.pin !== null && this.pin >= this.editor.characters.length)) this.unpin();
    if (!this.continuation.appending) this.continuation.stop();
    this.viewSocket.ask();
  }

  /** @param {Partial<SamplingSettings>} changes */
  reshape(changes) {
    this.sampling = { ...this.sampling, ...changes };
    this.samplingControls.draw();
    this.viewSocket.ask();
  }

  /** Follow a moved caret with the bars and, if it leaves the window, with the window. */
  onCaretMove() {
    const { follow, store } = this;
    this.continuation.stop();
    this.follow = true;
    this.hover = null;
    this.tree.start = this.editor.caret;
    const drawn = follow && !this.tree.open && this.editor.characters === this.characters;
    if (drawn && this.windowStart(store.length, this.columns) === this.start) this.drawCursor();
    else this.viewSocket.ask();
  }

  /** Move the window's beginning to a character; returns whether it can be moved. @param {number} start */
  scroll(start) {
    const { columns, store } = this;
    const movable = store.length > columns;
    const to = windowWithin(start, columns, 0, store.length);
    if (to === this.start && !this.follow) return movable;
    this.follow = false;
    this.start = to;
    this.viewSocket.ask();
    return movable;
  }

  followCaret() {
    this.follow = true;
    this.viewSocket.ask();
  }

  /** Show fewer, larger rows of the heat map, around the chosen unit's. @param {number} count 0 for all */
  zoom(count) {
    this.figure.zoomTo(count, this.unit === null ? 0 : this.store.unitRow(this.unit));
    this.redraw();
  }

  /** @param {Partial<View>} changes */
  choose(changes) {
    if (changes.unit !== undefined) this.why = false;
    Object.assign(this, changes);
    this.viewSocket.ask();
  }

  // ---- the cursor ---------------------------------------------------------------------------------

  /** @param {Place | null} place */
  setHover(place) {
    if (place?.t === this.hover?.t && place?.unit === this.hover?.unit) return;
    this.hover = place;
    this.drawCursor();
  }

  /** @param {Place | null} place */
  pickPlace(place) {
    if (!place) return;
    const { t, unit } = place;
    if (unit === null) return this.askWhy(t);
    this.pin = this.pin === t && !this.why && unit === this.unit ? null : t;
    this.choose({ unit }); // the answer has the unit's step at the pin
    this.drawCursor();
  }

  /** Ask "why" for character t; the same one again, or null, ends it. @param {number | null} t */
  askWhy(t) {
    const again = this.why && this.pin === t;
    this.pin = again ? null : t;
    this.why = this.pin !== null;
    this.viewSocket.ask();
    this.redraw();
  }

  /** Whether the presentation shows other rows than the few that it begins with. */
  get rearranged() {
    return this.order !== "steady" && this.store.fixed.steadyUnits < this.store.fixed.units;
  }

  unpin() {
    this.pin = null;
    this.why = false;
  }

  /**
   * Escape's actions, one a press: close the tree, deselect the text, end "why", unpin, deselect the unit, show the
   * few rows again, end the presentation.
   */
  handleEscape() {
    if (this.tree.open) return this.tree.show(false);
    if (this.editor.deselect()) return;
    if (this.why) return this.askWhy(null);
    if (this.pin !== null) this.pin = null;
    else if (this.unit !== null) this.choose({ unit: null });
    else if (this.presenting?.on && this.rearranged) this.controls.setOrder("steady");
    else this.presenting?.set(false);
    this.drawCursor();
  }

  /** The caret's place, or the nearest one in the window. */
  get caretPlace() {
    const { start, stop } = this.store;
    return Math.max(start, Math.min(stop, this.editor.caret));
  }

  /** Update all parts to the cursor's place: under the pointer, else pinned, else the caret's. */
  drawCursor() {
    const { store, characters, figure, editor, hover, caretPlace, pin } = this;
    if (!store.header || !figure.view) return;
    const inStore = (/** @type {number | null | undefined} */ t) => (store.holds(t ?? -1) ? t : null);
    const pointed = inStore(hover?.t);
    const t = pointed ?? inStore(pin) ?? caretPlace;
    const actual = t < store.length ? t : null;
    figure.mark("cursor", t === pin ? (pointed ?? null) : actual);
    figure.mark("pinned", pin);
    figure.markUnit(store, this.unit);
    editor.background.frameCharacter("hover", pointed ?? null);
    editor.background.frameCharacter("pin", pin);
    this.barsPlace = t;
    this.bars.draw(store, characters, t, t === caretPlace);
    const readoutPlace = actual !== null && (typeof pointed === "number" || t === pin) ? actual : null;
    this.readout.showSentence(store, characters, readoutPlace, hover?.unit ?? this.unit, t === pin);
    this.readout.showEntropy(store, characters, caretPlace, pin, this.unit);
    this.bookmark.noteChange();
  }

  // ---- drawing ------------------------------------------------------------------------------------

  get columns() {
    return this.figure.columns(this.store.length, this.store.fixed.symbols.length);
  }

  /** Whether the figure has room for more characters than the store's window. */
  get narrow() {
    const { store } = this;
    return store.stop - store.start < Math.min(this.columns, store.length);
  }

  redraw() {
    if (!this.store.header || this.root.hidden || !this.figure?.box) return;
    const { store, characters, figure, columns } = this;
    const first = windowWithin(this.start, columns, store.start, store.stop);
    figure.draw(store, characters, first, columns, this.theme, this.font);
    this.recordPaint();
    this.colourText();
    this.readout.draw(store);
    this.controls.draw(store, first);
    this.drawCursor();
  }

  /**
   * Record the painted length in the element's dataset, for tests, and go on writing, after the browser's paint: a
   * message arrives after it, a frame's callback before it.
   */
  recordPaint() {
    const { length } = this.store;
    requestAnimationFrame(() => {
      this.paint.port2.postMessage(String(length));
      this.continuation.writeNext();
    });
  }

  /** Paint the text's background: by "why", by one unit, or by surprisal. */
  colourText() {
    const { store, palettes, characters } = this;
    const byUnit = store.header.unit !== null && this.unit !== null;
    const by = this.why && store.occlusion ? "why" : byUnit ? "unit" : "surprisal";
    const { actual, model } = this.theme;
    const textColours = {
      unknown: actual,
      written: model,
      writtenBackground: by === "surprisal" ? `${model}33` : "",
    };
    this.editor.paint(makeColourOf(store, palettes, by), (t) => store.isUnknown(t), characters, textColours);
  }

  /** On a phone what is behind "More" is all but the text and what it changes; a presentation shows all. */
  foldMore() {
    const { open } = find(this.root, "details.rv-more");
    this.root.classList.toggle("rv-folded", !open && !this.presenting?.on);
  }

  layOut() {
    this.figure.layOut(this.height, this.presenting?.on, this.store.fixed.named.length > 0);
  }

  /** Hide or show the perplexity below the heat map. */
  toggleFold() {
    this.figure.folded = !this.figure.folded;
    this.relayout();
  }

  /** Lay the figure out anew, at its height. */
  relayout() {
    this.layOut();
    this.redraw();
  }

  get height() {
    return heightFor(this.root, Boolean(this.presenting?.on));
  }

  /** Lay out after the presentation begins or ends: lines break elsewhere, so scroll to the caret. */
  onPresentation() {
    this.foldMore();
    this.editor.seeking = true;
    this.resized(true);
  }

  resized(always = false) {
    const { root, figure, store, height } = this;
    if (root.hidden || !store.header) return;
    if (always) this.editor.resized();
    const stage = find(root, "div.rv-stage");
    if (!always && figure.box?.height === height && figure.box.width === figure.root.clientWidth) return;
    stage.style.height = `${height}px`;
    this.layOut();
    this.redraw();
    if (this.narrow) this.viewSocket.ask();
  }
}

/**
 * The first character of a window that begins at `start`, or nearest to it between `from` and `to`.
 * @param {number} start @param {number} columns characters in the window @param {number} from @param {number} to
 */
export function windowWithin(start, columns, from, to) {
  return Math.max(from, Math.min(start, to - columns));
}
