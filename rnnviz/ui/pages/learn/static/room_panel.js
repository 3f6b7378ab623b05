// The room's elements on the stage: address and QR code, the number of answers, the lecturer's buttons.
// They are made once: a button that is replaced while pressed would lose its click.

import { find, make, options, put } from "../../../browser/static/dom.js";

/** @import { Room } from "./room.js" */

export class RoomPanel {
  /** @param {HTMLElement} root @param {Room} room */
  constructor(root, room) {
    this.room = room;
    this.opener = find(root, "button.ln-ask");
    this.notice = find(root, "p.ln-notice");
    this.sheet = find(root, "div.ln-sheet");
    this.line = find(root, "div.ln-asking");
    this.opener.onclick = () => room.press();

    this.code = make("img", "ln-room-code");
    this.scan = make("p");
    this.address = make("p", "ln-room-address");
    this.how = make("p", "ln-quiet");
    this.trust = make("p", "ln-quiet");
    this.trouble = make("p", "ln-room-trouble");
    this.phones = make("b");
    this.count = make("span");
    this.places = make("select", "ln-room-places");
    this.places.onchange = () => room.ask({ address: this.places.value });
    this.start = button("start", "ln-strong", () => room.hide());
    this.closer = button("close", "", () => room.closeRoom());
    this.answers = make("a", "ln-button");
    this.answers.href = "/room/answers.csv";
    this.answers.download = "answers.csv";
    this.sheet.append(
      this.code,
      make(
        "div",
        "ln-room-aside",
        this.scan,
        this.address,
        make("p", "ln-room-count", this.phones, " ", this.count),
        this.how,
        this.trust,
        this.places,
        this.trouble,
        make("div", "ln-room-buttons", this.start, this.answers, this.closer),
      ),
    );

    this.reminder = make("b", "ln-room-address");
    this.answerCount = make("span");
    this.lostNotice = make("span", "ln-room-trouble");
    this.reveal = button("reveal", "ln-strong", () => room.reveal());
    this.again = button("again", "", () => room.again());
    this.next = button("next", "ln-strong", () => room.space());
    this.line.append(this.lostNotice, this.reminder, this.answerCount, this.reveal, this.again, this.next);
  }

  /** Update all elements to the room's state. */
  show() {
    const { room } = this;
    const { phrase } = room;
    if (!phrase) return;
    const phones = room.live?.phones ?? 0;
    put(this.opener, room.door ? phrase("room.open", { phones }) : phrase("room.ask"));
    this.opener.title = phrase("room.help");
    this.opener.classList.toggle("ln-on", Boolean(room.door));
    this.opener.setAttribute("aria-expanded", String(room.addressShown));
    for (const name of /** @type {const} */ (["reveal", "again", "next", "start"]))
      put(this[name], phrase(`room.${name}`));
    put(this.closer, phrase("room.close"));
    put(this.answers, phrase("room.answers"));
    this.answers.hidden = !room.live?.revealed;
    this.showSheet(phones);
    this.showQuestionLine(phones);
  }

  /** Update the addressShown with the QR code and the address, readable from the last row. @param {number} phones */
  showSheet(phones) {
    const { door, phrase, trouble, pollFailed, addressShown } = this.room;
    this.sheet.hidden = !addressShown || !(door || trouble);
    if (!phrase || this.sheet.hidden) return;
    for (const element of [this.code, this.scan, this.address, this.how, this.trust, this.closer])
      element.hidden = !door;
    this.count.parentElement?.toggleAttribute("hidden", !door);
    for (const name of /** @type {const} */ (["scan", "how", "trust"]))
      put(this[name], phrase(`room.${name}`));
    put(this.count, phrase("room.phones"));
    put(this.phones, String(phones));
    put(this.trouble, trouble || (pollFailed ? phrase("room.lost") : ""));
    this.places.hidden = !door || door.places.length < 2;
    if (!door) return;
    if (this.code.src !== door.qr) this.code.src = door.qr;
    this.code.alt = door.url;
    put(this.address, door.short);
    this.places.setAttribute("aria-label", phrase("room.address"));
    const labels = door.places.map((place) =>
      place.interface ? `${place.address} (${place.interface})` : place.address,
    );
    const choices = door.places.map((place, i) => [place.address, labels[i]]);
    options(this.places, /** @type {[string, string][]} */ (choices), door.places[door.at].address);
  }

  /** Update the line during a question, which replaces the notice. @param {number} phones */
  showQuestionLine(phones) {
    const { question, phrase, pollFailed, addressShown, door, nextLetter } = this.room;
    const asks = Boolean(question && !question.revealed && !addressShown);
    const active = Boolean(question && !question.over && !addressShown);
    this.line.hidden = !active;
    this.notice.hidden = asks || Boolean(active && nextLetter);
    if (!question || !phrase) return;
    for (const element of [this.reminder, this.answerCount, this.reveal]) element.hidden = !asks;
    this.again.hidden = asks;
    this.next.hidden = asks || !nextLetter;
    this.reveal.disabled = !question.votes;
    put(this.lostNotice, phrase("room.lost"));
    this.lostNotice.hidden = !pollFailed;
    put(this.reminder, door?.short ?? "");
    put(this.answerCount, phrase("room.answered", { n: question.answered, phones }));
  }
}

/** @param {string} name @param {string} kind @param {() => void} press */
function button(name, kind, press) {
  const element = Object.assign(make("button", `ln-button ${kind}`), { onclick: press });
  element.dataset.room = name;
  return element;
}
