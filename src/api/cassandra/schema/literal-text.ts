/** Values as literals of CQL. */
import type { Bytes } from '../../../base/index.ts';
import { type CqlType, quotedName } from '../types/cql-type.ts';
import { NATIVE_VALUES } from '../types/native-values.ts';
import { componentsOf, componentTypes, elementsOf, entriesOf } from '../types/values.ts';

const QUOTED: readonly string[] = ['ascii', 'text', 'inet', 'date', 'time', 'timestamp'];

export function literalText(type: CqlType, bytes: Bytes | undefined): string {
  if (bytes === undefined) return 'null';
  switch (type.kind) {
    case 'native': {
      const text = NATIVE_VALUES[type.name].text(bytes);
      return QUOTED.includes(type.name) ? quoted(text) : text;
    }
    case 'list':
      return `[${elementsOf(bytes)
        .map((one) => literalText(type.element, one))
        .join(', ')}]`;
    case 'set':
      return `{${elementsOf(bytes)
        .map((one) => literalText(type.element, one))
        .join(', ')}}`;
    case 'map':
      return `{${entriesOf(bytes)
        .map(([key, value]) => `${literalText(type.key, key)}: ${literalText(type.value, value)}`)
        .join(', ')}}`;
    case 'tuple':
      return `(${parts(type, bytes).join(', ')})`;
    case 'user':
      return `{${parts(type, bytes)
        .map((text, at) => `${quotedName(type.fields[at]?.name ?? '')}: ${text}`)
        .join(', ')}}`;
  }
}

function parts(
  type: Extract<CqlType, { kind: 'tuple' | 'user' }>,
  bytes: Bytes,
): readonly string[] {
  const types = componentTypes(type);
  return componentsOf(type, bytes).map((one, at) => literalText(types[at] as CqlType, one));
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
