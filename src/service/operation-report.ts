/** The facts of one request, for metrics; the same for every protocol. */
import type { ErrorCode } from '../base/index.ts';

export interface OperationReport {
  /** From a small fixed set, such as the commands of a protocol; `none` for unknown ones. */
  readonly operation: string;
  readonly outcome: OperationOutcome;
  /** Request units. */
  readonly charge: number;
  readonly durationMs: number;
}

/** `failed`: a bug of the server. */
export type OperationOutcome = 'ok' | ErrorCode | 'failed';
