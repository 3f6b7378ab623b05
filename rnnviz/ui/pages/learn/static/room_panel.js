// The room's elements on the stage: address and QR code, the number of answers, the lecturer's buttons.

import { find, options, put } from "../../../browser/static/dom.js";

/** @import { Room } from "./room.js" */

export class RoomPanel {
  /** @param {HTMLElement} root @param {Room} room */
  constructor(root, room) {
    this.room = room;
    this.opener = find(root, "button.ln-ask");
    this.notice = find(root, "p.ln-notice");
    this.opener.onclick = () => room.press();

    this.sheet = find(root, "div.ln-sheet");
    this.code = find(root, "img.ln-room-code");
    this.address = find(root, "p.ln-room-address");
    this.trouble = find(root, "p.ln-room-trouble");
    this.phones = find(root, "b.ln-phones");
    this.places = find(root, "select.ln-room-places");
    this.places.onchange = () => room.ask({ address: this.places.value });
    this.answers = find(root, "a.ln-room-answers");
    find(root, "button.ln-room-start").onclick = () => room.hide();
    find(root, "button.ln-room-close").onclick = () => room.closeRoom();

    this.line = find(root, "div.ln-asking");
    this.lostNotice = find(root, "span.ln-room-lost");
    this.reminder = find(root, "b.ln-room-address");
    this.answerCount = find(root, "span.ln-room-answered");
    this.reveal = find(root, "button.ln-room-reveal");
    this.again = find(root, "button.ln-room-again");
    this.next = find(root, "button.ln-room-next");
    this.reveal.onclick = () => room.reveal();
    this.again.onclick = () => room.again();
    this.next.onclick = () => room.space();
  }

  /** Update all elements to the room's state. */
  show() {
    const { room } = this;
    const { phrase } = room;
    if (!phrase) return;
    const phones = room.live?.phones ?? 0;
    put(this.opener, room.door ? phrase("room.open", { phones }) : phrase("room.ask"));
    this.opener.classList.toggle("ln-on", Boolean(room.door));
    this.opener.ariaExpanded = String(room.addressShown);
    this.answers.hidden = !room.live?.revealed;
    this.showSheet(phones);
    this.showQuestionLine(phones);
  }

  /** Update the sheet with the QR code and the address, readable from the last row. @param {number} phones */
  showSheet(phones) {
    const { door, phrase, trouble, pollFailed, addressShown } = this.room;
    this.sheet.hidden = !addressShown || !(door || trouble);
    if (!phrase || this.sheet.hidden) return;
    this.sheet.classList.toggle("ln-closed", !door);
    put(this.phones, String(phones));
    put(this.trouble, trouble || (pollFailed ? phrase("room.lost") : ""));
    this.places.hidden = !door || door.places.length < 2;
    if (!door) return;
    if (this.code.src !== door.qr) this.code.src = door.qr;
    this.code.alt = door.url;
    put(this.address, door.short);
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
    this.lostNotice.hidden = !pollFailed;
    put(this.reminder, door?.short ?? "");
    put(
      this.answerCount,
      phrase("room.answered", { n: question.answered, phones: Math.max(phones, question.answered) }),
    );
  }
}
