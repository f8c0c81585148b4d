/** The calls of user functions in one statement: what is known, and what the sandbox has to compute. */
import type { Bytes } from '../../../base/index.ts';
import { bytesToLatin1 } from '../../../base/index.ts';
import { CqlError } from '../errors.ts';
import { USER_CALL_ROUNDS_MAX, USER_CALLS_MAX } from '../limits.ts';
import type { Call } from '../statements/plan.ts';
import { typeText } from '../types/cql-type.ts';
import { argumentJson, resultBytes, sourceOf } from './function-script.ts';
import type { UserAggregate, UserFunction, UserRoutine } from './user-functions.ts';

interface Wanted {
  readonly routine: UserRoutine;
  /** The arguments as the script takes them. */
  readonly args: readonly unknown[];
}

/** Thrown where a statement cannot go on without the result. */
class ResultWanted extends Error {}

export class UserCalls {
  #known: Map<string, Bytes | null> | undefined;
  #wanted: Map<string, Wanted> | undefined;

  get hasWanted(): boolean {
    return this.#wanted !== undefined;
  }

  /**
   * The result of a function.
   * @param mayWait - true in selections, whose rows are made again when the result is there; null until then.
   */
  value(routine: UserFunction, args: readonly (Bytes | null)[], mayWait: boolean): Bytes | null {
    if (!routine.calledOnNull && args.includes(null)) return null;
    const key = keyOf(routine, args);
    return this.#find(key, mayWait, () => ({
      routine,
      args: [args.map((bytes, at) => argumentJson(routine.argumentTypes[at] as never, bytes))],
    }));
  }

  /** The result of an aggregate over all its rows. */
  fold(routine: UserAggregate, rows: readonly (readonly (Bytes | null)[])[]): Bytes | null {
    const key = `${keyOf(routine, [])}\u0101${rows.map((row) => keyOf(routine, row)).join('\u0101')}`;
    return this.#find(key, true, () => {
      const { initial, stateType, argumentTypes } = routine;
      const state = initial === undefined ? null : Buffer.from(initial.hex, 'hex');
      return {
        routine,
        args: [
          argumentJson(stateType, state),
          rows.map((row) =>
            row.map((bytes, at) => argumentJson(argumentTypes[at] as never, bytes)),
          ),
        ],
      };
    });
  }

  /** Has the sandbox compute all results that are wanted. */
  async compute({ environment }: Call): Promise<void> {
    const wanted = [...(this.#wanted ?? [])];
    this.#wanted = undefined;
    const names = new Map<UserRoutine, string>();
    for (const [, { routine }] of wanted)
      if (!names.has(routine)) names.set(routine, `f${names.size}`);
    const texts = [...names].map(([routine, name]) => ({ ...sourceOf(routine), name }));
    const realm = environment.service.scripts.functions(texts);
    try {
      const calls = wanted.map(([, { routine, args }]) =>
        JSON.stringify([names.get(routine), 0, ...args]),
      );
      const results = await realm.run(calls);
      this.#known ??= new Map();
      for (const [at, result] of results.entries()) {
        const [key, { routine }] = wanted[at] as (typeof wanted)[number];
        if (result.kind === 'error') throw failed(routine, result.message);
        const value = result.kind === 'value' ? result.value : null;
        this.#known.set(key, bytesOf(routine, value));
      }
    } finally {
      realm.forget();
    }
  }

  #find(key: string, mayWait: boolean, want: () => Wanted): Bytes | null {
    const known = this.#known?.get(key);
    if (known !== undefined) return known;
    this.#wanted ??= new Map();
    if (!this.#wanted.has(key)) {
      if (this.#wanted.size >= USER_CALLS_MAX)
        throw new CqlError(
          'invalid',
          `A page calls functions at most ${USER_CALLS_MAX} times: read smaller pages`,
        );
      this.#wanted.set(key, want());
    }
    if (mayWait) return null;
    throw new ResultWanted();
  }
}

function keyOf({ keyspace, name }: UserRoutine, args: readonly (Bytes | null)[]): string {
  const parts = args.map((bytes) => (bytes === null ? '\u0102' : bytesToLatin1(bytes)));
  return `${keyspace}.${name}\u0100${parts.join('\u0100')}`;
}

function bytesOf(routine: UserRoutine, value: unknown): Bytes | null {
  try {
    return resultBytes(routine.returnType, value);
  } catch (error) {
    throw failed(routine, `returned no ${typeText(routine.returnType)}: ${String(error)}`);
  }
}

function failed({ keyspace, name, argumentTypes }: UserRoutine, message: string): CqlError {
  const types = argumentTypes.map(typeText);
  return new CqlError(
    'functionFailure',
    `execution of '${keyspace}.${name}[${types.join(', ')}]' failed: ${message}`,
    { kind: 'function', keyspace, name, types },
  );
}

/** Runs a statement, again whenever results of functions have come that it asked for. */
export async function withUserFunctions<T>(
  call: Call,
  run: (call: Call) => Promise<T>,
): Promise<T> {
  for (let round = 0; round < USER_CALL_ROUNDS_MAX; round++) {
    let result: { readonly value: T } | undefined;
    try {
      result = { value: await run(call) };
    } catch (error) {
      // An error of a value that is not there yet is none.
      if (!call.userCalls.hasWanted) throw error;
    }
    if (result !== undefined && !call.userCalls.hasWanted) return result.value;
    await call.userCalls.compute(call);
  }
  throw new CqlError('invalid', 'Functions are nested too deeply, or depend on the time');
}
