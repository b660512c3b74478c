// Everything that the lens remembers between two frames, in four objects: what is on show, what has come, what this
// frame draws; and what is none of these, the page around it. They are sealed: a property that is not listed here
// throws an error when it is set, instead of becoming one more thing to search for in six files. Who writes which of
// them stands at the top of lens.js.

import { DEFAULT_VIEW } from "../core/view.js";
import { FIRST_WAY } from "../core/ways.js";
import { barColours } from "../drawing/light.js";

export const createState = (root, refs, host) =>
  Object.freeze({ choice: aChoice(), data: noData(host), frame: noFrame(), page: aPage(root, refs) });

// What a person has chosen, and where the cursor is.
const aChoice = () =>
  Object.seal({
    view: { ...DEFAULT_VIEW },
    viewToCome: null, //                    given before the first pack was here
    place: "", //                           of the picture and the model, in an address
    hover: -1, //                           the token under the cursor, −1: none
    aim: -1, //                             the token that the line leads to (see lockline.js), −1: none
    hoverOther: -1, //                      the token under the cursor in the compared picture
    pointer: { target: null, x: 0, y: 0, fresh: false }, // the last pointer event; fresh: no frame has read it yet
    everHovered: false, //                  until then the lens says "put the cursor on a patch"
    presenting: false, //                   fills the screen
    more: false, //                         what most people do not need is shown as well
    heads: "head", //                       of each layer: the chosen, the "sharpest" or the "mean"
    filmWanted: !globalThis.navigator?.connection?.saveData, // its layers are fetched; or only when looked at
    filmLooked: false, //                   at the film
    exact: false, //                        numbers of all layers are told: no rounded ones will do
    dimension: -1, //                       that is written out in the arithmetic; −1: the one with the largest product
    cutting: false, //                      the scissors are open
    painting: Object.seal({ on: false, patches: new Set(), at: 0, takes: true, down: false }), // see scissors.js
    patchWanted: "", //                     the key of the patch to be put into the first picture, see matches.js
    scene: Object.seal({
      at: -1, //                            which of the saved views is shown
      heading: null, //                     the place that it led to
    }),
    opening: Object.seal({
      picture: "", //                       the one on view, and its model
      given: false, //                      an address named what is to be seen of it
      touched: false, //                    somebody has chosen something, or pointed at it
      greeted: false, //                    the soft cursor has shown somebody's own picture
      moved: false, //                      it stands in its best moment
      wished: false, //                     "surprise me" waits for the search
      at: -1, //                            which of the surprises is on view
    }),
  });

// What has come from the source, and who is asked.
const noData = (host) =>
  Object.seal({
    host, //                                what lens.js describes: source, onView, link, …
    packs: new Map(), //                    id → entry: {id, trace, picture, pack, answers, size, drawn}
    main: null, //                          the entry on the left
    other: null, //                         the entry to compare with
    whole: null, //                         the entry whose whole forward pass ran with another scale
    pictures: new Map(), //                 id → {id, title, credit, start, bitmap}, those of former traces too
    features: new Map(), //                 "id layer" → the features of a layer, see core/features.js
    habits: new Map(), //                   id → layer → what its heads do on average, see shown.js
    flows: new Map(), //                    id → the rollout of every token, as float16
    overlay: null, //                       a map that the source made: {what, query, id, values}
    labels: new Map(), //                   id of a trace → [[number, name, probability], …]
    foretold: new Map(), //                 id and what was asked → the rank correlation, see explained.js
    moved: { key: "", text: "" }, //        how far a cut moves a patch's feature, see scissors.js
    patched: { key: "", text: "" }, //      what a patch of the other picture changes, see matches.js
    search: null, //                        for the best moment: {id, pack, steps, scene: found, layers: of what, moved}
    scenes: Object.seal({
      list: [], //                          saved views
      kept: null, //                        the same as a text, as the host keeps it
    }),
    asked: new Map(), //                    what → {key, open, at, stop}: the questions, see asking.js
    coming: null, //                        AbortController of what is to be shown next
  });

