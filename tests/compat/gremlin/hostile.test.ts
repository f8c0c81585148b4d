// Goal: traversals without a reasonable end stop within limits with the right code, and others are served meanwhile.
// Method: the stock client sends each with a time limit of its own; another client reads until it has ended.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, MIMES, startAccount } from './harness.ts';

let account: Account;
const VERTICES = 40;

beforeAll(async () => {
  account = await startAccount();
  const ids = Array.from({ length: VERTICES }, (_, at) => `v${at}`);
  const adds = ids.map((id) => `addV('t').property('id','${id}').property('pk','${id}')`);
  const client = account.client();
  await client.submit(`g.${adds.join('.')}.iterate()`);
  await client.submit("g.V().as('a').V().addE('k').from('a').iterate()");
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const TOO_LONG = '598 1009';
const TOO_MUCH = '500 1003';

test.each([
  ["g.V().repeat(both()).until(has('x'))", [TOO_LONG, '500 1000']],
  ['g.V().repeat(both().simplePath()).emit().count()', [TOO_LONG, TOO_MUCH]],
  ["g.V().as('a').V().as('b').V().as('c').V().as('d').select('a','b','c').count()", [TOO_LONG]],
  ['g.V().repeat(both()).times(12).path().count()', [TOO_LONG, TOO_MUCH]],
  ["g.V().both().both().both().order().by('pk').path().count()", [TOO_LONG, TOO_MUCH]],
  ['g.inject(1).repeat(union(identity(),identity())).times(40).iterate()', [TOO_LONG]],
  ['g.inject(1).repeat(union(identity(),identity())).times(40).toSet()', [TOO_LONG, TOO_MUCH]],
])('%s', async (script, codes) => {
  const [hostile, other] = [MIMES.graphson2, MIMES.graphson2].map((mimeType) =>
    account.client({ mimeType }),
  ) as [ReturnType<Account['client']>, ReturnType<Account['client']>];
  let isDone = false;
  const outcome = hostile
    .submit(script, {}, { evaluationTimeout: 500 })
    .then(
      () => 'done',
      (error: { statusCode: number; statusAttributes: Record<string, unknown> }) =>
        `${error.statusCode} ${error.statusAttributes['x-ms-status-code']}`,
    )
    .finally(() => {
      isDone = true;
    });
  do expect((await other.submit("g.V(['v1','v1']).id()")).toArray()).toEqual(['v1']);
  while (!isDone);
  expect(codes).toContain(await outcome);
});

test('more values than a call takes arguments are put into order', async () => {
  const x = Array.from({ length: 400 }, (_, at) => 399 - at);
  const script = 'g.inject(x).unfold().flatMap(constant(x).unfold()).order().limit(401)';
  const { length, 399: last, 400: next } = (await account.client().submit(script, { x })).toArray();
  expect([length, last, next]).toEqual([401, 0, 1]);
});
