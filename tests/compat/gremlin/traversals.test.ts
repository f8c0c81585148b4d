// Goal: what an application does with the stock client, on every engine: scripts in the service's form, bytecode in
// GraphBinary and GraphSON 3. Method: a small graph over four partitions; exact results.
import gremlin from 'gremlin';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, MIMES, startAccount } from './harness.ts';

const { P, TextP, order, t, statics: __ } = gremlin.process;

const PEOPLE = [
  ['thomas', 'Thomas', 44, 'a'],
  ['mary', 'Mary', 39, 'b'],
  ['ben', 'Ben', 20, 'c'],
  ['robin', 'Robin', 30, 'd'],
] as const;
const KNOWS = [
  ['thomas', 'mary'],
  ['thomas', 'ben'],
  ['ben', 'robin'],
  ['mary', 'robin'],
] as const;

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;

  beforeAll(async () => {
    account = await startAccount({ engine, partitions: 4 });
    const client = account.client({ mimeType: MIMES.graphson2 });
    for (const [id, firstName, age, pk] of PEOPLE)
      await client.submit(
        "g.addV('person').property('id', id).property('firstName', firstName).property('age', age).property('pk', pk)",
        { id, firstName, age, pk },
      );
    for (const [from, to] of KNOWS)
      await client.submit(
        "g.V(a).addE('knows').to(g.V(b)).property('id', a + '-' + b)".replace("a + '-' + b", 'e'),
        {
          a: from,
          b: to,
          e: `${from}-${to}`,
        },
      );
  });

  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  test('scripts return elements in the form of the service', async () => {
    const client = account.client({ mimeType: MIMES.graphson2 });
    const [vertex] = (await client.submit("g.V('thomas')")).toArray();
    expect(vertex).toEqual({
      id: 'thomas',
      label: 'person',
      type: 'vertex',
      properties: {
        pk: [{ id: 'thomas|pk', value: 'a' }],
        firstName: [{ id: expect.any(String), value: 'Thomas' }],
        age: [{ id: expect.any(String), value: 44 }],
      },
    });
    const [edge] = (await client.submit("g.E('thomas-mary')")).toArray();
    expect(edge).toEqual({
      id: 'thomas-mary',
      label: 'knows',
      type: 'edge',
      inVLabel: 'person',
      outVLabel: 'person',
      inV: 'mary',
      outV: 'thomas',
    });
  });

  test.each<[string, unknown[]]>([
    ['g.V().count()', [4]],
    ["g.V().hasLabel('person').has('age', gt(40)).values('firstName')", ['Thomas']],
    [
      "g.V().hasLabel('person').order().by('firstName', decr).values('firstName')",
      ['Thomas', 'Robin', 'Mary', 'Ben'],
    ],
    [
      "g.V(['a','thomas']).out('knows').hasLabel('person').order().by('age').values('firstName')",
      ['Ben', 'Mary'],
    ],
    [
      "g.V('thomas').outE('knows').inV().outE('knows').inV().dedup().values('firstName')",
      ['Robin'],
    ],
    ["g.V('robin').in('knows').in('knows').dedup().id()", ['thomas']],
    ["g.V('thomas').repeat(out()).until(has('id', 'robin')).path().by('firstName').count()", [2]],
    [
      "g.V('ben').has('pk', 'c').both().order().by('firstName').values('firstName')",
      ['Robin', 'Thomas'],
    ],
    ["g.V('thomas').valueMap('firstName', 'age')", [{ firstName: ['Thomas'], age: [44] }]],
    ["g.V().groupCount().by('label')", [{ person: 4 }]],
    ["g.V('nobody')", []],
  ])('%s', async (script, results) => {
    const client = account.client({ mimeType: MIMES.graphson2 });
    expect((await client.submit(script)).toArray()).toEqual(results);
  });

  describe.each([MIMES.graphbinary, MIMES.graphson3])('bytecode in %s', (mimeType) => {
    test('lookups, filters and values', async () => {
      const g = account.source(mimeType);
      expect(await g.V('thomas').values('firstName').toList()).toEqual(['Thomas']);
      expect(await g.V(['a', 'thomas']).values('age').toList()).toEqual([44]);
      expect(
        await g.V().has('age', P.gt(35)).order().by('age', order.desc).values('firstName').toList(),
      ).toEqual(['Thomas', 'Mary']);
      expect(await g.V().has('firstName', TextP.startingWith('R')).id().toList()).toEqual([
        'robin',
      ]);
      expect(
        await g.V().has('firstName', P.within('Ben', 'Mary')).values('age').order().toList(),
      ).toEqual([20, 39]);
      expect(await g.V().has('age', P.between(20, 39)).count().next()).toEqual({
        value: 2,
        done: false,
      });
      expect(await g.V().hasNot('firstName').toList()).toEqual([]);
    });

    test('hops, paths and maps', async () => {
      const g = account.source(mimeType);
      expect(await g.V('thomas').out('knows').out('knows').values('firstName').toList()).toEqual([
        'Robin',
        'Robin',
      ]);
      expect(await g.V('robin').in_('knows').values('firstName').order().toList()).toEqual([
        'Ben',
        'Mary',
      ]);
      expect(await g.V('thomas').repeat(__.out()).times(2).dedup().id().toList()).toEqual([
        'robin',
      ]);
      const [path] = (await g
        .V('thomas')
        .outE()
        .inV()
        .has('firstName', 'Ben')
        .path()
        .by('firstName')
        .by(t.id)
        .toList()) as [{ objects: unknown[] }];
      expect(path.objects).toEqual(['Thomas', 'thomas-ben', 'Ben']);
      expect(await g.V().group().by('pk').by('firstName').toList()).toEqual(
        [new Map(PEOPLE.map(([, name, , pk]) => [pk, [name]]))].map((map) =>
          expect.toSatisfy((found: Map<string, unknown>) => isSameMap(found, map)),
        ),
      );
      expect(
        await g.V('mary').project('name', 'friends').by('firstName').by(__.both().count()).toList(),
      ).toEqual([
        new Map<string, unknown>([
          ['name', 'Mary'],
          ['friends', 2],
        ]),
      ]);
      const [vertex] = await g.V('mary').toList();
      expect(vertex).toMatchObject({ id: 'mary', label: 'person' });
    });

    test('branches', async () => {
      const g = account.source(mimeType);
      expect(
        await g.V('ben').union(__.out(), __.in_()).values('firstName').order().toList(),
      ).toEqual(['Robin', 'Thomas']);
      expect(await g.V('robin').coalesce(__.out(), __.constant('alone')).toList()).toEqual([
        'alone',
      ]);
      expect(await g.V().where(__.out('knows').count().is(2)).id().toList()).toEqual(['thomas']);
      expect(await g.inject(1, 2, 3).sum().toList()).toEqual([6]);
      expect(
        await g
          .V()
          .choose(__.has('age', P.gte(39)), __.constant('old'), __.constant('young'))
          .groupCount()
          .toList(),
      ).toEqual([
        expect.toSatisfy((found: Map<string, unknown>) =>
          isSameMap(
            found,
            new Map([
              ['old', 2],
              ['young', 2],
            ]),
          ),
        ),
      ]);
    });

    test('a vertex with an edge is added, changed and dropped', async () => {
      const g = account.source(mimeType);
      await g
        .addV('person')
        .property('id', 'new')
        .property('pk', 'n')
        .property('age', 1)
        .as('n')
        .V('thomas')
        .addE('knows')
        .to('n')
        .iterate();
      expect(await g.V('thomas').out('knows').has('pk', 'n').id().toList()).toEqual(['new']);
      await g.V('new').property('age', 2).iterate();
      expect(await g.V('new').values('age').toList()).toEqual([2]);
      await g.V('new').drop().iterate();
      expect(await g.V('thomas').out('knows').count().toList()).toEqual([2]);
    });
  });
});

function isSameMap(
  found: ReadonlyMap<unknown, unknown>,
  expected: ReadonlyMap<unknown, unknown>,
): boolean {
  const text = (map: ReadonlyMap<unknown, unknown>): string => JSON.stringify([...map].sort());
  return text(found) === text(expected);
}
