// Goal: messages survive every format. Method: the codecs of the stock client are the other side; golden texts for the
// service's form; damaged messages.
import gremlin from 'gremlin';
import strategies from 'gremlin/lib/process/traversal-strategy.js';
import codec from 'gremlin/lib/structure/io/binary/GraphBinary.js';
import { expect, test } from 'vitest';
import { seededRandom } from '../../../base/index.ts';
import { GremlinError } from '../errors.ts';
import { GremlinMap, GremlinSet } from '../model/collections.ts';
import { Edge, Path, Property, Vertex, VertexProperty } from '../model/elements.ts';
import { numberOf, TypedNumber } from '../model/number.ts';
import { BulkedResult, Bytecode, EnumValue, Predicate, Strategy } from '../model/terms.ts';
import { type GremlinValue, Uuid } from '../model/value.ts';
import { formatOf, formatOfBytecode } from './formats.ts';
import type { Format } from './message.ts';

const { P, TextP, order, t, cardinality } = gremlin.process;
const __ = gremlin.process.statics;
const readers = {
  v2: new gremlin.structure.io.GraphSON2Reader(),
  v3: new gremlin.structure.io.GraphSON3Reader(),
  binary: codec.graphBinaryReader,
};
const REQUEST_ID = '0a1b2c3d-1111-2222-3333-444455556666';

const MIMES = {
  v2: 'application/vnd.gremlin-v2.0+json;types=true',
  v3: 'application/vnd.gremlin-v3.0+json',
  binary: 'application/vnd.graphbinary-v1.0',
};

function format(name: keyof typeof MIMES): Format {
  return formatOf(MIMES[name]) as Format;
}

/** What the stock client reads of one result. */
function received(name: keyof typeof MIMES, value: GremlinValue): unknown {
  const bytes = format(name).writeResponse({
    requestId: REQUEST_ID,
    code: 200,
    message: '',
    attributes: new Map<string, GremlinValue>([['x-ms-status-code', 200]]),
    data: [value],
  });
  const response = readers[name].readResponse(Buffer.from(bytes as Uint8Array));
  expect(response.requestId).toBe(REQUEST_ID);
  expect(response.status.code).toBe(200);
  return response.result.data[0];
}

const marko = new Vertex({ partition: 'p', id: 'marko', key: 'marko' }, 'person', new Map());
marko.properties?.set('name', [
  new VertexProperty(marko, {
    id: '7',
    key: 'name',
    value: 'marko',
    meta: new Map([['since', 1]]),
  }),
]);
const lop = new Vertex({ partition: 'p', id: 'lop', key: 'lop' }, 'software', undefined);
const created = new Edge(
  { id: 'e1', key: 'e1' },
  'created',
  { from: marko, to: lop },
  new Map([['weight', 0.5]]),
);

test.each(['v3', 'binary'] as const)('%s results are read by the stock client', (name) => {
  const read = (value: GremlinValue): unknown => received(name, value);
  expect([1, -1, 2.5, true, null, 'ü"'].map(read)).toEqual([1, -1, 2.5, true, null, 'ü"']);
  expect(read(numberOf('long', 2n ** 40n))).toBe(2 ** 40);
  expect(read(numberOf('double', 1))).toBe(1);
  expect(read(numberOf('float', 0.5))).toBe(0.5);
  expect(read(Number.NaN)).toBe(Number.NaN);
  expect(read([1, ['a']])).toEqual([1, ['a']]);
  expect(read(new GremlinSet([1, 1, 2]))).toEqual(new Set([1, 2]));
  expect(
    read(
      new GremlinMap([
        [1, 'a'],
        ['b', [2]],
      ]),
    ),
  ).toEqual(
    new Map<unknown, unknown>([
      [1, 'a'],
      ['b', [2]],
    ]),
  );
  expect(read(new Uuid(REQUEST_ID))).toBe(REQUEST_ID);
  expect(read(new Date(1_700_000_000_123))).toEqual(new Date(1_700_000_000_123));
  expect(read(new EnumValue('T', 'id'))).toBe(t.id);
  expect(read(marko)).toMatchObject({
    id: 'marko',
    label: 'person',
    properties: [{ id: '7', label: 'name', value: 'marko' }],
  });
  expect(read(created)).toMatchObject({
    id: 'e1',
    label: 'created',
    outV: { id: 'marko', label: 'person' },
    inV: { id: 'lop', label: 'software' },
    properties: [{ key: 'weight', value: 0.5 }],
  });
  expect(read(new Property('k', 1, created))).toMatchObject({ key: 'k', value: 1 });
  expect(read(new Path(['a', 1], [new Set(['x']), new Set()]))).toMatchObject({
    objects: ['a', 1],
    labels: [new Set(['x']), new Set()],
  });
  expect(read(new BulkedResult('a', 3))).toMatchObject({ object: 'a', bulk: 3 });
});

