// The address component: it passes the page's values on to the address, and has the button that copies it.

import { address } from "../static/address.js";
import { BaseView } from "../static/base.js";
import { find, put } from "../static/dom.js";
import { label, sayer } from "../static/messages.js";
import { Numbers } from "../static/number_format.js";
import { speak } from "../static/widget_words.js";

/** @import { Fields } from "../static/address.js" */

/** @typedef {{ fields: Fields, asked: Fields, arrival: number, language: string, longest: number, widgets: Record<string, string>, words: Record<string, string> }} Said */

export class View extends BaseView {
  /** @type {Said} */
  said;
  fields = () => this.said.fields;

  /** @param {Said} header */
  receive(header) {
    const { root } = this;
    this.said = header;
    label(root, sayer(header.words));
    speak(header.language, header.widgets);
    find(root, "button.ad-share").onclick = () => this.share();
    this.styled.then(() => {
      root.hidden = false;
    });
    address?.join("page", this.fields);
    address?.read(header.asked, header.arrival);
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
    const said = find(this.root, "p.ad-said");
    const say = sayer(this.said.words);
    // Browsers give only https pages and localhost a clipboard; elsewhere the address stands in a field to copy.
    const copied = await Promise.resolve(navigator.clipboard?.writeText(href)).then(
      () => Boolean(navigator.clipboard),
      () => false,
    );
    const { of } = address.fields();
    const numbers = new Numbers(this.said.language);
    const [most, n] = [this.said.longest, Number(of)].map((count) => numbers.whole(count));
    put(said, say(copied ? "copied" : "copy") + (of ? ` ${say("cut", { most, n })}` : ""));
    said.hidden = false;
    field.hidden = copied;
    field.value = href;
    if (copied) return;
    field.focus();
    field.select();
  }
}
