// The records that go from file to file. tsc checks the modules of tsconfig.json against them.

/** One forward pass: the queries and keys of its layers, never the N×N matrix. core/core.js opens it. */
interface Pack {
  header: Record<string, any>;
  heads: number;
  layers: number;
  tokens: number; // prefix tokens and patches
  dim: number; // d_k
  scale: number; // 1/√d_k
  forwardScale: number | null; // the scale that the whole pass ran with; null: its own
  prefix: string[]; // the names of the tokens before the patches
  prefixCount: number;
  rows: number;
  columns: number;
  patches: number;
  headNumbers: number[]; // in the model, because a file may hold only some of its heads
  assumed: string; // the options that `playground.load` assumed
  cuts: any[]; // the cut edges, as readCuts in core/core.js gives them
  stored: Map<number, { decode: () => Layer; ready: Layer | null; some: number[] | null }>;
}

/** What a cut needs of a pack. */
type Tokens = Pick<Pack, "cuts" | "tokens" | "columns" | "prefixCount" | "headNumbers">;

interface Layer {
  q: Float32Array; // (heads, tokens, dim)
  k: Float32Array; // (heads, tokens, dim)
  norms: Float32Array | null; // (heads, tokens): lengths of the values after W_O
}

/** All that a person has chosen, as one flat object that fits into a link. core/view.js holds its defaults. */
interface View {
  layer: number | null; // null: at two thirds of the depth, where heads look at objects
  head: number;
  query: string | null; // "row,column" of a patch or a prefix token's name; null: the picture's start, or the middle
  locked: boolean; // whether the query stays when the cursor leaves its patch
  scale: "on" | "off" | number; // "on": 1/√d_k; "off": 1
  pass: "layer" | "whole"; // whether the scale changes this layer's softmax, or the whole forward pass ran with it
  cut: string; // edges that are cut in the whole pass: "7,5>3,2@4.1;*>3x3", as in playground/cuts.py
  label: string; // the number of the label that a map explains; "": the patch's feature
  text: string; // the text that patches are compared with, in a model trained on captions
  blank: "mean" | "noise" | "neighbours"; // the content of blanked patches
  what: string; // the way of looking, see core/ways.js
  direction: "row" | "column"; // the attention of the token, or to the token
  ceiling: "auto" | number; // the weight that is drawn brightest; "auto": by each row's exposure
  beside: "convolution" | "wall" | "compare" | "filter"; // the content of the second picture
  curtain: number; // the curtain's place, 0 to 1; left of it is the row at the other scale
}

/** One vector a token, at length 1: core/features.js. */
interface Features {
  unit: Float32Array; // (tokens, width)
  lengths?: Float32Array;
  width: number;
  from: number; // the first patch
  tokens: number;
}

/** A picture in a model, as a source opens it. */
interface Trace {
  id: string;
  model: string;
  title: string; // the model's
  picture: { id: string; title: string; credit?: string; hint?: string; start?: [number, number]; sample?: string };
  private: boolean; // whether the picture is a person's own
  prepared?: boolean;
  offers?: string[]; // the requests answered for this trace, if they are fewer than the source's
  verdict?: [string, number, number][]; // [label, before, after] of each label that a whole pass changes
  sparing?: boolean; // whether layers are fetched only when somebody looks at them
  [more: string]: any;
}

/** A lens: lens/state.js lists what each of its four objects holds. The others are short names for parts of them. */
interface Lens {
  choice: any;
  data: any;
  frame: any;
  page: any;
  view: View;
  main: any;
  other: any;
  shown: any;
  refs: Record<string, any>;
}

/** How something is asked for (shell/http.js, and the methods of a source). */
interface Options {
  signal?: AbortSignal;
  method?: string;
  body?: any;
  headers?: Record<string, string>;
  tell?: (bytes: number) => void;
}

/** What answers the lens: lens/lens.js says of each method what it gives. */
type Answer = "open" | "layers" | "features" | "flows" | "rollout" | "whole" | "moved";
type Source = Record<Answer, (...asked: any[]) => any> & Record<string, any>;

// Every element of these pages is one of HTML.
interface Element {
  readonly dataset: DOMStringMap;
  focus(options?: FocusOptions): void;
}

// What pages and drawings keep on elements, and what only some browsers have
interface HTMLElement {
  saidText?: string;
  __lens?: any;
  __reports?: Record<string, any>;
}
interface Navigator {
  connection?: { saveData?: boolean; effectiveType?: string };
}
