// The training view's elements, without words: those come from the server.

export const MARKUP = `
<div class="rt-status" role="status">
  <div class="rt-bar"><i></i></div>
  <p class="rt-line"></p>
</div>
<dl class="rt-numbers"></dl>
<p class="rt-passed" hidden></p>
<div class="rt-stage">
  <section class="rt-probe">
    <div class="rt-head"><b data-word="heat"></b><span class="rt-when" data-testid="training-when"></span></div>
    <div class="rt-map">
      <canvas class="rt-heat" role="img" data-label="heat.label"></canvas>
      <canvas class="rt-strip" aria-hidden="true"></canvas>
      <div class="rt-cursor" hidden></div>
      <p class="rt-empty" hidden></p>
    </div>
    <div class="rt-replay">
      <button type="button" class="rt-play" data-testid="training-play"></button>
      <input type="range" class="rt-range" min="0" step="1" data-label="replay">
      <span class="rt-key" aria-hidden="true"></span>
    </div>
    <p class="rt-notice"></p>
    <div class="rt-choices">
      <label class="rt-layers"><span data-word="layer"></span><select class="rt-layer"></select></label>
      <label class="rt-orders"><span data-word="order"></span><select class="rt-order"></select></label>
      <label class="rt-zooms"><span data-word="zoom"></span><select class="rt-zoom"></select></label>
    </div>
  </section>
  <section class="rt-chart">
    <div class="rt-head"><b data-word="curve"></b><span class="rt-legend"></span></div>
    <div class="rt-plot" role="img" data-label="curve.label"><div class="rt-lines"></div><i class="rt-now" hidden></i></div>
    <p class="rt-notice"></p>
  </section>
  <section class="rv-next">
    <h3 class="rv-next-head"><span></span> <bdi></bdi></h3>
    <ol class="rv-next-list"></ol>
    <p class="rv-next-foot"></p>
    <p class="rv-next-notice" data-word="next.notice"></p>
  </section>
  <section class="rt-written">
    <div class="rt-head"><b data-word="sample"></b><span class="rt-sample-when"></span></div>
    <pre class="rt-sample"></pre>
  </section>
</div>
`;
