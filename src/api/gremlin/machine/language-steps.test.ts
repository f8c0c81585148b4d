// Goal: texts, lists, dates, numbers, sacks, patterns, merges, strategies and algorithms do what the language's
// documentation says. Method: scripts over the six people and programs of that documentation.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TraversalMetrics } from '../model/structures.ts';
import { openWorld, type World } from '../world-suite.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});

afterAll(() => world.close());

function checked(name: string, cases: readonly (readonly [string, readonly unknown[]])[]): void {
  describe(name, () => {
    test.each(cases)('%s', async (script, expected) => {
      expect(await world.plain(script)).toEqual(expected);
    });
  });
}

function refused(name: string, cases: readonly (readonly [string, string])[]): void {
  describe(name, () => {
    test.each(cases)('%s', async (script, message) => {
      await expect(world.run(script)).rejects.toThrow(message);
    });
  });
}

checked('texts', [
  ["g.inject('a').concat('b',constant('c'))", ['abc']],
  ["g.inject('Hello').toUpper()", ['HELLO']],
  ["g.inject(' a ').trim().length()", [1]],
  ["g.inject(['a','bb']).length(local)", [[1, 2]]],
  ["g.inject('one,two').split(',')", [['one', 'two']]],
  ["g.inject('hello').substring(1,3)", ['el']],
  ["g.inject('hello').substring(-3)", ['llo']],
  ["g.inject('hello').replace('l','L')", ['heLLo']],
  ["g.inject('abc').reverse()", ['cba']],
  ["g.inject([1,2.0,'x']).asString(local)", [['1', '2.0', 'x']]],
  ["g.V('marko').format('%{name} is %{_}').by(values('age'))", ['marko is 29']],
  ["g.inject(['a','b']).conjoin(';')", ['a;b']],
  ["g.V('marko').asString()", ['v[marko]']],
]);

checked('lists', [
  ['g.inject([1,2]).combine([2,3])', [[1, 2, 2, 3]]],
  ['g.inject([1,2]).merge([2,3])', [{ set: [1, 2, 3] }]],
  ['g.inject([1,2]).intersect([2,3])', [{ set: [2] }]],
  ['g.inject([1,2]).difference([2,3])', [{ set: [1] }]],
  ['g.inject([1,2]).disjunct([2,3])', [{ set: [1, 3] }]],
  [
    'g.inject([1,2]).product([3])',
    [
      [
        [1, 3],
        [2, 3],
      ],
    ],
  ],
  ['g.inject([1,5]).any(gt(4))', [[1, 5]]],
  ['g.inject([1,5]).all(gt(4))', []],
  ['g.inject([1,5]).none(gt(7))', [[1, 5]]],
  ["g.inject('a').index()", [[['a', 0]]]],
]);

checked('numbers and dates', [
  ["g.inject('12').asNumber()", [12]],
  ['g.inject(1.9).asNumber(GType.INT)', [1]],
  ["g.inject('TRUE',0,2).asBool()", [true, false, true]],
  ["g.inject('2023-08-02T00:00:00Z').asDate().dateAdd(DT.day,1).asNumber()", [1691020800000]],
  [
    "g.inject(datetime('2023-08-02T00:00:10Z')).dateDiff(datetime('2023-08-02T00:00:00Z'))",
    [10000],
  ],
  ["g.inject(4).math('sqrt(_) + 2 * 3 ^ 2')", [20]],
  ["g.V('marko').as('a').out('knows').as('b').math('a - b').by('age')", [2, -3]],
  ['g.inject(1,2,3).fold(0,sum)', [6]],
  ['g.inject(1,null,3).sum()', [4]],
  ["g.inject(1,'a',1.5).is(typeOf(GType.NUMBER))", [1, 1.5]],
  ['g.inject(1,1.0,1L).dedup().count()', [3]],
  ['g.inject(1).is(eq(1.0))', [1]],
]);

checked('sacks and side effects', [
  ["g.withSack(1).V('marko').repeat(out().sack(sum).by(constant(2))).times(2).sack()", [5, 5]],
  ["g.withSideEffect('x',10,sum).V().aggregate('x').by('age').cap('x')", [133]],
  ["g.V().local(groupCount('m').by(label).select('m').select('person')).limit(2)", [1, 2]],
  ["g.V('marko').out().aggregate('x').out().where(P.not(within('x'))).id()", ['ripple']],
  ["g.V('marko').tree().count(local)", [1]],
  ["g.V('marko').outE('knows').subgraph('s').cap('s').count()", [1]],
]);

checked('patterns', [
  [
    "g.V().match(__.as('a').out('created').as('b'),__.as('b').has('name','ripple')).select('a').id()",
    ['josh'],
  ],
  [
    "g.V().match(__.as('a').out().as('b'),__.not(__.as('a').out('created').as('b'))).select('b').id()",
    ['vadas', 'josh'],
  ],
  ["g.V().has('name','lop').or().has('age',35)", ['v[lop]', 'v[peter]']],
  ["g.V().where(out('created').and().out('knows')).id()", ['marko']],
  ["g.V('marko').as('a').out().out().path().from('a').count()", [2]],
  ["g.V('marko').branch(label()).option('person',id()).option(any,constant(1))", ['marko', 1]],
]);

