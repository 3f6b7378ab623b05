// Subscripts in plain words: W_xh and H_t−1 as they are written by hand.

import { make } from "./dom.js";

const INDEXED = /(?<![A-Za-z._])([A-Zbhx])_([a-z0-9]{1,2}(?:[−+]1)?)(?![A-Za-z0-9_])/g;

/** The words as nodes, indices set below. @param {string} words @returns {(string | HTMLElement)[]} */
export function subscripted(words) {
  const parts = [];
  let begin = 0;
  for (const { 0: all, 1: letter, 2: low, index } of words.matchAll(INDEXED)) {
    parts.push(words.slice(begin, index) + letter, make("sub", "", low));
    begin = index + all.length;
  }
  return [...parts, words.slice(begin)];
}
