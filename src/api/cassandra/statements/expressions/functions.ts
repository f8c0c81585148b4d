/** All native functions by name, and those of clients. */
import { type Bytes, bufferOf } from '../../../../base/index.ts';
import { CqlError, invalid } from '../../errors.ts';
import {
  NATIVE_CODES,
  type NativeName,
  native,
  nativeNamed,
  typeText,
} from '../../types/cql-type.ts';
import { checkValue } from '../../types/values.ts';
import type { Scope } from '../scope.ts';
import { aggregateCandidates } from './aggregates.ts';
import type { FunctionCandidate } from './candidate.ts';
import { timeCandidates } from './time-functions.ts';

/** Functions that a name may mean: those of the server, and those of the keyspace of the statement. */
export function functionCandidates(
  scope: Scope,
  keyspace: string | undefined,
  name: string,
): readonly FunctionCandidate[] {
  const own = keyspace === undefined || keyspace === 'system' ? nativeCandidates(name) : [];
  return [...own, ...scope.userFunctions(keyspace, name)];
}

function nativeCandidates(name: string): readonly FunctionCandidate[] {
  const known = NATIVE.get(name);
  if (known !== undefined) return known;
  const found = [...timeCandidates(name), ...aggregateCandidates(name), ...blobCandidates(name)];
  if (found.length > 0) NATIVE.set(name, found);
  return found;
}

/** Made when they are first looked for. */
const NATIVE = new Map<string, readonly FunctionCandidate[]>();

const NATIVE_NAMES: ReadonlySet<string> = new Set([...Object.keys(NATIVE_CODES), 'varchar']);

/** blobAsInt, intAsBlob and so on: the same bytes with another type. */
function blobCandidates(name: string): readonly FunctionCandidate[] {
  const fromBlob = /^blobas(\w+)$/.exec(name)?.[1];
  const toBlob = /^(\w+)asblob$/.exec(name)?.[1];
  const typeName = fromBlob ?? toBlob ?? '';
  const type = NATIVE_NAMES.has(typeName) ? nativeNamed(typeName as NativeName) : undefined;
  if (type === undefined || type.name === 'blob') return [];
  const blob = native('blob');
  return [
    {
      keyspace: 'system',
      name,
      arguments: [fromBlob === undefined ? type : blob],
      result: fromBlob === undefined ? blob : type,
      run([value]) {
        if (value === null || value === undefined) return null;
        if (fromBlob !== undefined) checkBlob(name, type.name, value);
        return value;
      },
    },
  ];
}

function checkBlob(name: string, type: NativeName, value: Bytes): void {
  try {
    checkValue(native(type), value);
  } catch (error) {
    if (!(error instanceof CqlError)) throw error;
    throw invalid(
      `In call to function system.${name}, value 0x${bufferOf(value).toString('hex')} is not a valid binary representation for type ${typeText(native(type))}`,
    );
  }
}
