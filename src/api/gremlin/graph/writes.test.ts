// Goal: writes are stored in the service's documents, all of a script or none of it. Method: scripts, then the documents.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isMap, type ValueMap } from '../../../value/index.ts';
import { openWorld, type World } from '../world-suite.ts';

let world: World;

beforeEach(async () => {
  world = await openWorld({ hasPeople: false });
});

afterEach(() => world.close());

/** The stored document without system properties; undefined where there is none. */
async function document(pk: string, id: string): Promise<ValueMap | undefined> {
  const address = { partitionKey: [pk], rowKey: [id] };
  const { item } = await world.service.items.read(world.container, address, undefined);
  if (item === undefined) return undefined;
  const value = JSON.parse(Buffer.from(item.body).toString());
  return Object.fromEntries(
    Object.entries(value as ValueMap).filter(
      ([name]) => !['_rid', '_self', '_etag', '_attachments', '_ts'].includes(name),
    ),
  );
}

/** Property ids are random. */
function withoutIds(document: ValueMap | undefined): unknown {
  return Object.fromEntries(
    Object.entries(document ?? {}).map(([key, value]) => [
      key,
      Array.isArray(value)
        ? value.map((each) => (isMap(each) ? { ...each, id: typeof each.id } : each))
        : value,
    ]),
  );
}

const ANA = "addV('person').property('id','ana').property('pk','a')";
const BEN = "addV('person').property('id','ben').property('pk','b')";

