/** Reads a type as the wire and stored rows name it. */
import { protocolError } from '../errors.ts';
import type { BodyReader } from '../wire/body-reader.ts';
import { type CqlType, NATIVE_CODES, type NativeName, native } from './cql-type.ts';

export function readType(reader: BodyReader): CqlType {
  const code = reader.short();
  switch (code) {
    case 0x20:
      return { kind: 'list', element: readType(reader), isFrozen: true };
    case 0x21:
      return { kind: 'map', key: readType(reader), value: readType(reader), isFrozen: true };
    case 0x22:
      return { kind: 'set', element: readType(reader), isFrozen: true };
    case 0x30: {
      const keyspace = reader.string();
      const name = reader.string();
      const fields = Array.from({ length: reader.short() }, () => ({
        name: reader.string(),
        type: readType(reader),
      }));
      return { kind: 'user', keyspace, name, fields, isFrozen: true };
    }
    case 0x31:
      return {
        kind: 'tuple',
        elements: Array.from({ length: reader.short() }, () => readType(reader)),
      };
    default: {
      const found = Object.entries(NATIVE_CODES).find(([, known]) => known === code);
      if (found === undefined) throw protocolError(`Unknown type ${code}`);
      return native(found[0] as NativeName);
    }
  }
}
