// Goal: whatever steps a client puts behind one another, the server answers with a result or with a refusal of its own.
// Method: traversals of random steps with random arguments, by a seed; no answer may be a failure of ours.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Random, seededRandom } from '../../../src/base/index.ts';
import { type Account, MIMES, startAccount } from './harness.ts';

const SEED = Number(process.env.MESOCOSM_SEED ?? 20_261_119);
const ROUNDS = process.env.MESOCOSM_LONG === undefined ? 150 : 20_000;

let account: Account;

beforeAll(async () => {
  account = await startAccount({ partitions: 2 });
  await account.client().submit(
    `g.addV('person').property('id','a').property('pk','a').property('name','ann').property('age',30).as('x')
      .addV('person').property('id','b').property('pk','b').property('name','bob').property(list,'tag','t').as('y')
      .addV('thing').property('id','c').property('pk','c').property('weight',0.5).as('z')
      .addE('knows').from('x').to('y').property('since',2020)
      .addE('owns').from('y').to('z')`,
  );
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const STARTS = ['V()', "V('a')", 'E()', 'inject(1,2.5,"x",null)', 'inject([1,[2],"b"],[k:1])'];

const STEPS = [
  'out()',
  "in('knows')",
  'both()',
  'outE()',
  'bothE()',
  'inV()',
  'otherV()',
  'bothV()',
  'id()',
  'label()',
  "values('name')",
  'values()',
  'properties()',
  'element()',
  'key()',
  'value()',
  'valueMap()',
  'elementMap()',
  'propertyMap()',
  "has('age')",
  "has('name','ann')",
  'hasLabel("person")',
  'hasNot("tag")',
  'is(gt(1))',
  'is(typeOf(GType.STRING))',
  "as('p')",
  "select('p')",
  'select(keys)',
  'select(values)',
  'count()',
  'sum()',
  'min()',
  'max()',
  'mean()',
  'fold()',
  'unfold()',
  'count(local)',
  'sum(local)',
  'order()',
  'order(local)',
  'order().by(id)',
  'dedup()',
  'dedup(local)',
  'limit(2)',
  'tail(1)',
  'range(1,3)',
  'limit(local,1)',
  'sample(1)',
  'coin(0.5)',
  "aggregate('s')",
  "cap('s')",
  "group('g').by(label)",
  'group().by(label).by(count())',
  'groupCount()',
  'path()',
  'simplePath()',
  'cyclicPath()',
  'tree()',
  "project('u','v').by(id).by(count())",
  'constant(7)',
  'identity()',
  'repeat(out()).times(2)',
  'repeat(both().simplePath()).emit().times(2)',
  'until(count().is(0)).repeat(out()).limit(3)',
  'union(out(),identity())',
  'coalesce(out(),constant(1))',
  'optional(out())',
  'choose(is(gt(1)),constant(1),constant(2))',
  'choose(label()).option("person",id())',
  'local(out().limit(1))',
  'flatMap(both())',
  'map(count())',
  'sideEffect(out().aggregate("s"))',
  'where(out())',
  "where(__.as('p').out())",
  "where(neq('p'))",
  'not(out())',
  'and(out(),has("age"))',
  'or(out(),has("age"))',
  "math('_ * 2')",
  "math('p + 1').by('age')",
  'asString()',
  'asNumber()',
  'asBool()',
  'asDate()',
  'length()',
  'toUpper()',
  'trim()',
  'reverse()',
  "split('n')",
  "replace('n','m')",
  'substring(1,2)',
  "concat('z')",
  "conjoin(',')",
  "format('%{name}')",
  'combine([1])',
  'intersect([1])',
  'product([1,2])',
  'merge([1])',
  'difference(identity())',
  'all(gt(1))',
  'any(eq(1))',
  'none(eq(1))',
  'index()',
  'loops()',
  'barrier()',
  "match(__.as('m').out().as('n'))",
  'pageRank()',
  'connectedComponent()',
  'peerPressure()',
  'shortestPath()',
  "subgraph('h')",
  'dateAdd(DT.day,1)',
  'dateDiff(datetime("2023-08-02T00:00:00Z"))',
  'timeLimit(1000)',
  'inject(3)',
  "property('q',1)",
  "property(list,'q',identity())",
  "addV('n').property('pk','p')",
  "addE('k').to(V('c'))",
  'drop()',
  "mergeV([pk:'m',name:'m'])",
  'fail("no")',
  'profile()',
  'executionProfile()',
  'none()',
  'discard()',
  'sack()',
  'fold(0,sum)',
  'by("name")',
  'with("x")',
  'option(1,id())',
  'from("p")',
  'emit()',
  'times(2)',
  'call()',
  'io("x")',
];

const SOURCES = [
  'g',
  'g',
  'g',
  'g.withSack(1)',
  "g.withSideEffect('s',[1])",
  'g.withPath()',
  'g.withBulk(false)',
  "g.withStrategies(new SubgraphStrategy(vertices: has('age')))",
  'g.withStrategies(ProductiveByStrategy)',
  "g.withStrategies(new PartitionStrategy(partitionKey: 'pk', readPartitions: ['a','b']))",
  'g.withComputer()',
];

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

test(`${ROUNDS} random traversals are answered`, async () => {
  const random = seededRandom(SEED);
  // The service's form has a text for every result; not all clients know all types.
  const client = account.client({ mimeType: MIMES.graphson2 });
  for (let round = 0; round < ROUNDS; round++) {
    const steps = Array.from({ length: 1 + random.below(6) }, () => pick(random, STEPS));
    const script = [pick(random, SOURCES), pick(random, STARTS), ...steps].join('.');
    // What is written is taken back, so that the graph stays small.
    const undone = `${script}; g.tx().rollback(); g.inject(1)`;
    await client.submit(undone, {}, { evaluationTimeout: 1000 }).catch(() => undefined);
    if (account.failures.length > 0) throw new Error(script, { cause: account.failures[0] });
  }
});
