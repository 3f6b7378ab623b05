// The transition between two pictures: a part of both moves from its old place to its new one. The browser's own view
// transitions would delay the picture by a frame or two, and most don't reach into a shadow root.
//
// The parts of a graph have names, and are the same thing in every picture (rnnviz/lecture/chain.py): they move from where
// the last graph had them, also if pictures without one came between, and new ones fade in. Other parts move between two
// steps, by the symbol that they stand for. A drawing replaces the picture at once; an animation that it cuts short goes
// on from there.

const TIMING = { duration: 250, easing: "ease-out" }; // milliseconds
const STILL = window.matchMedia("(prefers-reduced-motion: reduce)");
const MOVABLE = ":is([data-part], [data-stands]):not(:is([data-part], [data-stands]) *)"; // none within another one

/**
 * A part's place in the picture: its centre, and its height if it may grow; or an arrow's graph, and its paths there.
 * @typedef {{ element: HTMLElement, x: number, y: number, height: number, paths: number[][] }} Place
 */

export class Transition {
  /** @type {Map<string, Place>} the last place of every part, by its name */
  places = new Map();

  /** Remember the places in a picture that is about to be replaced. @param {HTMLElement} picture @param {boolean} sameStep */
  leave(picture, sameStep) {
    const graph = picture.querySelector("[data-part]") || STILL.matches;
    for (const [name, { element }] of this.places)
      if (graph || !element.dataset.part) this.places.delete(name);
    for (const [name, place] of findPlaces(picture))
      if (place.element.dataset.part || !sameStep) this.places.set(name, place);
  }

  /** Animate a picture's parts from their last places. @param {HTMLElement} picture */
  arrive(picture) {
    if (!this.places.size) return;
    let goesOn = false;
    /** @type {HTMLElement[]} */
    const added = [];
    for (const [name, place] of findPlaces(picture)) {
      const turned = this.places.get(name.split(">").reverse().join(">")); // a gradient's arrow: the same one, back
      const from = this.places.get(name) ?? turned;
      if (from) move(from, place, from === turned);
      else if (place.element.dataset.part) added.push(place.element);
      goesOn ||= Boolean(from?.element.dataset.part);
    }
    if (goesOn)
      for (const element of added) element.animate({ opacity: [0, 1] }, { ...TIMING, easing: "ease-in" });
  }
}

/** The places of a picture's outermost parts, by their names, with a ' for each earlier part of the same name. @param {HTMLElement} picture */
function findPlaces(picture) {
  /** @type {Map<string, Place>} */
  const places = new Map();
  if (STILL.matches) return places;
  const origin = picture.getBoundingClientRect();
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (picture.querySelectorAll(MOVABLE))) {
    const paths = element.matches("g") ? [...element.children].map(currentPath) : [];
    // A state is where its numbers are, whether its name stands over or beside them.
    const strip = element.querySelector(".kit-strip");
    const box = (paths.length ? element.parentElement : strip) ?? element;
    const { x, y, width, height } = box.getBoundingClientRect();
    const share = paths.length ? 0 : 0.5;
    let name = String(element.dataset.part ?? element.dataset.stands);
    while (places.has(name)) name += "'";
    const centre = { x: x + share * width - origin.x, y: y + share * height - origin.y };
    places.set(name, { element, ...centre, height: strip ? height : 1, paths });
  }
  return places;
}

/** The coordinates of a path, as an animation may have them now. @param {Element} path */
function currentPath(path) {
  const d = getComputedStyle(path).getPropertyValue("d") || String(path.getAttribute("d"));
  return (d.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
}

/** Animate a part from another place; `turned` is an arrow that pointed the other way. @param {Place} from @param {Place} to @param {boolean} turned */
function move(from, { element, x, y, height, paths }, turned) {
  const [dx, dy] = [from.x - x, from.y - y];
  paths.forEach((to, i) => {
    const start = (from.paths[i] ?? to).map((v, n) => v + (n % 2 ? dy : dx));
    if (turned && i === 0) start.push(...start.splice(0, 2)); // the line stays, its tip goes to the other end
    if (start.every((v, n) => Math.abs(v - to[n]) < 1)) return;
    element.children[i].animate({ d: [start, to].map(pathOf) }, TIMING);
  });
  const scale = from.height / height;
  if (paths.length || (Math.hypot(dx, dy) < 1 && Math.abs(scale - 1) < 0.02)) return;
  element.animate({ translate: [`${dx}px ${dy}px`, "none"], scale: [`${scale}`, "none"] }, TIMING);
}

/** @param {number[]} coordinates */
function pathOf(coordinates) {
  return `path("M${coordinates.join(" ")}")`; // further pairs behind M are lines
}