test('typed version 2 has plain lists and maps', () => {
  expect(received('v2', new GremlinMap([[1, ['a', 2.5]]]))).toEqual({ 1: ['a', 2.5] });
  expect(received('v2', marko)).toMatchObject({ id: 'marko', label: 'person' });
});

test('the service has JSON without types', () => {
  const untyped = formatOf('application/vnd.gremlin-v2.0+json') as Format;
  const data: GremlinValue[] = [
    marko,
    created,
    numberOf('long', 3),
    2.5,
    new GremlinMap([
      [new EnumValue('T', 'id'), 'a'],
      [1, null],
    ]),
    new Path([lop], [new Set(['a'])]),
  ];
  const attributes = new Map<string, GremlinValue>([['x-ms-request-charge', 2.5]]);
  const text = untyped.writeResponse({ requestId: 'r', code: 206, message: '', attributes, data });
  expect(JSON.parse(text as string)).toEqual({
    requestId: 'r',
    status: { code: 206, message: '', attributes: { 'x-ms-request-charge': 2.5 } },
    result: {
      meta: {},
      data: [
        {
          id: 'marko',
          label: 'person',
          type: 'vertex',
          properties: { name: [{ id: '7', value: 'marko', properties: { since: 1 } }] },
        },
        {
          id: 'e1',
          label: 'created',
          type: 'edge',
          inVLabel: 'software',
          outVLabel: 'person',
          inV: 'lop',
          outV: 'marko',
          properties: { weight: 0.5 },
        },
        3,
        2.5,
        { id: 'a', 1: null },
        { labels: [['a']], objects: [{ id: 'lop', label: 'software', type: 'vertex' }] },
      ],
    },
  });
  expect(formatOfBytecode(untyped)).toBe(formatOf(MIMES.v2));
});

const writers = {
  v2: new gremlin.structure.io.GraphSON2Writer(),
  v3: new gremlin.structure.io.GraphSON3Writer(),
  binary: codec.graphBinaryWriter,
};

