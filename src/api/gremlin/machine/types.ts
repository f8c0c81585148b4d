/** The types that typeOf() knows: names of the enumeration, and names of classes as clients write them. */
import { GremlinMap, GremlinSet, MapEntry } from '../model/collections.ts';
import { Edge, Path, Property, Vertex, VertexProperty } from '../model/elements.ts';
import { isNumber, kindOf, type NumberKind } from '../model/number.ts';
import { BulkSet, SubGraph, Tree } from '../model/structures.ts';
import { type GremlinValue, Uuid } from '../model/value.ts';

type TypeTest = (value: GremlinValue) => boolean;

function isKind(kind: NumberKind): TypeTest {
  return (value) => isNumber(value) && kindOf(value) === kind;
}

export const TYPE_TESTS: ReadonlyMap<string, TypeTest> = new Map<string, TypeTest>([
  ['BIGDECIMAL', isKind('bigDecimal')],
  ['BIGINT', isKind('bigInteger')],
  ['BINARY', (value) => value instanceof Uint8Array],
  ['BOOLEAN', (value) => typeof value === 'boolean'],
  ['BYTE', isKind('byte')],
  ['CHAR', () => false],
  ['DATETIME', (value) => value instanceof Date],
  ['DOUBLE', isKind('double')],
  ['DURATION', () => false],
  ['EDGE', (value) => value instanceof Edge],
  ['FLOAT', isKind('float')],
  ['GRAPH', (value) => value instanceof SubGraph],
  ['INT', isKind('int')],
  ['LIST', (value) => Array.isArray(value) && !(value instanceof BulkSet)],
  ['LONG', isKind('long')],
  ['MAP', (value) => value instanceof GremlinMap && !(value instanceof MapEntry)],
  ['NULL', (value) => value === null],
  ['NUMBER', isNumber],
  ['PATH', (value) => value instanceof Path],
  ['PROPERTY', (value) => value instanceof Property || value instanceof VertexProperty],
  ['SET', (value) => value instanceof GremlinSet || value instanceof BulkSet],
  ['SHORT', isKind('short')],
  ['STRING', (value) => typeof value === 'string'],
  ['TREE', (value) => value instanceof Tree],
  ['UUID', (value) => value instanceof Uuid],
  ['VERTEX', (value) => value instanceof Vertex],
  ['VPROPERTY', (value) => value instanceof VertexProperty],
]);

export const CLASS_NAMES: Readonly<Record<string, string>> = {
  BigDecimal: 'BIGDECIMAL',
  BigInteger: 'BIGINT',
  Boolean: 'BOOLEAN',
  Byte: 'BYTE',
  Character: 'CHAR',
  Double: 'DOUBLE',
  Edge: 'EDGE',
  Float: 'FLOAT',
  Graph: 'GRAPH',
  Integer: 'INT',
  List: 'LIST',
  Long: 'LONG',
  Map: 'MAP',
  Number: 'NUMBER',
  OffsetDateTime: 'DATETIME',
  Path: 'PATH',
  Property: 'PROPERTY',
  Set: 'SET',
  Short: 'SHORT',
  String: 'STRING',
  Tree: 'TREE',
  UUID: 'UUID',
  Vertex: 'VERTEX',
  VertexProperty: 'VPROPERTY',
};
