// The viewer's elements, without words: those come from the server, and no text of a reader is ever parsed.

export const MARKUP = `
<div class="vw-title"><b data-word="curve"></b><span class="vw-legend"></span></div>
<p class="vw-say vw-quiet"></p>
<div class="vw-curve">
  <div class="vw-plot"></div>
  <div class="vw-pad" tabindex="0" role="slider" aria-valuemin="1" data-label="curve.label">
    <i class="vw-seen"></i><i class="vw-cursor" hidden></i>
  </div>
</div>
<div class="vw-tools">
  <label class="vw-colour"><span data-word="colour"></span><select class="vw-mode"></select></label>
  <span class="vw-key"></span>
  <label class="vw-goto"><span data-word="go"></span><input class="vw-number" inputmode="numeric"
    autocomplete="off" size="9" /></label>
</div>
<div class="vw-stage">
  <div class="vw-frame">
    <div class="vw-pane" tabindex="0" role="region" data-label="text"><div class="vw-sheet"><div
      class="vw-flow" dir="auto"></div><div class="vw-marks" aria-hidden="true"></div></div></div>
    <div class="vw-rail" tabindex="0" role="scrollbar" aria-orientation="vertical" aria-valuemin="1"
      data-label="rail"><i class="vw-thumb"></i></div>
  </div>
  <section class="vw-detail" aria-live="polite"></section>
</div>
<p class="vw-foot vw-quiet"><span class="vw-place"></span><span class="vw-notice"></span></p>
`;
