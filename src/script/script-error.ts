/** Why a script did not do its work: its own fault, told to whoever called it. */
import { DomainError, type ErrorCode } from '../base/index.ts';
import { GUEST_FILE } from './realm-file.ts';
import type { StopReason } from './sandbox-protocol.ts';

export class ScriptError extends DomainError {
  /** What the script set as the `number` of the error it threw; 0 for none. */
  readonly number: number;
  /** What it logged before. */
  readonly log: string;
  /** For the answer that tells of it, flat names and values. */
  headers: readonly string[] = [];

  constructor(code: ErrorCode, message: string, details: { number?: number; log?: string } = {}) {
    super(code, message);
    this.number = details.number ?? 0;
    this.log = details.log ?? '';
  }
}

export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly number: number;
  readonly log: string;
}

/** In the words of the service, with the lines of the script. */
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

const FRAMES_MAX = 20;
const MESSAGE_LENGTH_MAX = 8192;
