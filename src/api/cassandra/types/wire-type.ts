/** Types as the metadata of results names them. */
import type { BodyWriter } from '../wire/body-writer.ts';
import { type CqlType, NATIVE_CODES } from './cql-type.ts';

const CUSTOM = 0x00;
const LIST = 0x20;
const MAP = 0x21;
const SET = 0x22;
const USER = 0x30;
const TUPLE = 0x31;
/** Protocol 4 and earlier have no id for durations. */
const DURATION_CLASS = 'org.apache.cassandra.db.marshal.DurationType';

export function writeType(writer: BodyWriter, type: CqlType, version: number): void {
  switch (type.kind) {
    case 'native':
      if (type.name === 'duration' && version < 5) writer.short(CUSTOM).string(DURATION_CLASS);
      else writer.short(NATIVE_CODES[type.name]);
      return;
    case 'list':
    case 'set':
      writer.short(type.kind === 'list' ? LIST : SET);
      writeType(writer, type.element, version);
      return;
    case 'map':
      writer.short(MAP);
      writeType(writer, type.key, version);
      writeType(writer, type.value, version);
      return;
    case 'tuple':
      writer.short(TUPLE).short(type.elements.length);
      for (const element of type.elements) writeType(writer, element, version);
      return;
    case 'user':
      writer.short(USER).string(type.keyspace).string(type.name).short(type.fields.length);
      for (const field of type.fields) {
        writer.string(field.name);
        writeType(writer, field.type, version);
      }
  }
}