// What this frame draws, and what is made once for many of them.
const noFrame = () =>
  Object.seal({
    // ---- what follows from choices and data, worked out at the beginning of every frame (see shown.js and paint.js)
    shown: Object.seal({
      answers: null, //                     of the pack that answers: the main one or the whole pass
      pack: null,
      drawn: null, //                       {pack, answers} of which film and wall are drawn
      token: -1, //                         who asks
      scale: NaN,
      altered: false, //                    the scale is not the trained one
      wholeMissing: false, //               the whole pass was asked for and is not here
      wholeArrived: false,
      what: FIRST_WAY, //                   one of heads, see core/ways.js
      layerMissing: false,
      rough: false, //                      rounded numbers are drawn, and none is told: those are on their way
      domain: null, //                      the colours that all heads share
      mainDomain: null, //                  the colours of the large picture
      clipped: 0, //                        how many patches are brighter than can be shown
      peak: null, //                        the token with the largest weight
      beyond: null, //                      of lengths: those that stand apart, see core/features.js
      mark: -1, //                          the patch that asks, −1: a prefix token does
    }),
    live: { key: "", values: null, pixels: null, parts: null, there: null, from: null }, // the map, see features.js
    match: { key: "", found: null, drawn: "" }, // which patch is which in two pictures, see matches.js
    better: null, //                        {layer, head, query}: where this patch shows more, see kindline.js
    kinds: { pack: null, layers: 0, toward: null, crowds: new Map() }, // see kindline.js
    collapse: { pack: null, key: "", found: null }, // the head that collapses without scale, for which patch
    columnsDone: 0, //                      the share of the sums that columns need, 0 to 1

    // ---- sizes and colours, which the page around it decides (see layout.js)
    pictureWidth: 0, //                     of the large picture, in CSS pixels
    pictureHeight: 0,
    seenWidth: 0, //                        of the picture and the words below it
    letters: 0, //                          of the sentence above the pictures, see headline.js
    ratio: 1, //                            device pixels per CSS pixel
    unit: 1, //                             device pixels per pixel of a drawing made for 14-pixel type
    colours: null, //                       {ink, soft, line, accent, font, convolution}
    // 256 CSS colours each
    ramps: { heat: barColours("heat"), light: barColours("light"), against: barColours("against") },

    // ---- what is drawn from, made once and used again
    photo: null, //                         the picture at the size of its canvas, see drawing/light.js
    otherPhoto: null,
    print: null, //                         what is drawn on it: heat or light
    otherPrint: null,
    behind: null, //                        the print behind the curtain
    thumbPhoto: null, //                    the picture at the size of a head's thumbnail
    otherSheet: null, //                    a canvas: the compared picture, before it is centred in its frame
    otherBox: null, //                      where it stands in the frame
    wallHeat: null, //                      one pixel per patch of every head of every layer
    patchPhoto: null, //                    the picture at one pixel a patch, for the wall and the film
    wallCells: null, //                     where the thumbnails of the wall are, for clicks
    filmLines: 1, //                        that the film stands in: layout.js gives it more where there is room
    strip: { heat: null, values: null, nothing: null }, // of the film: a pixel a patch; a row; a missing one
    nearness: { key: "", colours: null, row: null, patch: -1, print: null }, // see beside.js
    // see drawPicture
    picture: { rows: 0, columns: 0, grid: false, mark: -1, asked: false, tag: null, clipped: [], behind: null },
    tag: { patch: -1, text: "", colour: "" }, // the number beside the patch with the largest weight
    twin: { rows: 0, columns: 0, grid: false, k: 3, depth: 1, mark: -1 }, // see drawConvolution
    kernel: new Float32Array(0), //         k × k weights
    kernelSorted: null, //                  the same, largest first
    kernelKey: "", //                       what the drawn kernel shows; "": draw it again
    bar: null, //                           what the colour bar shows: a domain, its unit, whether it is open at the end
    barKey: "", //                          the same as text; "": draw it again
    sorted: new Float32Array(0), //         the weights, largest first

    // ---- which frame it is
    requested: 0, //                        the frame that is requested, 0: none
    pointed: false, //                      it is for a move of the cursor
    dirty: false, //                        it is for something else
    painted: null, //                       the token of the last frame
    samples: new Float64Array(600), //      milliseconds of script of the last frames under the cursor
    sampled: 0, //                          how many there were
  });

// The elements of the lens, its timers, and what its parts may call.
const aPage = (root, refs) =>
  Object.seal({
    root, //                                the element that holds the lens
    refs, //                                its parts by name, see markup.js
    ui: { height: 600, bare: false },
    alive: true, //                         false once it is destroyed
    touch: matchMedia("(hover: none)").matches,
    thumbs: [], //                          {button, canvas, number, said, print} of every head
    shares: [], //                          the elements that say what each prefix token takes
    expected: null, //                      the bitmap of a picture whose trace is on its way, see layout.js

    // ---- elements that a module makes, under its name
    line: null, //                          see lockline.js
    film: null,
    explained: null,
    sheet: null, //                         that the scissors paint on
    scissors: null,
    patching: null, //                      see matches.js
    matches: null,
    sums: null, //                          see arithmetic.js
    kindline: null,
    share: null, //                         what is sent on, see saving.js
    see: null, //                           the other face of the lens, where its host has one: see/see.js
    ghost: null, //                         the soft cursor that greets a newcomer, see ghost.js

    // ---- timers
    telling: 0,
    speaking: 0,
    asking: 0,
    looking: 0, //                          for the best moment

    // ---- lens.js fills these in
    schedule: null, //                      (pointed?) asks for a frame
    choose: null, //                        ({key: value}, from?) changes the view
    showView: null, //                      (view) shows another one
    opens: null, //                         ({greets}) after the view in which a picture opens was changed
  });
