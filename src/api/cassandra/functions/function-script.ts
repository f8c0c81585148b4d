/**
 * The script that runs a function in the sandbox. Values cross as JSON: numbers as numbers, integers beyond 2^53 and
 * decimals as text that becomes a BigInt or a text, times in milliseconds that become a Date, collections as lists and
 * objects, all others as the texts that CQL prints.
 */
import type { Bytes } from '../../../base/index.ts';
import type { ScriptText } from '../../../script/index.ts';
import type { Value } from '../../../value/index.ts';
import type { CqlType } from '../types/cql-type.ts';
import { int64Of } from '../types/native-values.ts';
import { varintOf } from '../types/number-bytes.ts';
import { bytesOfJson, jsonOf } from '../types/values.ts';
import { translateJava } from './java-expression.ts';
import type { UserAggregate, UserFunction } from './user-functions.ts';

/** Throws CqlError for a body that is no function of its language. */
export function sourceOf(routine: UserFunction | UserAggregate): ScriptText {
  const { name } = routine;
  if (routine.kind === 'function')
    return {
      name,
      source: `(function (args) { return (${FINISH})((${callable(routine)})(args)); })`,
    };
  const { stateFunction, finalFunction } = routine;
  const accepts = stateFunction.calledOnNull;
  return {
    name,
    source: `(function (state, rows) {
      const step = ${callable(stateFunction)};
      const finish = ${finalFunction === undefined ? '(args) => args[0]' : callable(finalFunction)};
      for (const row of rows) {
        const args = [state, ...row];
        if (${accepts} || !args.includes(null)) state = (${FINISH})(step(args));
      }
      if (state === null && ${finalFunction !== undefined && !finalFunction.calledOnNull}) return null;
      return (${FINISH})(finish([state]));
    })`,
  };
}

/** From what a body returns to JSON. */
const FINISH = `(result) => {
  const plain = (value) =>
    value === undefined ? null
    : typeof value === 'bigint' ? value.toString()
    : value instanceof Date ? value.getTime()
    : value instanceof Map ? Array.from(value, ([key, one]) => [plain(key), plain(one)])
    : value instanceof Set ? Array.from(value, plain)
    : Array.isArray(value) ? value.map(plain)
    : value;
  return plain(result);
}`;

function callable({
  argumentNames,
  argumentTypes,
  language,
  body,
  returnType,
}: UserFunction): string {
  const taken = argumentTypes.map((type, at) => takenFrom(type, `args[${at}]`));
  const code =
    language === 'java' ? translateJava(body, argumentNames, argumentTypes, returnType) : body;
  // A body may be statements that return, or one expression.
  const isStatements = /\b(?:return|throw|if|for|while|var|let|const)\b|;/.test(code);
  const names = argumentNames.join(', ');
  const text = isStatements ? `{ ${code}\n }` : `{ return (${code}\n); }`;
  return `((args) => (function (${names}) ${text})(${taken.join(', ')}))`;
}

function takenFrom(type: CqlType, value: string): string {
  if (type.kind !== 'native') return value;
  switch (type.name) {
    case 'bigint':
    case 'counter':
    case 'varint':
      return `(${value} === null ? null : Number.isSafeInteger(Number(${value})) ? Number(${value}) : BigInt(${value}))`;
    case 'timestamp':
      return `(${value} === null ? null : new Date(${value}))`;
    default:
      return value;
  }
}

/** A value as the script takes it. */
export function argumentJson(type: CqlType, bytes: Bytes | null): unknown {
  if (bytes === null) return null;
  if (type.kind === 'native') {
    if (type.name === 'bigint' || type.name === 'counter') return int64Of(bytes).toString();
    if (type.name === 'varint') return varintOf(bytes).toString();
    if (type.name === 'timestamp') return Number(int64Of(bytes));
  }
  return jsonOf(type, bytes);
}

/** What the script has returned, as bytes of its type. Throws CqlError for a value that is none of it. */
export function resultBytes(type: CqlType, value: unknown): Bytes | null {
  if (value === null || value === undefined) return null;
  if (type.kind === 'native') {
    const isWhole = ['int', 'bigint', 'smallint', 'tinyint', 'varint', 'counter'].includes(
      type.name,
    );
    if (isWhole && typeof value === 'number') return bytesOfJson(type, Math.trunc(value) as Value);
    if (isWhole && typeof value === 'string') return bytesOfJson(type, value as Value);
    const isText = ['text', 'ascii'].includes(type.name);
    if (isText && typeof value !== 'string') return bytesOfJson(type, String(value));
  }
  return bytesOfJson(type, value as Value);
}
