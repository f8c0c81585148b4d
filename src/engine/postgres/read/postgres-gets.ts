/**
 * Reads of single keys. Those of one turn of the event loop go as one statement, and while two are under way the next ones
 * gather: a get then costs a quarter of the CPU of one that goes alone.
 */
import type { Bytes } from '../../../base/index.ts';
import { byteaArray, type Parameter, readInt8 } from '../connect/postgres-messages.ts';
import type { Statement, Step, StepsResult } from '../connect/postgres-session.ts';

export type Execute = (step: Step) => Promise<StepsResult>;

const IN_FLIGHT_MAX = 2;
const GATHERED_MAX = 1000;

interface Waiting {
  readonly key: Bytes;
  readonly resolve: (value: Bytes | undefined) => void;
  readonly reject: (error: unknown) => void;
}

interface GetStatements {
  readonly one: Statement;
  readonly many: Statement;
  /** Parameters after the keys. */
  readonly more: readonly Parameter[];
}

export class GatheredGets {
  readonly #statements: GetStatements;
  readonly #execute: Execute;
  #waiting: Waiting[] = [];
  #inFlight = 0;
  #isScheduled = false;

  constructor(statements: GetStatements, execute: Execute) {
    this.#statements = statements;
    this.#execute = execute;
  }

  get(key: Bytes): Promise<Bytes | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, resolve, reject });
      this.#schedule();
    });
  }

  async getMany(keys: readonly Bytes[]): Promise<readonly (Bytes | undefined)[]> {
    if (keys.length === 0) return [];
    const { many, more } = this.#statements;
    const { rows } = await this.#execute({
      statement: many,
      parameters: [byteaArray(keys), ...more],
    });
    const values = new Array<Bytes | undefined>(keys.length).fill(undefined);
    for (const [number, value] of rows[0] ?? [])
      values[readInt8(number) - 1] = (value as Bytes).slice();
    return values;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= IN_FLIGHT_MAX) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  #send(): void {
    if (this.#waiting.length === 0 || this.#inFlight >= IN_FLIGHT_MAX) return;
    const group = this.#waiting.splice(0, GATHERED_MAX);
    this.#inFlight++;
    this.#read(group)
      .then(
        (values) => {
          for (const [at, { resolve }] of group.entries()) resolve(values[at]);
        },
        (error) => {
          for (const { reject } of group) reject(error);
        },
      )
      .finally(() => {
        this.#inFlight--;
        if (this.#waiting.length > 0) this.#schedule();
      });
    if (this.#waiting.length > 0) this.#schedule();
  }

  async #read(group: readonly Waiting[]): Promise<readonly (Bytes | undefined)[]> {
    const [first] = group;
    if (first === undefined || group.length > 1) return this.getMany(group.map(({ key }) => key));
    const { one, more } = this.#statements;
    const { rows } = await this.#execute({ statement: one, parameters: [first.key, ...more] });
    // A copy: the row shares the memory of all that came with it, and records are kept for long.
    return [rows[0]?.[0]?.[0]?.slice()];
  }
}
