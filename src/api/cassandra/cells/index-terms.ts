/**
 * What indexes see of a row: bytes as latin1 text, by place for keys and by name for other columns. Times to live are
 * left out, because entries must follow from the stored row alone; SELECT checks every row that an index names.
 *   (cql) / p or c / place            a key column
 *   (cql) / v / name                  a column with one value, in the form that orders it
 *   (cql) / v / name / values, keys, entries   lists of the parts of a collection
 */
import { type Bytes, bytesToLatin1 } from '../../../base/index.ts';
import { ARRAY_ELEMENT, type Path, type Value, type ValueMap } from '../../../value/index.ts';
import type { CqlType } from '../types/cql-type.ts';
import { orderedBytes } from '../types/ordered.ts';
import type { Column, KeyColumn, Row } from './row.ts';

const ROOT = '(cql)';

type IndexedCollectionPart = 'values' | 'keys' | 'entries';

/** A column, as far as its place in an index goes. */
interface PlacedColumn {
  readonly name: string;
  readonly kind: 'partition_key' | 'clustering' | 'static' | 'regular';
  readonly position: number;
}

/** The path of the terms of a column, or of a part of a collection. */
export function termPath(column: PlacedColumn, part: IndexedCollectionPart | undefined): Path {
  const { kind, position, name } = column;
  if (kind === 'partition_key') return [ROOT, 'p', String(position)];
  if (kind === 'clustering') return [ROOT, 'c', String(position)];
  return part === undefined ? [ROOT, 'v', name] : [ROOT, 'v', name, part, ARRAY_ELEMENT];
}

export function wholeTerm(type: CqlType, value: Bytes): string {
  return bytesToLatin1(orderedBytes(type, value));
}

/** The term of an element: what is equal has the same bytes. */
export function elementTerm(value: Bytes): string {
  return bytesToLatin1(value);
}

export function entryTerm(key: Bytes, value: Bytes): string {
  return entryText(bytesToLatin1(key), value);
}

function entryText(key: string, value: Bytes): string {
  return `${key.length}:${key}${bytesToLatin1(value)}`;
}

export function indexValue({ partitionKey, clustering, columns }: Row): ValueMap {
  const values: Record<string, Value> = {};
  for (const [name, column] of columns) {
    const value = columnTerms(column);
    if (value !== undefined) values[name] = value;
  }
  return { [ROOT]: { p: keyTerms(partitionKey), c: keyTerms(clustering), v: values } };
}

function keyTerms(columns: readonly KeyColumn[]): ValueMap {
  return Object.fromEntries(columns.map(({ type, value }, at) => [at, wholeTerm(type, value)]));
}

function columnTerms({ type, cell, elements }: Column): Value {
  if (cell !== undefined) return cell.value === undefined ? undefined : wholeTerm(type, cell.value);
  const alive = [...(elements ?? [])].flatMap(([path, { value }]) =>
    value === undefined ? [] : [[path, value] as const],
  );
  switch (type.kind) {
    case 'set':
      return { values: alive.map(([path]) => path) };
    case 'list':
      return { values: alive.map(([, value]) => elementTerm(value)) };
    case 'map':
      return {
        keys: alive.map(([path]) => path),
        values: alive.map(([, value]) => elementTerm(value)),
        entries: alive.map(([path, value]) => entryText(path, value)),
      };
    default:
      return undefined;
  }
}
