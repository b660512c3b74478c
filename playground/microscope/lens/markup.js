// The lens's HTML. data-ref names an element for the code; data-choice names the choice that a control sets. Titles and
// names from outside never enter this HTML: they are set later, as text.

import { WAYS, wayWords } from "../core/ways.js";
import { rowMarkup } from "./rows.js";

// The buttons of the ways to look (core/ways.js): the rarely used ways if `isExtra`, else the others.
const menu = (isExtra) =>
  Object.values(WAYS)
    .filter((way) => way.extra === isExtra)
    .map((way) => {
      const needs = { ask: way.offer, section: way.pack };
      const data = Object.entries(needs).map(([key, name]) => (name ? ` data-${key}="${name}"` : ""));
      const hint = wayWords(way, "hint");
      const attributes = `${data.join("")}${hint ? ` title="${hint}"` : ""}`;
      return `<button data-value="${way.name}"${attributes}>${wayWords(way, "tab")}</button>`;
    })
    .join("\n    ");

const WHAT = `
  <div class="tabs" role="group" aria-label="What is drawn" data-choice="what">
    ${menu(false)}
  </div>
  <div class="tabs" role="group" aria-label="More that is drawn" data-choice="what">
    ${menu(true)}
  </div>
  <div class="tabs" role="group" aria-label="Row or column of the attention matrix" data-choice="direction"
      data-ref="directionTabs">
    <button data-value="row" title="A row of the attention matrix: what this patch looks at">row: looks at</button>
    <button data-value="column"
        title="A column of the attention matrix: who looks at this patch">column: who looks</button>
  </div>
  <div class="foot" data-ref="legend">
    <canvas data-ref="colourBar" aria-hidden="true"></canvas>
    <p class="soft"><b data-ref="exposed"></b> <button class="quiet" data-ref="hold" aria-pressed="false"
          data-explains="Exposure: from which value on a patch is drawn at full brightness. Each row has its own.
          Hold it, and rows can be compared (key h).">hold exposure</button>
      <span data-ref="note"></span> <span class="assumed" data-ref="assumed" hidden></span></p>
  </div>
  <button class="quiet" data-ref="keys" aria-expanded="false" aria-haspopup="true">Keys</button>`;

const HEAD = `
  <label class="layer"><span>Layer <output data-ref="layerText">8</output> <i class="soft"
      data-ref="layerRange"></i>
    <span class="head">Head <output data-ref="headText">0</output></span></span>
    <input type="range" min="0" max="11" step="1" data-ref="layer" aria-label="Layer"></label>
  <div data-choice="beside">
    <button class="quiet" data-value="wall" data-ref="wallTab" title="Key w">all heads of all layers</button></div>
  <div class="heads" role="group" aria-label="Heads of this layer" data-ref="heads"></div>
  <p class="soft" data-ref="headsNote"></p>
  <p class="kindline" data-ref="kindline"></p>
  <div class="tabs tokens" role="group" aria-label="Take a special token as the query" data-ref="tokens"></div>`;

const SCALE = `
  <div class="scale" data-ref="scale">
    <button class="switch" role="switch" aria-checked="true" data-name="switchNamed"
        data-ref="switch">
      <span class="on" data-text="ON"></span><span class="off" data-text="OFF"></span><span class="knob"></span>
    </button>
    <p class="formula">softmax( <b class="q">q</b>·<b class="k">k</b> <span data-ref="divisor">/ √64</span> )</p>
    <div class="dial">
      <input type="range" min="0" max="1250" step="1" data-ref="dial" data-name="dialNamed">
      <div class="ticks">
        <span>0<i>uniform</i></span>
        <span data-ref="dialMiddle">1/√64</span>
        <span>1<i>no scale</i></span>
        <span>8</span>
      </div>
    </div>
    <div class="tabs" role="group" aria-label="What the scale changes" data-choice="pass" data-ask="whole">
      <button data-value="layer">this layer only</button><button data-value="whole">whole forward pass</button>
    </div>
    <p class="verdict" data-ref="verdict" hidden></p>
  </div>
  <div class="counts">
  <div class="numbers">
    <p class="label" data-ref="bigLabel">looks at about</p>
    <p class="big" data-ref="bigWhole"><span data-ref="big">5.2</span>
      <small data-ref="bigOf">of 196 patches</small></p>
    <dl>
      <div><dt data-say="largestWeight"></dt><dd><b data-ref="peak"></b> <i data-ref="peakAt"></i></dd></div>
      <div data-ref="habitRow" hidden><dt data-say="onAverage"></dt><dd data-ref="habit"></dd></div>
      <div data-ref="toldRow" class="told" hidden><dt>was told to</dt><dd data-ref="told"></dd></div>
      <div><dt data-ref="entropyLabel">entropy</dt>
        <dd><b data-ref="entropy"></b> <i data-ref="entropyOf"></i></dd></div>
      <div class="shares" data-ref="shares"></div>
    </dl>
  </div>

  <div class="curve">
    <canvas data-ref="curve" role="img" data-name="curveNamed"></canvas>
    <p class="soft"><span data-say="weightsFirst"></span>
      <span class="kernel-key"><span data-say="kernels"></span> <b>9</b></span></p>
  </div>
  </div>`;