test.each(['v2', 'v3', 'binary'] as const)('%s bytecode of the stock client is read', (name) => {
  const traversal = __.has('age', P.gt(29).and(P.lt(40)))
    .has('n', TextP.startingWith('a'))
    .has('m', P.within('a', 'b'))
    .has('l', P.between(1, 5))
    .order()
    .by('age', order.desc)
    .by(t.id)
    .where(__.out('x').is(2.5))
    .property(cardinality.list, 'a', true)
    .inject(null, 2147483648, ['a', [1]]);
  const args = { gremlin: traversal.getBytecode(), aliases: { g: 'g' } };
  const body = writers[name].writeRequest({
    requestId: REQUEST_ID,
    op: 'bytecode',
    processor: 'traversal',
    args,
  });
  const request = format(name).readRequest(body);
  expect(request).toMatchObject({ requestId: REQUEST_ID, op: 'bytecode', processor: 'traversal' });
  expect([...(request.args.get('aliases') as GremlinMap)]).toEqual([['g', 'g']]);
  const { steps } = request.args.get('gremlin') as Bytecode;
  const isBinary = name === 'binary';
  expect(steps).toEqual([
    {
      name: 'has',
      args: ['age', new Predicate('and', [new Predicate('gt', [29]), new Predicate('lt', [40])])],
    },
    { name: 'has', args: ['n', new Predicate('startingWith', ['a'])] },
    { name: 'has', args: ['m', new Predicate('within', ['a', 'b'])] },
    { name: 'has', args: ['l', new Predicate('between', [1, 5])] },
    { name: 'order', args: [] },
    { name: 'by', args: ['age', new EnumValue('Order', 'desc')] },
    { name: 'by', args: [new EnumValue('T', 'id')] },
    {
      name: 'where',
      args: [
        new Bytecode(
          [],
          [
            { name: 'out', args: ['x'] },
            { name: 'is', args: [2.5] },
          ],
        ),
      ],
    },
    { name: 'property', args: [new EnumValue('Cardinality', 'list'), 'a', true] },
    {
      name: 'inject',
      args: [null, isBinary ? new TypedNumber('long', 2147483648n) : 2147483648, ['a', [1]]],
    },
  ]);
});

test.each(['v3', 'binary'] as const)('%s strategies and long integers are read', (name) => {
  const { ReadOnlyStrategy } = strategies;
  const g = new gremlin.process.GraphTraversalSource(
    null,
    new gremlin.process.TraversalStrategies(),
  );
  const { bytecode } = g.withStrategies(new ReadOnlyStrategy()).inject(1);
  const args = { gremlin: bytecode, bindings: { x: 5 } };
  const request = format(name).readRequest(
    writers[name].writeRequest({ requestId: REQUEST_ID, op: 'bytecode', processor: '', args }),
  );
  const { sources } = request.args.get('gremlin') as Bytecode;
  expect(sources).toEqual([
    { name: 'withStrategies', args: [new Strategy('ReadOnlyStrategy', new Map())] },
  ]);
  expect((request.args.get('bindings') as GremlinMap).get('x')).toBe(5);
});

test('integers beyond 2^53 are read exactly', () => {
  const read = (json: string): GremlinValue | undefined =>
    format('v3')
      .readRequest(Buffer.from(`{"requestId":"r","op":"eval","args":{"x":${json}}}`))
      .args.get('x');
  expect(read('9007199254740993')).toEqual(new TypedNumber('long', 9007199254740993n));
  expect(read('{"@type":"g:Int64","@value":9007199254740993}')).toEqual(
    new TypedNumber('long', 9007199254740993n),
  );
  expect(read('1.5')).toBe(1.5);
  expect(read('{"@type":"g:Double","@value":1}')).toEqual(new TypedNumber('double', 1));
});

test('unknown MIME types have no format', () => {
  expect(formatOf('application/vnd.gremlin-v4.0+json')).toBeUndefined();
  expect(formatOf('text/plain')).toBeUndefined();
});

test('damaged messages are refused and nothing else happens', () => {
  const seed = 20261118;
  const random = seededRandom(seed);
  const args = { gremlin: __.has('age', P.gt(29)).out().getBytecode(), aliases: { g: 'g' } };
  const request = { requestId: REQUEST_ID, op: 'bytecode', processor: 'traversal', args };
  for (const name of ['v3', 'binary'] as const) {
    const whole = writers[name].writeRequest(request);
    for (let round = 0; round < 2000; round++) {
      const damaged = Buffer.from(whole);
      for (let hits = 0; hits < 3; hits++)
        damaged[random.below(damaged.length)] = random.below(256);
      const cut = damaged.subarray(0, 1 + random.below(damaged.length));
      try {
        format(name).readRequest(cut);
      } catch (error) {
        expect(error, `seed ${seed}, round ${round}`).toBeInstanceOf(GremlinError);
      }
    }
  }
});