checked('strategies', [
  ["g.withStrategies(new SubgraphStrategy(vertices: has('age'))).V().count()", [4]],
  [
    "g.withStrategies(new SubgraphStrategy(edges: has('weight',gt(0.4)))).V('marko').out().id()",
    ['vadas', 'josh'],
  ],
  ["g.withStrategies(ProductiveByStrategy).V('lop').project('a').by('age')", [{ a: null }]],
  ['g.withStrategies(new SeedStrategy(seed: 5)).V().coin(1.0).count()', [6]],
  ["g.withoutStrategies(LazyBarrierStrategy).V('marko').id()", ['marko']],
]);

checked('algorithms', [
  [
    "g.V().pageRank().order().by('gremlin.pageRankVertexProgram.pageRank',desc).limit(1).id()",
    ['lop'],
  ],
  [
    "g.V().connectedComponent().values('gremlin.connectedComponentVertexProgram.component').dedup()",
    ['josh'],
  ],
  ["g.V('peter').shortestPath().with(ShortestPath.target,has('name','vadas')).count(local)", [4]],
  ["g.V('marko').call('tinker.degree.centrality').with('direction',OUT)", [3]],
  ["g.call('--list').count()", [2]],
]);

checked('counts that the index tells', [
  ['g.V().count()', [6]],
  ['g.E().count()', [6]],
  ["g.V().hasLabel('person').count()", [4]],
  ["g.E().hasLabel('knows','created').count()", [6]],
  ["g.V().hasLabel('nobody').count()", [0]],
]);

refused('refusals', [
  ['g.inject(1).toUpper()', 'The toUpper() step can only take string as argument'],
  ["g.inject('x').asNumber()", "Can't parse string 'x' as number."],
  ['g.inject(1).merge([2])', 'merge step can only take an array or an Iterable type'],
  ["g.V().fail('enough')", 'enough'],
  ["g.mergeV(['~id':1])", 'Property key can not be a hidden key: ~id'],
  ["g.V().choose(values('name')).option(is('x'),id())", 'Traversal is not allowed as a Pick token'],
  ["g.V().dedup().by('name').by('age')", 'Dedup step can only have one by modulator'],
  ["g.inject(1).math('_ +')", 'math() needs an expression.'],
  ["g.call('nobody')", 'Unrecognized service: nobody'],
  ['g.V().match(out())', 'A pattern of match() begins with as().'],
]);

describe('profiles', () => {
  test('profile() has figures of every step', async () => {
    const [metrics] = await world.run("g.V('marko').out('knows').values('name').profile()");
    const { steps } = metrics as TraversalMetrics;
    expect(steps.map(({ name, elements }) => [name, elements])).toEqual([
      ['V(marko)', 1],
      ['out(knows)', 2],
      ['values(name)', 2],
    ]);
    expect(steps.every(({ charge }) => charge > 0)).toBe(true);
  });

  test('explain() names the steps without running them', async () => {
    const [text] = await world.run("g.V().has('name','x').drop().explain()");
    expect(text).toContain('Final Traversal     [V(has,name,x), drop()]');
    expect(await world.plain('g.V().count()')).toEqual([6]);
  });
});

describe('merges', () => {
  test('mergeV() finds a vertex, changes it, or makes it', async () => {
    const merge =
      "g.mergeV([(T.id):'ann',pk:'z',name:'ann']).option(onCreate,[age:1]).option(onMatch,[age:2]).values('age')";
    expect(await world.plain(merge)).toEqual([1]);
    expect(await world.plain(merge)).toEqual([2]);
    await world.run("g.V('ann').drop()");
  });

  test('mergeE() finds an edge between vertices, or makes it', async () => {
    const merge =
      "g.V('vadas').as('v').mergeE([(T.label):'likes',(OUT):outV,(IN):inV]).option(outV,select('v')).option(inV,constant('josh')).label()";
    expect(await world.plain(merge)).toEqual(['likes']);
    expect(await world.plain(merge)).toEqual(['likes']);
    expect(await world.plain("g.E().hasLabel('likes').count()")).toEqual([1]);
    await world.run("g.E().hasLabel('likes').drop()");
  });
});

checked('results that differed from the reference', [
  // or() between two steps was taken for or(a, b) although the strategy was switched off.
  ["g.withoutStrategies(ConnectiveStrategy).V().has('name','marko').or().has('name','lop')", []],
  [
    "g.withoutStrategies(ConnectiveStrategy).V().has('name','marko').and().values('name')",
    ['marko'],
  ],
  // A vertex that nobody votes for took the cluster with the least id.
  [
    "g.V('josh').peerPressure().V().order().by('name').values('gremlin.peerPressureVertexProgram.cluster')",
    ['josh', 'josh', 'marko', 'peter', 'josh', 'vadas'],
  ],
  ["g.withStrategies(SeedStrategy(seed: 999999)).V().order().by('name').coin(0.5)", ['v[josh]']],
  [
    'g.withStrategies(SeedStrategy(seed: 999999)).inject([0.2,0.4,0.4,0.5,0.5,1,1,1]).sample(local,5)',
    [[0.5, 1, 0.4, 0.2, 1]],
  ],
  // What weighs nothing was drawn, and a sample of such did not end.
  ["g.V().hasLabel('person').sample(2).by(constant(0))", []],
]);
