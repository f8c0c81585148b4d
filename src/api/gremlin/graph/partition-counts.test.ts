// Goal: a graph gives the same answers over one partition and over eight. Method: a generated graph, traversals of all
// kinds before and after its partition is split, compared without order.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../../base/index.ts';
import { openWorld, type World } from '../world-suite.ts';

const VERTICES = 120;
const EDGES = 480;
let world: World;

beforeAll(async () => {
  const random = seededRandom(7);
  world = await openWorld({ hasPeople: false });
  const vertices = Array.from(
    { length: VERTICES },
    (_, at) =>
      `addV('${at % 3 === 0 ? 'a' : 'b'}').property('id','v${at}').property('pk','p${at % 40}').property('n',${random.below(100)})`,
  );
  await world.run(`g.${vertices.join('.')}`);
  const edges = Array.from({ length: EDGES }, (_, at) => {
    const [from, to] = [random.below(VERTICES), random.below(VERTICES)];
    return `addE('e${at % 4}').from(V(['p${from % 40}','v${from}'])).to(V(['p${to % 40}','v${to}'])).property('id','e${at}').property('w',${random.below(10)})`;
  });
  for (let at = 0; at < EDGES; at += 60) await world.run(`g.${edges.slice(at, at + 60).join('.')}`);
});

afterAll(() => world.close());

const SCRIPTS = [
  'g.V().count()',
  'g.E().count()',
  "g.V().hasLabel('a').count()",
  "g.V().has('n',gt(50)).id()",
  "g.V('v1','v2').both().id()",
  "g.V('v3').out().out().id()",
  "g.V('v3').in('e1').in('e2').id()",
  "g.V().outE().has('w',lt(3)).inV().values('n').sum()",
  'g.V().groupCount().by(label)',
  "g.V().order().by('n').by(id).limit(10).id()",
  "g.V('v5').repeat(out()).times(4).count()",
  "g.V().where(__.in('e0').count().is(gt(2))).id()",
  "g.V().as('x').out('e1').out('e2').as('y').where('x',eq('y')).id()",
  "g.V().match(__.as('x').out('e0').as('y'),__.as('y').out('e3').as('z')).count()",
  "g.V().connectedComponent().values('gremlin.connectedComponentVertexProgram.component').dedup().count()",
  "g.V('v7').shortestPath().with(ShortestPath.target,hasId('v8')).count(local).dedup()",
];

async function answers(): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const script of SCRIPTS) {
    const found = await world.plain(script);
    all.push([script, found.map((value) => JSON.stringify(value)).sort()]);
  }
  return all;
}

test('one partition and eight give the same answers', async () => {
  const before = await answers();
  expect(world.container.partitions).toHaveLength(1);
  await world.splitTo(8);
  expect(await answers()).toEqual(before);
  await world.run("g.V().has('n',gt(50)).drop()");
  const left = await world.plain(
    'g.E().where(__.not(outV().has("n")).or().not(inV().has("n"))).count()',
  );
  expect(left).toEqual([0]);
});
