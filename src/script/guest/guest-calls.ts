/** Inside the sandbox: the calls of a script on its collection, queued until the host takes them. */
import type { GuestDocuments } from './guest-documents.ts';

export interface GuestLimits {
  /** Calls are accepted until this time, in milliseconds since 1970. */
  readonly acceptUntilMs: number;
  readonly callsMax: number;
  /** Calls and characters handed over at once. */
  readonly callsPerRound: number;
  readonly charactersPerRound: number;
  readonly documentCharactersMax: number;
  readonly resultCharactersMax: number;
  readonly logCharactersMax: number;
}

/** The host's answer to one call. */
export interface GuestAnswer {
  readonly error?: { readonly number: number; readonly message: string };
  /** The length of the resource, which is the next part of the texts beside the answers. */
  readonly length?: number;
  readonly options?: unknown;
}

export interface GuestCalls {
  /** False where the call is not accepted: too many calls, or too little time left. */
  add(call: GuestCall, callback: unknown): boolean;
  readonly isEmpty: boolean;
  /** The next calls as JSON text; they wait for their answers from now on. */
  take(): string;
  /** JSON texts of the documents of the calls last taken, one after the other. */
  documents(): string;
  /**
   * Runs the callbacks and throws what they throw. Calls without an answer were not made and wait again.
   * @param texts - the resources, one after the other
   */
  answer(answers: readonly GuestAnswer[], texts: string): void;
}

interface GuestCall {
  readonly kind: string;
  readonly document?: unknown;
  readonly [field: string]: unknown;
}

export function makeCalls(limits: GuestLimits, documents: GuestDocuments): GuestCalls {
  interface Waiting {
    readonly text: string;
    readonly document: string;
    readonly callback: unknown;
  }
  const { stringify } = JSON;
  const { now } = Date;
  const GuestError = Error;
  let waiting: Waiting[] = [];
  let taken: Waiting[] = [];
  let count = 0;
  const errorOf = (number: number, message: string): Error =>
    Object.assign(new GuestError(message), { number, body: message });
  return {
    add({ document, ...fields }, callback) {
      if (count >= limits.callsMax || now() > limits.acceptUntilMs) return false;
      const documentText = document === undefined ? '' : (stringify(document) ?? '');
      const text = stringify({ ...fields, length: documentText.length });
      if (text.length + documentText.length > limits.documentCharactersMax)
        throw errorOf(413, 'Request size is too large');
      count++;
      waiting.push({ text, document: documentText, callback });
      return true;
    },
    get isEmpty() {
      return waiting.length === 0;
    },
    take() {
      let characters = 0;
      let end = 0;
      while (end < waiting.length && end < limits.callsPerRound) {
        const { text, document } = waiting[end] as Waiting;
        characters += text.length + document.length;
        if (end > 0 && characters > limits.charactersPerRound) break;
        end++;
      }
      taken = waiting.slice(0, end);
      waiting = waiting.slice(end);
      return `[${taken.map(({ text }) => text).join(',')}]`;
    },
    documents: () => taken.map(({ document }) => document).join(''),
    answer(answers, texts) {
      const answered = taken;
      waiting = [...answered.slice(answers.length), ...waiting];
      taken = [];
      let read = 0;
      for (let at = 0; at < answers.length; at++) {
        const { error, length = 0, options } = answers[at] as GuestAnswer;
        const resource =
          length === 0 ? undefined : documents.read(texts.slice(read, read + length));
        read += length;
        const callback = answered[at]?.callback;
        const failure = error && errorOf(error.number, error.message);
        if (typeof callback === 'function') callback(failure, resource, options ?? {});
        else if (failure) throw failure;
      }
    },
  };
}
