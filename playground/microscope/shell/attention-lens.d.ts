/** A picture: its address, a file, or anything that a browser makes a bitmap of. */
export type Picture = string | URL | ImageBitmapSource;

/** [row, column] of a patch, the name of a prefix token ("cls", "reg0"), "row,column", or a token's number. */
export type Query = readonly [row: number, column: number] | string | number;

/** What goes wrong. Its message is a sentence: what was wrong, and what was given. */
export class LensError extends Error {
  readonly name: "LensError";
}

/** A network whose weights are here. */
export interface Model {
  readonly title: string;
  readonly layers: number;
  readonly heads: number;
  /** Pixels along a side of a patch. */
  readonly patch: number;
  /** The tokens before the patches, such as ["cls", "reg0"]. */
  readonly prefix: readonly string[];
  readonly labels: readonly string[];
  /** One forward pass, in this page's worker. Rejects with a LensError, or with the reason of an abort. */
  run(image: Picture, options?: { signal?: AbortSignal }): Promise<Seen>;
}

/** What a forward pass leaves: queries and keys, of which any row is a softmax. */
export interface Seen {
  readonly layers: number;
  readonly heads: number;
  readonly tokens: number;
  readonly prefix: readonly string[];
  readonly grid: readonly [rows: number, columns: number];
  /** Whom a token listens to: a weight for each token, prefix tokens first; they sum to 1. */
  row(layer: number, head: number, query: Query): Float32Array;
}

/** Brings a network by the address of its weights, a .bin of the playground. Rejects with a LensError. */
export function load(model: string | URL): Promise<Model>;

/** `<attention-lens model="…" picture="…" view="layer=4&head=0&query=7,5">`, or with `numbers`, the id of a script. */
export class AttentionLens extends HTMLElement {
  /** Resolves when what the attributes say is on view; rejects with a LensError. */
  readonly shown: Promise<void>;
  /** What is on view, with the names that a view has; null before something is. */
  readonly now: Record<string, unknown> | null;
}

declare global {
  interface HTMLElementTagNameMap {
    "attention-lens": AttentionLens;
  }
}