describe('vertices', () => {
  test('a vertex has its properties as lists, and id, label and key plainly', async () => {
    await world.run(
      `g.${ANA}.property('name','Ana').property('age',30).property(list,'tag','x').property(list,'tag','y')`,
    );
    expect(withoutIds(await document('a', 'ana'))).toEqual({
      id: 'ana',
      label: 'person',
      pk: 'a',
      name: [{ id: 'string', _value: 'Ana' }],
      age: [{ id: 'string', _value: 30 }],
      tag: [
        { id: 'string', _value: 'x' },
        { id: 'string', _value: 'y' },
      ],
    });
  });

  test('the label is vertex and the id is random by default', async () => {
    const [vertex] = await world.run("g.addV().property('pk','a')");
    expect(vertex).toMatchObject({ label: 'vertex', id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  test('properties of properties are in _meta', async () => {
    await world.run(`g.${ANA}.property(single,'name','Ana','since',2020,'by','x')`);
    expect(withoutIds(await document('a', 'ana'))).toMatchObject({
      name: [{ id: 'string', _value: 'Ana', _meta: { since: 2020, by: 'x' } }],
    });
    expect(await world.plain("g.V('ana').properties('name').values('since')")).toEqual([2020]);
    await world.run("g.V('ana').properties('name').property('since',2021)");
    expect(await world.plain("g.V('ana').properties('name').valueMap()")).toEqual([
      { since: 2021, by: 'x' },
    ]);
  });

  test('numbers as ids become texts', async () => {
    await world.run("g.addV().property('id',7).property('pk','a')");
    expect(await world.plain('g.V(7).id()')).toEqual(['7']);
  });

  test.each([
    [
      "g.addV('person').property('id','x')",
      "Cannot add a vertex where the partition key property has value 'null'",
    ],
    [`g.${ANA}.property('x',null)`, 'A property cannot be null.'],
    [`g.${ANA}.property('x',[1,2])`, 'A property is a text, a number or a boolean.'],
    [`g.${ANA}.property('_etag','x')`, "'_etag' is reserved"],
    ["g.addV().property('id','a/b').property('pk','a')", 'cannot be the id of an element'],
    [`g.${ANA}.${ANA}`, 'adds two elements with the id'],
    [`g.${ANA}.addE('x')`, undefined],
  ])('%s', async (script, message) => {
    const run = world.run(script);
    if (message === undefined) await run;
    else {
      await expect(run).rejects.toThrow(message);
      expect(await world.plain('g.V().count()')).toEqual([0]);
    }
  });

  test('the same id twice in one partition is a conflict, in two it is not', async () => {
    await world.run(`g.${ANA}`);
    await expect(world.run(`g.${ANA}`)).rejects.toMatchObject({ code: 'itemExists' });
    await world.run("g.addV('person').property('id','ana').property('pk','b')");
    expect(await world.plain("g.V('ana').values('pk').order()")).toEqual(['a', 'b']);
  });

  test('a property is replaced, added to a list or kept in a set', async () => {
    await world.run(`g.${ANA}.property('n',1)`);
    await world.run("g.V('ana').property('n',2)");
    expect(await world.plain("g.V('ana').values('n')")).toEqual([2]);
    await world.run("g.V('ana').property(list,'n',2).property(set,'n',2).property(set,'n',3)");
    expect(await world.plain("g.V('ana').values('n')")).toEqual([2, 2, 3]);
    await world.run("g.V('ana').properties('n').hasValue(2).drop()");
    expect(await world.plain("g.V('ana').values('n')")).toEqual([3]);
    await world.run("g.V('ana').property('m', values('n'))");
    expect(await world.plain("g.V('ana').values('m')")).toEqual([3]);
  });

  test('the partition key cannot be changed', async () => {
    await world.run(`g.${ANA}`);
    await world.run("g.V('ana').property('pk','a')");
    await expect(world.run("g.V('ana').property('pk','b')")).rejects.toThrow(
      'Updating the partition key',
    );
    await expect(world.run("g.V('ana').properties('pk').drop()")).rejects.toThrow(
      'cannot be dropped',
    );
    await expect(world.run("g.V('ana').property('id','b')")).rejects.toThrow('cannot be changed');
  });

  test('ttl is stored plainly', async () => {
    await world.run(`g.${ANA}.property('ttl',60)`);
    expect(await document('a', 'ana')).toEqual({ id: 'ana', label: 'person', pk: 'a', ttl: 60 });
    await expect(world.run("g.V('ana').property('ttl','x')")).rejects.toThrow('ttl is -1 or');
  });
});

describe('edges', () => {
  beforeEach(() => world.run(`g.${ANA}.${BEN}`));

  test('an edge lies with its source and knows its target', async () => {
    await world.run(
      "g.V('ana').addE('knows').to(V('ben')).property('id','e').property('weight',0.5)",
    );
    expect(await document('a', 'e')).toEqual({
      id: 'e',
      label: 'knows',
      pk: 'a',
      _isEdge: true,
      _vertexId: 'ana',
      _vertexLabel: 'person',
      _sink: 'ben',
      _sinkLabel: 'person',
      _sinkPartition: 'b',
      weight: 0.5,
    });
  });

  test.each([
    ["g.addE('k').from(V('ana')).to(V('ben'))", 'e[ana-k->ben]'],
    ["g.V('ana').as('a').V('ben').addE('k').from('a')", 'e[ana-k->ben]'],
    ["g.V('ana').as('a').V('ben').as('b').addE('k').from('b').to('a')", 'e[ben-k->ana]'],
    ["g.V('ana').addE('k')", 'e[ana-k->ana]'],
    ["g.V('ana').addE('k').to(g.V(['b','ben']))", 'e[ana-k->ben]'],
  ])('%s', async (script, edge) => {
    expect(await world.plain(script)).toEqual([edge]);
    expect(await world.plain('g.E()')).toEqual([edge]);
  });

  test('ends must exist', async () => {
    await expect(world.run("g.V('ana').addE('k').to(V('nobody'))")).rejects.toThrow(
      'must resolve to a Vertex',
    );
    await expect(world.run("g.addE('k').to(V('ana'))")).rejects.toThrow(
      'addE(k).from() must resolve',
    );
    await expect(world.run("g.V('ana').addE('k').to(V('ben')).property('pk','x')")).rejects.toThrow(
      'An edge lies with its source',
    );
    await expect(
      world.run("g.V('ana').addE('k').to(V('ben')).property('_sink','x')"),
    ).rejects.toThrow('reserved');
    expect(await world.plain('g.E().count()')).toEqual([0]);
  });

  test('properties of edges are set and dropped', async () => {
    await world.run("g.V('ana').addE('k').to(V('ben')).property('id','e')");
    await world.run("g.E('e').property('n',1).property('m',2)");
    expect(await world.plain("g.E('e').valueMap()")).toEqual([{ n: 1, m: 2 }]);
    await world.run("g.E('e').properties('n').drop()");
    expect(await world.plain("g.E('e').valueMap()")).toEqual([{ m: 2 }]);
  });
});

describe('drop', () => {
  test('a vertex takes its edges with it', async () => {
    await world.run(`g.${ANA}.${BEN}.addV().property('id','cyd').property('pk','c')`);
    await world.run(
      "g.V('ana').addE('k').to(V('ben')); g.V('ben').addE('k').to(V('cyd')); g.V('cyd').addE('k').to(V('ana'))",
    );
    await world.run("g.V('ana').drop()");
    expect(await world.plain('g.V().id().order()')).toEqual(['ben', 'cyd']);
    expect(await world.plain('g.E()')).toEqual(['e[ben-k->cyd]']);
    await world.run('g.E().drop()');
    expect(await world.plain('g.E().count()')).toEqual([0]);
    await world.run('g.V().drop()');
    expect(await world.plain('g.V().count()')).toEqual([0]);
  });
});

describe('a script sees its own writes', () => {
  test('added, changed and dropped elements', async () => {
    expect(await world.plain(`g.${ANA}.property('n',1).V('ana').values('n')`)).toEqual([1]);
    expect(await world.plain("g.V('ana').property('n',2).V().has('n',2).id()")).toEqual(['ana']);
    expect(
      await world.plain(
        "g.V('ana').as('a').addV().property('id','x').property('pk','a').addE('k').from('a').V('ana').out('k').id()",
      ),
    ).toEqual(['x']);
    expect(await world.plain("g.V('x').in('k').id()")).toEqual(['ana']);
    expect(await world.plain("g.V('x').sideEffect(drop()).V('ana').out('k').count()")).toEqual([0]);
    expect(await world.plain('g.V().id()')).toEqual(['ana']);
  });

  test('two traversers that change one vertex do not undo each other', async () => {
    await world.run(`g.${ANA}.${BEN}.addV().property('id','cyd').property('pk','a')`);
    await world.run("g.V('ana').addE('k').to(V('cyd')); g.V('ben').addE('k').to(V('cyd'))");
    await world.run("g.V('ana','ben').out('k').property(list,'n',1)");
    expect(await world.plain("g.V('cyd').values('n')")).toEqual([1, 1]);
  });

  test('an upsert by coalesce adds once', async () => {
    const upsert =
      "g.inject(1,2).coalesce(V(['a','ana']), addV('person').property('id','ana').property('pk','a')).property('n',5)";
    await world.run(upsert);
    await world.run(upsert);
    expect(await world.plain("g.V().valueMap('n')")).toEqual([{ n: [5] }]);
    const fold =
      "g.V(['a','ana']).fold().coalesce(unfold(), addV('person').property('id','ana').property('pk','a')).property('n',6)";
    await world.run(fold);
    expect(await world.plain("g.V().valueMap('n')")).toEqual([{ n: [6] }]);
  });
});

describe('documents of the NoSQL API', () => {
  test('plain properties are shown and stay plain, others are kept', async () => {
    const value = {
      id: 'doc',
      pk: 'a',
      label: 'person',
      name: 'Dee',
      address: { city: 'x' },
      list: [1, 2],
    };
    const body = Buffer.from(JSON.stringify(value));
    await world.service.items.write(world.container, {
      kind: 'create',
      partitionKey: ['a'],
      rowKey: ['doc'],
      body,
      ttlSec: 0,
    });
    expect(await world.plain("g.V('doc').valueMap(true)")).toEqual([
      { 'T.id': 'doc', 'T.label': 'person', pk: ['a'], name: ['Dee'] },
    ]);
    expect(await world.plain("g.V().has('name','Dee').id()")).toEqual(['doc']);
    await world.run("g.V('doc').property('age',3)");
    expect(withoutIds(await document('a', 'doc'))).toEqual({
      ...value,
      age: [{ id: 'string', _value: 3 }],
    });
  });
});
