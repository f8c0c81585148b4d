/**
 * `_rid`: the address of a resource as clients see it. Bytes, base64 with `/` written as `-`:
 *
 *   database   4: rid
 *   container  8: database · rid with the top bit set
 *   document  16: container · number, little-endian, top nibble 0
 *   range     16: container · number, little-endian, top nibble 5
 *   offer      3: rid
 *   user       8: database · rid with the top bit clear
 *   permission 16: user · number, little-endian
 *   script     16: container · number, little-endian, top nibble 6 (function), 7 (trigger) or 8 (procedure)
 *   encryption key 12: database · number, little-endian
 *
 * Clients parse these (sessions by the eight bytes of a container, resume of ORDER BY by the document's number).
 */
import type { StoredResource } from './stored-resources.ts';

const CONTAINER_BIT = 0x8000_0000;
const NIBBLE_RANGE = 0x50;
const SCRIPT_NIBBLES = { userDefinedFunction: 0x60, trigger: 0x70, storedProcedure: 0x80 } as const;

export function databaseRid(database: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(database);
  return print(bytes);
}

export function containerRid(database: number, container: number): string {
  return print(containerBytes(database, container, 8));
}

export function documentRid(database: number, container: number, document: number): string {
  const bytes = containerBytes(database, container, 16);
  bytes.writeUInt32LE(document >>> 0, 8);
  bytes.writeUInt32LE(Math.floor(document / 2 ** 32), 12);
  return print(bytes);
}

export function rangeRid(database: number, container: number, range: number): string {
  const bytes = containerBytes(database, container, 16);
  bytes.writeUInt32LE(range, 8);
  bytes[15] = NIBBLE_RANGE;
  return print(bytes);
}

export function offerRid(offer: number): string {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntBE(offer, 0, 3);
  return print(bytes);
}

export function storedResourceRid(resource: StoredResource): string {
  const { databaseRid: database, containerRid: container, userRid, kind, rid } = resource;
  switch (kind) {
    case 'user':
      return print(userBytes(database, rid, 8));
    case 'permission': {
      const bytes = userBytes(database, userRid, 16);
      bytes.writeUInt32LE(rid, 8);
      return print(bytes);
    }
    case 'clientEncryptionKey': {
      const bytes = Buffer.alloc(12);
      bytes.writeUInt32BE(database, 0);
      bytes.writeUInt32LE(rid, 4);
      return print(bytes);
    }
    default: {
      const bytes = containerBytes(database, container, 16);
      bytes.writeUInt32LE(rid, 8);
      bytes[15] = SCRIPT_NIBBLES[kind];
      return print(bytes);
    }
  }
}

type ResourceId =
  | { readonly kind: 'database'; readonly database: number }
  | { readonly kind: 'container'; readonly database: number; readonly container: number }
  | {
      readonly kind: 'document';
      readonly database: number;
      readonly container: number;
      readonly document: number;
    }
  | { readonly kind: 'offer'; readonly offer: number };

/** Undefined if the text is not a resource id: then it is a name. */
export function parseResourceId(text: string): ResourceId | undefined {
  if (!/^[A-Za-z0-9+-]{4,22}={0,2}$/.test(text) || text.length % 4 !== 0) return undefined;
  const bytes = Buffer.from(text.replaceAll('-', '/'), 'base64');
  if (print(bytes) !== text) return undefined;
  if (bytes.length === 3) return { kind: 'offer', offer: bytes.readUIntBE(0, 3) };
  if (bytes.length === 4) return { kind: 'database', database: bytes.readUInt32BE(0) };
  if (bytes.length !== 8 && bytes.length !== 16) return undefined;
  const tail = bytes.readUInt32BE(4);
  if (tail < CONTAINER_BIT) return undefined;
  const database = bytes.readUInt32BE(0);
  const container = tail - CONTAINER_BIT;
  if (bytes.length === 8) return { kind: 'container', database, container };
  if ((bytes[15] as number) >= 0x10) return undefined;
  const document = bytes.readUInt32LE(12) * 2 ** 32 + bytes.readUInt32LE(8);
  return { kind: 'document', database, container, document };
}

function userBytes(database: number, user: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.writeUInt32BE(database, 0);
  bytes.writeUInt32BE(user, 4);
  return bytes;
}

function containerBytes(database: number, container: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.writeUInt32BE(database, 0);
  bytes.writeUInt32BE(CONTAINER_BIT + container, 4);
  return bytes;
}

function print(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('/', '-');
}
