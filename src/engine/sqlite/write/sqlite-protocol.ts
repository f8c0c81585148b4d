/** Messages between the main thread and the threads of the engine. Plain data, cloned or transferred. */

/** The settings of a store that its writer needs. */
export interface StoreSettings {
  readonly path: string;
  /** The folder of all stores, which exists. */
  readonly root: string;
  /** The file does not grow beyond this. Commits that would need more are refused, as on a full disk. */
  readonly bytesMax: number | undefined;
}

/** `store` is a number that the main thread assigns, new for every opening. */
export type ToWriter =
  | { readonly kind: 'open'; readonly store: number; readonly settings: StoreSettings }
  | { readonly kind: 'commit'; readonly store: number; readonly frames: ArrayBuffer }
  /** The checkpointer has reached the end of the log as it was when it started. */
  | { readonly kind: 'checkpointed'; readonly store: number }
  | { readonly kind: 'close'; readonly store: number };

export type FromWriter =
  | { readonly kind: 'opened'; readonly store: number; readonly failure: Failure | undefined }
  /** Replies to the oldest `count` commits. Only failures are listed. */
  | {
      readonly kind: 'committed';
      readonly store: number;
      readonly count: number;
      readonly failures: readonly OutcomeFailure[];
    }
  /** The log has grown and should be copied into the file. */
  | { readonly kind: 'logGrew'; readonly store: number; readonly descriptor: number }
  | { readonly kind: 'closed'; readonly store: number; readonly failure: Failure | undefined };

export interface OutcomeFailure {
  /** The position among the commits of this reply. */
  readonly at: number;
  readonly failure: Failure;
}

export interface Failure {
  readonly kind: 'conflict' | 'format' | 'unavailable';
  readonly message: string;
}

export interface ToCheckpointer {
  readonly store: number;
  readonly path: string;
  /** A descriptor of the file, open until the checkpoint is answered. */
  readonly descriptor: number;
}

export interface FromCheckpointer {
  readonly store: number;
}
