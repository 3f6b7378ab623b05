// The live view's elements, without words: those come from the server, and no text of a reader is ever parsed.

export const MARKUP = `
<p class="rv-intro" data-word="intro"></p>
<div class="rv-bench">
  <div class="rv-chips" role="group" data-label="examples"></div>
  <div class="rv-writing">
    <span class="rv-temperature"></span>
    <button type="button" class="rv-write" data-word="write" data-title="write.help"></button>
  </div>
</div>
<div class="rv-editor">
  <div class="rv-mirror" aria-hidden="true"></div>
  <canvas class="rv-tint" aria-hidden="true"></canvas>
  <div class="rv-frames" aria-hidden="true"><i class="rv-pin" hidden></i><i class="rv-point" hidden></i></div>
  <textarea class="rv-text" rows="3" spellcheck="false" autocomplete="off" autocapitalize="off"
    autocorrect="off" data-label="text"></textarea>
</div>
<p class="rv-limit" role="status" hidden></p>
<div class="rv-desk">
  <dl class="rv-numbers"></dl>
  <div class="rv-controls">
    <label><span data-word="show"></span><select class="rv-quantity"></select></label>
    <label class="rv-layers"><span data-word="layer"></span><select class="rv-layer"></select></label>
    <label><span data-word="order"></span><select class="rv-order"></select></label>
    <label class="rv-zooms"><span data-word="zoom"></span><select class="rv-zoom"></select></label>
    <label><span data-word="colour"></span><select class="rv-colour"></select></label>
  </div>
</div>
<p class="rv-readout" role="status" aria-live="polite"></p>
<div class="rv-stage">
  <div class="rv-figure">
    <div class="rv-title rv-title-states"><b></b><span></span></div>
    <div class="rv-key" aria-hidden="true"></div>
    <canvas class="rv-heat"></canvas>
    <canvas class="rv-strip"></canvas>
    <div class="rv-title rv-title-perplexity"><b data-word="perplexity.title"></b><span
      class="rv-legend"></span><span data-word="notice.perplexity"></span><span
      class="rv-counting" data-word="notice.counting"></span></div>
    <div class="rv-title rv-title-surprisal"><b data-word="surprisal.title"></b><span
      data-word="notice.surprisal"></span></div>
    <div class="rv-plot"></div>
    <canvas class="rv-lines"></canvas>
    <div class="rv-scale" aria-hidden="true"></div>
    <div class="rv-row" hidden></div>
    <div class="rv-pinned" hidden></div>
    <div class="rv-cursor" hidden></div>
    <div class="rv-pad" tabindex="0" role="application" data-label="figure"></div>
  </div>
  <section class="rv-next">
    <h3 class="rv-next-head"><span></span> <bdi></bdi></h3>
    <ol class="rv-next-list"></ol>
    <p class="rv-next-foot"></p>
    <p class="rv-next-notice" data-word="next.notice"></p>
  </section>
</div>
<div class="rv-scrub">
  <input type="range" class="rv-range" min="0" step="1" data-label="window">
  <output class="rv-where"></output>
  <button type="button" class="rv-follow" data-word="window.follow"></button>
</div>
`;
