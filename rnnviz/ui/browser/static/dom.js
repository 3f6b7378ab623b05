// Functions that find, make and fill elements. They parse no text as markup.

/**
 * The element of a selector such as "canvas.rv-heat". Throws an Error without one.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {ParentNode} root
 * @param {`${K}.${string}`} selector
 * @returns {HTMLElementTagNameMap[K]}
 */
export function find(root, selector) {
  const element = root.querySelector(selector);
  if (!element) throw new Error(`no ${selector}`);
  return /** @type {HTMLElementTagNameMap[K]} */ (element);
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} [name] its class
 * @param {...(string | Node)} inside
 */
export function make(tag, name, ...inside) {
  const element = document.createElement(tag);
  if (tag === "button") element.setAttribute("type", "button"); // a button's own default submits a form
  if (name) element.className = name;
  element.append(...inside);
  return element;
}

/**
 * An element of an SVG picture. HTML's createElement would make one that no browser draws.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag @param {Record<string, string | number>} [attributes] @param {string} [text]
 */
export function makeSvg(tag, attributes = {}, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.textContent = text;
  return element;
}

/** A button with a label and an action. @param {string} text @param {() => void} act @param {string} [name] its class */
export function button(text, act, name) {
  const element = make("button", name, text);
  element.onclick = act;
  return element;
}

/** Set a node's text, unless it has it: an equal write would still cost a layout. @param {Node} node @param {string} text */
export function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** @param {HTMLElement | SVGElement} element @param {Record<string, number>} lengths in pixels */
export function setPixels(element, lengths) {
  for (const name in lengths) element.style.setProperty(name, `${lengths[name]}px`);
}

/**
 * Set a selector's options, [value, text], and its value. An unchanged one is left alone, as it may be open.
 * @param {HTMLSelectElement} select
 * @param {[string | number, string][]} list
 * @param {string | number} value
 */
export function options(select, list, value) {
  const mark = JSON.stringify(list);
  if (select.dataset.options !== mark) {
    select.dataset.options = mark;
    select.replaceChildren(...list.map(([v, text]) => new Option(text, String(v))));
  }
  if (select.value !== String(value)) select.value = String(value);
}

/**
 * Fill a row of numbers with their names. Returns the values' elements by name.
 * @param {HTMLElement} row
 * @param {string} prefix of classes
 * @param {string} testid
 * @param {readonly string[]} names
 * @param {(name: string) => [string, string]} describe a number's name and its explanation
 */
export function numberRow(row, prefix, testid, names, describe) {
  /** @type {Record<string, HTMLElement>} */
  const fields = {};
  row.replaceChildren(
    ...names.map((name) => {
      const [term, help] = describe(name);
      fields[name] = make("dd");
      fields[name].dataset.testid = `${testid}-${name}`;
      const group = make("div", `${prefix}-number-${name}`, make("dt", "", term), fields[name]);
      group.title = help;
      return group;
    }),
  );
  return fields;
}

/** Copy a text. Resolves to whether it worked: browsers give only https pages and localhost a clipboard. @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether the reader prefers reduced motion. */
export function still() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}
