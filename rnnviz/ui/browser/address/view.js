// The address component: it passes the page's values on to the address, and has the button that copies it.

import { address } from "../static/address.js";
import { BaseView } from "../static/base.js";
import { copyText, find, put } from "../static/dom.js";
import { label, makePhrase } from "../static/messages.js";
import { Numbers } from "../static/number_format.js";
import { setLanguage } from "../static/widget_words.js";

/** @import { Fields } from "../static/address.js" */

/** @typedef {{ fields: Fields, asked: Fields, arrival: number, language: string, longest: number, widgets: Record<string, string>, words: Record<string, string> }} Said */

export class View extends BaseView {
  /** @type {Said} */
  header;
  fields = () => this.header.fields;

  /** @param {Said} header */
  receive(header) {
    const { root } = this;
    this.header = header;
    label(root, makePhrase(header.words));
    setLanguage(header.language, header.widgets);
    document.documentElement.lang = header.language;
    find(root, "button.ad-share").onclick = () => this.share();
    root.hidden = false;
    address?.join("page", this.fields);
    address?.releaseWrites(header.asked, header.arrival);
    address?.write();
  }

  close() {
    super.close();
    address?.leave("page", this.fields);
  }

  async share() {
    if (!address) return;
    await address.write();
    const { href } = window.location;
    const field = find(this.root, "input.ad-copy");
    const message = find(this.root, "p.ad-said");
    const phrase = makePhrase(this.header.words);
    const copied = await copyText(href); // else the address stands in a field to copy
    const { of: textLength } = address.fields();
    const numbers = new Numbers(this.header.language);
    const [limit, n] = [this.header.longest, Number(textLength)].map((count) => numbers.whole(count));
    const cut = textLength ? ` ${phrase("cut", { most: limit, n })}` : "";
    put(message, phrase(copied ? "copied" : "copy") + cut);
    message.hidden = false;
    field.hidden = copied;
    field.value = href;
    if (copied) return;
    field.focus();
    field.select();
  }
}