const BESIDE = `
  <figure class="beside">
    <div class="tabs" role="group" aria-label="The second picture" data-choice="beside">
      <button data-value="convolution">3×3 convolution</button>
      <button data-value="compare" data-ref="compareTab">compare</button>
      <button data-value="filter"
          title="What colour and nearness alone light from the same patch (key n)">no network</button>
    </div>
    <div class="two" data-ref="two">
    <div class="picture">
      <canvas data-ref="twin" role="img" aria-label="What a convolution reads at the same patch"></canvas>
      <canvas data-ref="wall" role="img" data-name="wallNamed" hidden></canvas>
      <div class="badge" data-ref="twinBadge" hidden></div>
    </div>
    <canvas class="nine" data-ref="nine" role="img" aria-label="The patches that it reads, enlarged"></canvas>
    </div>
    <div class="foot" data-ref="twinFoot">
      <p><b data-ref="reads">reads 9 of 196 patches</b></p>
    </div>
    <p class="foot soft" data-ref="otherFoot" hidden></p>
    <div class="foot" data-ref="filterFoot" hidden>
      <canvas data-ref="filterBar" aria-hidden="true"></canvas>
      <p class="soft"><b data-ref="filterExposed"></b></p>
      <p class="soft" data-ref="filterWords"></p>
    </div>
  </figure>`;

const CHANGE = `<div data-ref="change"></div>`;

export const MARKUP = `
<section class="stage" data-ref="stage">
    <div class="picture" data-ref="pictureBox">
      <canvas data-ref="picture" tabindex="1" role="application" data-name="pictureNamed"></canvas>
      <div class="curtain" data-ref="curtain" role="slider" tabindex="0" aria-valuemin="0" aria-valuemax="100"
          aria-label="Curtain: the other scale on its left" title="Drag it: with 1/√d and without"></div>
      <div class="pin" data-ref="lock"></div>
      <div class="badge" data-ref="badge" hidden></div>
      <div class="waiting" data-ref="waiting" hidden></div>
    </div>
</section>

<div class="below" data-ref="below">
  <div class="rows" data-ref="rows">
    ${rowMarkup("what", "What", WHAT)}
    ${rowMarkup("head", "Which head", HEAD)}
    ${rowMarkup("scale", "Scale", SCALE, "panel")}
    ${rowMarkup("beside", "Beside", BESIDE)}
    ${rowMarkup("change", "Change it", CHANGE)}
  </div>
  <div class="end" data-ref="end">
    <button class="share-go" data-ref="sending" aria-expanded="false" aria-haspopup="dialog" data-say="share"></button>
    <span class="message" data-ref="message" role="status"></span>
    <span class="credit" data-ref="credit"></span>
  </div>
</div>

<div class="sheet" data-ref="keysSheet" role="dialog" aria-label="Keys" hidden>
  <dl class="keys">
    <div><dt><kbd>click</kbd></dt><dd>lock a patch</dd></div>
    <div><dt><kbd>↑↓←→</kbd></dt><dd>move it</dd></div>
    <div><dt><kbd>Esc</kbd></dt><dd>unlock</dd></div>
    <div><dt><kbd>h</kbd></dt><dd>hold exposure</dd></div>
    <div><dt><kbd>[</kbd> <kbd>]</kbd></dt><dd>layer</dd></div>
    <div><dt><kbd>,</kbd> <kbd>.</kbd></dt><dd>head</dd></div>
    <div><dt><kbd>s</kbd></dt><dd>flip the switch</dd></div>
    <div><dt><kbd>b</kbd></dt><dd>surprise me</dd></div>
    <div><dt><kbd>n</kbd></dt><dd>colour and nearness alone, without a network</dd></div>
    <div><dt><kbd>PgDn</kbd> <kbd>PgUp</kbd></dt><dd>next scene</dd></div>
    <div><dt><kbd>p</kbd></dt><dd>play the layers</dd></div>
    <div><dt><kbd>f</kbd></dt><dd>present, as large as the screen</dd></div>
  </dl>
</div>

<div class="sheet sharing" data-ref="sendingSheet" role="dialog" aria-label="Share" hidden>
  <div class="tabs" role="group" aria-label="What is shared" data-ref="shareWays">
    <button data-share="picture" data-say="sharePicture"></button>
    <button data-share="loop" data-say="shareLoop" hidden></button>
    <button data-share="page" data-say="sharePage" hidden></button>
    <button data-share="link" data-say="shareLink" hidden></button>
  </div>
  <div data-ref="sharePreview"></div>
  <div class="send"><button data-ref="shareGo" data-say="share"></button><button data-ref="shareSave"></button></div>
  <p class="soft" data-ref="shareStatus" role="status"></p>
  <div class="keeps">
    <details data-ref="scenes" hidden><summary>Scenes</summary>
      <ol class="scene-list" data-ref="sceneList"></ol>
      <div class="tabs"><button data-ref="sceneAdd">Save this view in this browser</button></div>
      <p class="soft" data-ref="sceneNote"></p>
    </details>
  </div>
</div>

<div class="live" aria-live="polite" data-ref="live"></div>
`;
