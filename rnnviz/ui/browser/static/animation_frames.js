// A rate limit for drawing: at once, but at most once a frame. Keys may come faster than frames.

export class FrameLimiter {
  frameId = 0; // the requested frame that shows the last drawing; 0 after it
  due = false; // whether to draw again in that frame

  /** @param {() => void} draw */
  constructor(draw) {
    this.draw = draw;
  }

  /** Draw now, or in the next frame if this one has been drawn. */
  ask() {
    this.due = this.frameId > 0;
    if (this.due) return;
    this.draw();
    this.frameId = requestAnimationFrame(() => {
      this.frameId = 0;
      if (this.due) this.ask();
    });
  }

  close() {
    cancelAnimationFrame(this.frameId);
  }
}
