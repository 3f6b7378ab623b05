// The tracks above the heat map: units whose meaning the model's card has confirmed, each as a line along the text.

import { find, make, place } from "../../../browser/static/dom.js";
import { fit } from "../../../browser/static/heat.js";

/** @import { Window2D } from "../../../browser/static/types" */
/** @import { Store } from "./store.js" */
/** @import { LiveTheme, Track } from "./types" */

const TALL = 1.65; // times a title: a track below its own
const GAP = 5;

export class Tracks {
  count = 0;

  /** @param {HTMLElement} root the figure */
  constructor(root) {
    this.box = find(root, "div.rv-tracks");
    this.canvas = find(root, "canvas.rv-track-lines");
  }

  /**
   * Give each track its title, and a link to the page that says more, if there is one.
   * @param {Track[]} tracks @param {string} link its words; none in a notebook
   */
  name(tracks, link) {
    this.count = tracks.length;
    this.box.replaceChildren(
      ...tracks.map(({ name, note, about, query }) => {
        const title = make("div", "rv-title", make("b", "", name));
        title.title = about;
        if (link) title.append(address(link, query));
        title.append(make("span", "", note));
        return title;
      }),
    );
  }

  /** How high all are, with titles of `title` pixels. @param {number} title */
  height(title) {
    return this.count * (title * (1 + TALL) + GAP);
  }

  /** @param {number} left @param {number} title */
  layOut(left, title) {
    place(this.canvas, { left, top: 0 });
    for (const [i, each] of [...this.box.children].entries())
      place(/** @type {HTMLElement} */ (each), { left, top: i * (title * (1 + TALL) + GAP) });
  }

  /** @param {Store} store @param {Window2D} view @param {LiveTheme} theme @param {number} title */
  draw(store, { first, last, columns, width }, theme, title) {
    this.canvas.hidden = this.count === 0;
    if (this.count === 0) return;
    const pen = fit(this.canvas, width, this.height(title));
    pen.clearRect(0, 0, width, this.height(title));
    const room = width / columns;
    for (let i = 0; i < this.count; i++) {
      const bottom = (i + 1) * (title * (1 + TALL) + GAP) - GAP;
      const y = (/** @type {number} */ t) =>
        bottom - (store.tracks[(t - store.start) * this.count + i] / store.lastLevel) * TALL * title;
      pen.beginPath();
      pen.moveTo(0, bottom);
      for (let t = first; t < last; t++) {
        pen.lineTo((t - first) * room, y(t));
        pen.lineTo((t - first + 1) * room, y(t));
      }
      pen.lineTo((last - first) * room, bottom);
      pen.fillStyle = theme.bar;
      pen.fill();
      pen.strokeStyle = theme.model;
      pen.stroke();
      pen.fillStyle = theme.grid;
      pen.fillRect(0, bottom, width, 1);
    }
  }
}

/** A link that keeps the model and the language. @param {string} words @param {Record<string, string>} query */
function address(words, query) {
  const link = make("a", "", words);
  const to = new URL("inside", document.baseURI);
  const now = new URLSearchParams(window.location.search);
  for (const name of ["model", "lang"]) if (now.has(name)) to.searchParams.set(name, String(now.get(name)));
  for (const [name, value] of Object.entries(query)) to.searchParams.set(name, value);
  link.href = to.href;
  return link;
}
