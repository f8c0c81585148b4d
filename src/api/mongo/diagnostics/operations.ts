/** The commands under way and counters of those that are done, for `currentOp`, `killOp` and `serverStatus`. */
import type { BsonDocument } from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import { UsageTable } from './usage.ts';

export interface RunningOperation {
  readonly id: number;
  readonly command: string;
  readonly database: string;
  readonly body: BsonDocument;
  readonly client: string;
  readonly connectionId: number;
  readonly appName: string;
  readonly startedMs: number;
  isKilled: boolean;
}

/** Ids stay within an int32, as clients send them. */
const ID_MAX = 2 ** 31 - 1;

const COUNTED: Readonly<Record<string, keyof OperationCounters>> = {
  insert: 'insert',
  find: 'query',
  update: 'update',
  delete: 'delete',
  getMore: 'getmore',
};

interface OperationCounters {
  insert: number;
  query: number;
  update: number;
  delete: number;
  getmore: number;
  command: number;
}

export class Operations {
  readonly #running = new Map<number, RunningOperation>();
  #lastId = 0;
  readonly counters: OperationCounters = {
    insert: 0,
    query: 0,
    update: 0,
    delete: 0,
    getmore: 0,
    command: 0,
  };
  /** Commands by name: how many, and how many were refused. */
  readonly commands = new Map<string, { total: number; failed: number }>();

  begin(operation: Omit<RunningOperation, 'id'>): RunningOperation {
    this.#lastId = (this.#lastId % ID_MAX) + 1;
    const running = { ...operation, id: this.#lastId };
    this.#running.set(running.id, running);
    this.counters[COUNTED[operation.command] ?? 'command'] += 1;
    return running;
  }

  readonly usage = new UsageTable();

  /** @param isKnown - names of clients are not kept, or they would fill the memory. */
  end(operation: RunningOperation, isKnown: boolean, isRefused: boolean, durationMs: number): void {
    const { id, command, database, body } = operation;
    this.#running.delete(id);
    if (!isKnown) return;
    this.usage.note(command, database, body, { durationMs, isRefused });
    const counts = this.commands.get(command) ?? { total: 0, failed: 0 };
    counts.total += 1;
    if (isRefused) counts.failed += 1;
    this.commands.set(command, counts);
  }

  list(): readonly RunningOperation[] {
    return [...this.#running.values()];
  }

  kill(id: number): void {
    const found = this.#running.get(id);
    if (found !== undefined) found.isKilled = true;
  }
}

/** Throws where somebody has killed the operation. */
export function checkKilled({ isKilled }: RunningOperation): void {
  if (isKilled) throw new MongoError('Interrupted', 'operation was interrupted');
}
