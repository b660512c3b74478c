/** A picture: its address, a file, or anything else that createImageBitmap takes. */
export type Picture = string | URL | ImageBitmapSource;

/** [row, column] of a patch, the name of a prefix token ("cls", "reg0"), "row,column", or a token's number. */
export type Query = readonly [row: number, column: number] | string | number;

/** How many times as many patches along each side as the model was trained with; what is too many is refused. */
export type Detail = 1 | 2 | 3 | 4;

/** The attributes of <attention-lens>, for JSX. */
export interface LensAttributes {
  model?: string;
  picture?: string;
  numbers?: string;
  view?: string;
  face?: "see" | "lab";
  detail?: Detail | `${Detail}`;
  title?: string;
  id?: string;
  class?: string;
  className?: string;
  style?: string | Record<string, string | number>;
  ref?: unknown;
  key?: string | number;
}

/** An error. Its message is a sentence that says what was wrong and which value was given. */
export class LensError extends Error {
  readonly name: "LensError";
}

/** A network whose weights are loaded. */
export interface Model {
  readonly title: string;
  readonly layers: number;
  readonly heads: number;
  /** Pixels along a side of a patch. */
  readonly patch: number;
  /** The tokens before the patches, such as ["cls", "reg0"]. */
  readonly prefix: readonly string[];
  readonly labels: readonly string[];
  /** Runs one forward pass in this page's worker. Rejects with a LensError, or with the reason of an abort. */
  run(image: Picture, options?: { signal?: AbortSignal; detail?: Detail }): Promise<Seen>;
}

/** The queries and keys of one forward pass, from which any row of attention is computed. */
export interface Seen {
  readonly layers: number;
  readonly heads: number;
  readonly tokens: number;
  readonly prefix: readonly string[];
  readonly grid: readonly [rows: number, columns: number];
  /** The row of a token: its weight on each token, prefix tokens first. The weights sum to 1. */
  row(layer: number, head: number, query: Query): Float32Array;
}

/** Loads a network from the address of its weights, a .bin file of the playground. Rejects with a LensError. */
export function load(model: string | URL): Promise<Model>;

/** `<attention-lens model="…" picture="…" view="layer=4&head=0&query=7,5">`, or with `numbers`, the id of a script. */
export class AttentionLens extends HTMLElement {
  /** Resolves when the picture of the attributes is shown; rejects with a LensError. */
  readonly shown: Promise<void>;
  /** The shown view, {layer, head, query, …}; null before a picture is shown. */
  readonly now: Record<string, unknown> | null;
}

declare global {
  namespace JSX {
    interface IntrinsicElements {
      "attention-lens": LensAttributes;
    }
  }
  interface HTMLElementTagNameMap {
    "attention-lens": AttentionLens;
  }
}
