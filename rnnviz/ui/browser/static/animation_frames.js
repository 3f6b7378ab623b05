// A rate limit for drawing: at once, but at most once a frame. Keys may come faster than frames.

export class Frames {
  drawn = 0; // the requested frame that shows the last drawing; 0 after it
  due = false; // whether to draw again in that frame

  /** @param {() => void} draw */
  constructor(draw) {
    this.draw = draw;
  }

  /** Draw now, or in the next frame if this one has been drawn. */
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
