/** Runs of queries in any language, which can be cancelled. */
import { post, send } from './api.ts';
import type { ApiId, RunResult } from './types.ts';

export interface RunRequest {
  readonly api: ApiId;
  readonly db: string;
  readonly container: string;
  readonly text: string;
  readonly key?: readonly unknown[];
  readonly limit?: number;
  readonly continuation?: string;
  readonly explain?: boolean;
}

export interface Running {
  readonly result: Promise<RunResult>;
  cancel(): void;
}

let last = 0;

export function run(request: RunRequest): Running {
  const id = `page-${Date.now().toString(36)}-${++last}`;
  return {
    result: post<RunResult>('run', { ...request, id }),
    cancel: () => void send(`/portal/api/run/${id}`, { method: 'DELETE' }).catch(() => undefined),
  };
}

/** The values of a partition key as a person types them: JSON, or a text without quotes. */
export function keyValues(text: string): readonly unknown[] | undefined {
  if (text.trim() === '') return undefined;
  try {
    const value = JSON.parse(text);
    return Array.isArray(value) ? value : [value];
  } catch {
    return [text];
  }
}
