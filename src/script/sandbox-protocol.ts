/** What the main thread asks of a sandbox thread, and what it answers. One question at a time. */

export interface ScriptText {
  /** Shown in stack traces as the name of its file. */
  readonly name: string;
  readonly source: string;
}

export interface ScriptStart {
  readonly script: ScriptText;
  /** JSON text of a GuestInput. */
  readonly input: string;
  /** JSON list. */
  readonly args: string;
  readonly timeMs: number;
}

export interface RoundAnswers {
  /** JSON list of GuestAnswers. */
  readonly answers: string;
  /** JSON texts of the resources that they tell of, one after the other. */
  readonly texts: string;
}

export type ToSandbox =
  /** Begins a procedure or trigger. */
  | (ScriptStart & { readonly kind: 'start' })
  /** Goes on with it: the answers to its calls. */
  | (RoundAnswers & { readonly kind: 'resume' })
  /** Ends it, whatever it has come to. Has no answer. */
  | { readonly kind: 'end' }
  /** Calls of functions; those of one realm see each other's globals and nobody else's. */
  | {
      readonly kind: 'functions';
      readonly realm: number;
      readonly functions: readonly ScriptText[];
      /** JSON list; see guest-functions.ts. */
      readonly calls: string;
      readonly timeMs: number;
    }
  /** Forgets a realm of functions. Has no answer. */
  | { readonly kind: 'forget'; readonly realm: number };

export type FromSandbox =
  /** Once, when the thread has started. */
  | { readonly kind: 'ready' }
  /**
   * JSON text of calls or of a failure, with those of the documents beside the calls, not to be trusted.
   * `isLarge`: the thread's memory has reached a script's limit.
   */
  | {
      readonly kind: 'round';
      readonly text: string;
      readonly documents: string;
      readonly isLarge: boolean;
    }
  | {
      readonly kind: 'done';
      readonly response: string;
      readonly request: string;
      readonly log: string;
    }
  /** JSON list; see guest-functions.ts. */
  | { readonly kind: 'results'; readonly text: string }
  | { readonly kind: 'stopped'; readonly reason: StopReason; readonly detail: string };

/** `source`: the text is no function, `detail` says why. */
export type StopReason = 'time' | 'memory' | 'depth' | 'source';

export interface SandboxSettings {
  readonly memoryBytes: number;
}
