/** CAST(x AS type): between numbers with Java's conversions, between times, and of most types to text. */
import { type Bytes, textToBytes } from '../../../../base/index.ts';
import { type CqlType, isNative, type NativeName, typeText } from '../../types/cql-type.ts';
import { javaText, NATIVE_VALUES } from '../../types/native-values.ts';
import { isNumeric, numberBytes, numberOf } from './numbers.ts';
import { findNative } from './time-functions.ts';

type Cast = (bytes: Bytes) => Bytes;

/** Undefined where there is no such cast. */
export function castFunction(from: CqlType, to: CqlType): Cast | undefined {
  if (typeText(from) === typeText(to)) return (bytes) => bytes;
  if (from.kind !== 'native' || to.kind !== 'native') return undefined;
  if (isNative(to, 'text', 'ascii'))
    return isNative(from, 'text', 'blob', 'duration') ? undefined : textCast(from.name);
  // A float becomes the decimal that it is printed as.
  if (isNative(from, 'float') && isNative(to, 'decimal'))
    return (bytes) => NATIVE_VALUES.decimal.parse(javaText('float', bytes));
  if (isNumeric(from) && isNumeric(to) && !isNative(to, 'counter'))
    return (bytes) => numberBytes(to.name, numberOf(from.name, bytes));
  if (isNative(to, 'date', 'timestamp') && isNative(from, 'timeuuid', 'timestamp', 'date')) {
    const name = isNative(to, 'date') ? 'todate' : 'totimestamp';
    const found = findNative(name, from);
    return found && ((bytes) => found([bytes]));
  }
  return undefined;
}

function textCast(from: NativeName): Cast {
  if (from === 'ascii') return (bytes) => bytes;
  if (from === 'timestamp')
    return (bytes) => textToBytes(NATIVE_VALUES.timestamp.text(bytes).replace(' ', 'T'));
  return (bytes) => textToBytes(javaText(from, bytes));
}
