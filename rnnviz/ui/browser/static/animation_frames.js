// Drawing at once, but once a frame: keys may come faster than frames.

export class Frames {
  drawn = 0; // the frame that will show what was drawn last
  due = false; // something newer is to be drawn

  /** @param {() => void} draw */
  constructor(draw) {
    this.draw = draw;
  }

  /** Something is new. */
  ask() {
    this.due = this.drawn > 0;
    if (this.due) return;
    this.draw();
    this.drawn = requestAnimationFrame(() => {
      this.drawn = 0;
      if (this.due) this.ask();
    });
  }

  close() {
    cancelAnimationFrame(this.drawn);
  }
}
