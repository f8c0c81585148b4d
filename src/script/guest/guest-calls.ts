/** Inside the sandbox: the calls of a script on its collection, kept until the host takes them. */

export interface GuestLimits {
  /** After this moment (epoch) no call is accepted any more. */
  readonly acceptUntilMs: number;
  readonly callsMax: number;
  /** Calls and characters handed over at once. */
  readonly callsPerTurn: number;
  readonly charactersPerTurn: number;
  readonly documentCharactersMax: number;
  readonly resultCharactersMax: number;
  readonly logCharactersMax: number;
}

export type GuestCallback = (error: unknown, resource: unknown, options: unknown) => unknown;

/** What the host says of one call. */
export interface GuestAnswer {
  readonly error?: { readonly number: number; readonly message: string };
  readonly resource?: unknown;
  readonly options?: unknown;
}

export interface GuestCalls {
  /** False where the call is not accepted: too many calls, or too little time left. */
  add(kind: string, fields: Readonly<Record<string, unknown>>, callback: unknown): boolean;
  readonly isEmpty: boolean;
  /** The next calls as JSON text; they wait for their answers from now on. */
  take(): string;
  /** Runs callbacks; calls without an answer were not made and wait again. Throws what they throw. */
  answer(answers: readonly GuestAnswer[]): void;
}

export function makeCalls(limits: GuestLimits): GuestCalls {
  interface Waiting {
    readonly text: string;
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
    add(kind, fields, callback) {
      if (count >= limits.callsMax || now() > limits.acceptUntilMs) return false;
      const text = stringify({ kind, ...fields });
      if (text.length > limits.documentCharactersMax)
        throw errorOf(413, 'Request size is too large');
      count++;
      waiting.push({ text, callback });
      return true;
    },
    get isEmpty() {
      return waiting.length === 0;
    },
    take() {
      let characters = 0;
      let end = 0;
      while (end < waiting.length && end < limits.callsPerTurn) {
        characters += (waiting[end] as Waiting).text.length;
        if (end > 0 && characters > limits.charactersPerTurn) break;
        end++;
      }
      taken = waiting.slice(0, end);
      waiting = waiting.slice(end);
      return `[${taken.map(({ text }) => text).join(',')}]`;
    },
    answer(answers) {
      const asked = taken;
      waiting = [...asked.slice(answers.length), ...waiting];
      taken = [];
      for (let at = 0; at < answers.length; at++) {
        const { error, resource, options } = answers[at] as GuestAnswer;
        const callback = asked[at]?.callback;
        const failure = error && errorOf(error.number, error.message);
        if (typeof callback === 'function') callback(failure, resource, options ?? {});
        else if (failure) throw failure;
      }
    },
  };
}
