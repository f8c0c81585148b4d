// Goal: resource ids have the layout that clients parse, and decode to the same numbers. Method: golden texts, round
// trips.
import { expect, test } from 'vitest';
import {
  containerRid,
  databaseRid,
  documentRid,
  offerRid,
  parseResourceId,
  rangeRid,
} from './resource-id.ts';

const DATABASE = 0x1a2b3c4d;
const CONTAINER = 0x0badf00d;
const DOCUMENT = 3 * 2 ** 40 + 5;

test('golden texts', () => {
  expect(databaseRid(DATABASE)).toBe('Gis8TQ==');
  expect(containerRid(DATABASE, CONTAINER)).toBe('Gis8TYut8A0=');
  expect(documentRid(DATABASE, CONTAINER, DOCUMENT)).toBe('Gis8TYut8A0FAAAAAAMAAA==');
  expect(rangeRid(DATABASE, CONTAINER, 7)).toBe('Gis8TYut8A0HAAAAAAAAUA==');
  expect(offerRid(0x010203)).toBe('AQID');
});

test('a container is eight bytes with the top bit of the fifth set', () => {
  const bytes = Buffer.from(containerRid(DATABASE, CONTAINER), 'base64');
  expect(bytes).toHaveLength(8);
  expect((bytes[4] as number) & 0x80).toBe(0x80);
});

test('round trips', () => {
  expect(parseResourceId(databaseRid(DATABASE))).toEqual({ kind: 'database', database: DATABASE });
  expect(parseResourceId(containerRid(DATABASE, CONTAINER))).toEqual({
    kind: 'container',
    database: DATABASE,
    container: CONTAINER,
  });
  expect(parseResourceId(documentRid(DATABASE, CONTAINER, DOCUMENT))).toEqual({
    kind: 'document',
    database: DATABASE,
    container: CONTAINER,
    document: DOCUMENT,
  });
  expect(parseResourceId(offerRid(77))).toEqual({ kind: 'offer', offer: 77 });
  expect(parseResourceId(databaseRid(0xffffffff))).toEqual({
    kind: 'database',
    database: 0xffffffff,
  });
});

test.each(['', 'a', 'name', 'Gis8TQ=', 'Gis8TQ===', 'ütf8', 'a/b=', rangeRid(1, 2, 3)])(
  '%j is not a database, container or document',
  (text) => {
    expect(['database', 'container', 'document']).not.toContain(parseResourceId(text)?.kind);
  },
);
