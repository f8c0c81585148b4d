/** Errors of scripts: failures that are the script's own fault, reported to its caller. */
import { DomainError, type ErrorCode } from '../base/index.ts';
import { GUEST_FILE, type StopReason } from './sandbox-protocol.ts';
import type { ThreadResponse } from './sandbox-thread.ts';

export class ScriptError extends DomainError {
  /** The `number` of the error that the script threw; 0 for none. */
  readonly number: number;
  /** The log of the script up to the error. */
  readonly log: string;
  /** Headers of the error response, names and values alternating. */
  headers: readonly string[] = [];

  constructor(code: ErrorCode, message: string, details: { number?: number; log?: string } = {}) {
    super(code, message);
    this.number = details.number ?? 0;
    this.log = details.log ?? '';
  }
}

/** An error that a script threw, as the guest prints it. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly number: number;
  readonly log: string;
}

/** The error in the words of the service, with the stack trace of the script. */
export function thrownError({ name, message, stack, number, log }: Thrown): ScriptError {
  const what = name === '' ? message : `${name}: ${message}`;
  if (what === 'InternalError: out of memory') return stoppedError('memory', '');
  const frames = stack
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.includes(GUEST_FILE) && !line.endsWith('(native)'))
    .slice(0, FRAMES_MAX)
    .map((line) => `\n   ${line}`);
  const trace = frames.length === 0 ? '' : `\r\nStack trace: ${what}${frames.join('')}`;
  const text = `Encountered exception while executing Javascript. Exception = ${what}${trace}`;
  return new ScriptError('scriptFailed', text.slice(0, MESSAGE_LENGTH_MAX), { number, log });
}

export function stoppedError(reason: StopReason, detail: string): ScriptError {
  switch (reason) {
    case 'time':
      return new ScriptError(
        'scriptTimeout',
        'The script used more than the time it is allowed and was stopped.',
      );
    case 'memory':
      return new ScriptError(
        'scriptLimit',
        'The script used more than the memory it is allowed and was stopped.',
      );
    case 'depth':
      return new ScriptError(
        'scriptFailed',
        `Encountered exception while executing Javascript. Exception = ${detail}`,
      );
    case 'source':
      return new ScriptError(
        'scriptFailed',
        `Encountered exception while compiling Javascript. Exception = ${detail}`,
      );
  }
}

/** The error for any response that does not have the result. */
export function responseError(response: ThreadResponse): ScriptError {
  if (response.kind === 'stopped') return stoppedError(response.reason, response.detail);
  // The thread did not respond in time, or the script has broken it.
  if (response.kind === 'lost') return stoppedError('time', '');
  return brokenGuest();
}

/** The script has changed objects that its environment is made of. */
export function brokenGuest(): ScriptError {
  return new ScriptError('scriptFailed', 'The script broke the objects it runs with.');
}

/** JSON text of the guest, which a script may have changed. */
export function parseGuestText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw brokenGuest();
  }
}

/** Bounds on what a script can put into a response by its errors. */
const FRAMES_MAX = 20;
const MESSAGE_LENGTH_MAX = 8192;
