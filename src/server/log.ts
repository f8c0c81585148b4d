/** One line per event: a name and fields, as text for people or JSON for machines. No secrets, no item bodies. */
import type { Clock } from '../base/index.ts';

type LogFields = Readonly<Record<string, string | number | boolean>>;

export interface Log {
  info(event: string, fields?: LogFields): void;
  /** Also written with `--quiet`. */
  error(event: string, fields?: LogFields): void;
}

interface LogOptions {
  readonly format: 'text' | 'json';
  readonly isQuiet: boolean;
  readonly clock: Clock;
  readonly write: (line: string) => void;
}

export function createLog({ format, isQuiet, clock, write }: LogOptions): Log {
  const emit = (level: 'info' | 'error', event: string, fields: LogFields): void => {
    const time = new Date(clock.nowMs()).toISOString();
    if (format === 'json') write(`${JSON.stringify({ time, level, event, ...fields })}\n`);
    else write(`${time} ${event}${printFields(fields)}\n`);
  };
  return {
    info: (event, fields = {}) => {
      if (!isQuiet) emit('info', event, fields);
    },
    error: (event, fields = {}) => emit('error', event, fields),
  };
}

function printFields(fields: LogFields): string {
  return Object.entries(fields)
    .map(([name, value]) => {
      const text = String(value);
      return ` ${name}=${/[\s"]/.test(text) ? JSON.stringify(text) : text}`;
    })
    .join('');
}
