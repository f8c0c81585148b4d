/** Requests of the main thread to a sandbox thread, and its responses. There is one request at a time. */

/** The file name of our own code in a sandbox: its frames are left out of stack traces. */
export const GUEST_FILE = 'guest.js';

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
  /** JSON texts of the resources in the answers, one after the other. */
  readonly texts: string;
}

export type SandboxRequest =
  /** Begins a procedure or trigger. */
  | (ScriptStart & { readonly kind: 'start' })
  /** Resumes it with the answers to its calls. */
  | (RoundAnswers & { readonly kind: 'resume' })
  /** Ends it in any state. Has no response. */
  | { readonly kind: 'end' }
  /** Calls functions. Those of one realm share globals with each other and with no other realm. */
  | {
      readonly kind: 'functions';
      readonly realm: number;
      readonly functions: readonly ScriptText[];
      /** JSON list; see guest-functions.ts. */
      readonly calls: string;
      readonly timeMs: number;
    }
  /** Closes a realm of functions. Has no response. */
  | { readonly kind: 'forget'; readonly realm: number };

export type SandboxResponse =
  /** Sent once, when the thread has started. */
  | { readonly kind: 'ready' }
  /**
   * JSON text of calls or of a failure, and the texts of the documents of the calls. Neither is to be trusted.
   * `isLarge`: the thread's memory has reached the limit of a script.
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

/** `source`: the text is not a function, and `detail` says why. */
export type StopReason = 'time' | 'memory' | 'depth' | 'source';

export interface SandboxSettings {
  readonly memoryBytes: number;
}
