/**
 * Figures of the page and of what watching costs, after a build: `npx node tests/portal/figures.ts`, or with a word of
 * their names. See docs/benchmarks.md.
 */
import type { Page } from 'playwright-core';
import { noBrowser, PortalWorld } from './portal-page.ts';

if (noBrowser !== undefined) throw new Error(noBrowser);
const PARTITIONS = 256;
const LIMIT = 1000;
const TICKS = 20;
const ROWS = 100_000;
const VIEWERS = 8;
const WATCH_MS = 20_000;
const ROUNDS = 10;
const ROUND_MS = 2000;

/** What one page on partitions asks for beside its stream, and how often. */
const ASKED: readonly (readonly [route: string, everyMs: number])[] = [
  ['series', 2000],
  ['hot-keys', 5000],
  ['lineage', 10_000],
];

await using world = await PortalWorld.open([
  '--throughput',
  'report',
  '--partition-throughput-limit',
  String(LIMIT),
]);
await world.container('many', 'parts', PARTITIONS * LIMIT);
await world.container('shop', 'orders', 3 * LIMIT);
for (const customer of ['a', 'b', 'c'])
  await world.items('shop', 'orders', customer, [item(customer)]);
const FIGURES: Readonly<Record<string, () => Promise<unknown>>> = {
  'first paint, ms': firstPaints,
  [`script per tick of ${PARTITIONS} partitions, ms`]: scriptPerTick,
  [`longest task while ${ROWS} rows scroll, ms`]: longestTask,
  'server, percent of a core for each viewer': corePerViewer,
  [`point reads without and with ${VIEWERS} viewers`]: latencies,
};
const asked = process.argv.slice(2);
for (const [name, measure] of Object.entries(FIGURES))
  if (asked.length === 0 || asked.some((word) => name.includes(word)))
    console.log(`${name}: ${JSON.stringify(await measure())}`);

function item(customer: string): object {
  return { id: customer, customer, note: 'x'.repeat(900) };
}

/** From the beginning of the navigation, each in a new context. */
async function firstPaints(): Promise<string> {
  const times: number[] = [];
  for (let at = 0; at < 5; at++) {
    const { page } = await world.page();
    await page.goto('/');
    await page.waitForSelector('main h1');
    const paint = await page.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
    );
    times.push(Math.round(paint));
    await page.context().close();
  }
  return times.join(', ');
}

/** Every second another partition has other figures, so that each tick draws. */
async function scriptPerTick(): Promise<string> {
  const { page } = await world.page();
  await page.goto('/c/many/parts/partitions');
  await page
    .locator('.strips g[data-partition]')
    .nth(PARTITIONS - 1)
    .waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const scriptSec = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0;
  };
  await page.waitForTimeout(3000);
  const before = await scriptSec();
  for (let tick = 0; tick < TICKS; tick++) {
    await world.items('many', 'parts', `key ${tick}`, [item(`key ${tick}`)]);
    await page.waitForTimeout(1000);
  }
  const used = (await scriptSec()) - before;
  await page.context().close();
  return ((1000 * used) / TICKS).toFixed(2);
}

/** Rows come from an answer that is made up: no page holds so many. */
async function longestTask(): Promise<number> {
  const { page } = await world.page();
  const rows = Array.from({ length: ROWS }, (_, at) => ({ id: `r${at}`, total: at, city: 'Oslo' }));
  const answer = {
    rows,
    charge: 1,
    ms: 1,
    partitions: 1,
    retries: 0,
    continuation: null,
    warnings: [],
  };
  await page.route('**/portal/api/run', (route) => route.fulfill({ json: answer }));
  await page.goto('/c/shop/orders/data');
  await page.locator('.grid tbody tr[role=row]').first().waitFor();
  return scrolled(page);
}

async function scrolled(page: Page): Promise<number> {
  await page.waitForTimeout(3000);
  await page.evaluate(`
    globalThis.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    }).observe({ type: 'longtask' });`);
  await page.locator('.grid').hover();
  for (let at = 0; at < 100; at++) {
    await page.mouse.wheel(0, 30_000);
    await page.waitForTimeout(30);
  }
  const { longest, top } = (await page.evaluate(
    `({ longest, top: document.querySelector('.grid').scrollTop })`,
  )) as { readonly longest: number; readonly top: number };
  if (top < 1_000_000) throw new Error(`only scrolled to ${top}`);
  await page.context().close();
  return Math.round(longest);
}

/** One page that looks at the partitions of a container; the result ends it. */
function watch(container: string): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  const [db = '', id = ''] = container.split('/');
  const topics = encodeURIComponent(`overview,partitions:${container}`);
  void fetch(new URL(`/portal/events?topics=${topics}`, world.url), { signal })
    .then(async ({ body }) => {
      for await (const _ of body as unknown as AsyncIterable<Uint8Array>);
    })
    .catch(() => undefined);
  const query = new URLSearchParams({ db, container: id, window: '5m' });
  const timers = ASKED.map(([route, everyMs]) => {
    const path = `/portal/api/${route}?${query}`;
    const ask = () => world.send(path).then((reply) => reply.arrayBuffer());
    return setInterval(() => void ask().catch(() => undefined), everyMs);
  });
  return () => {
    for (const timer of timers) clearInterval(timer);
    controller.abort();
  };
}

async function corePerViewer(): Promise<string> {
  const cpuSec = async (): Promise<number> =>
    (await world.read('/portal/api/monitor')).process.cpuSec;
  const during = async (): Promise<number> => {
    const before = await cpuSec();
    await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
    return (await cpuSec()) - before;
  };
  const shares: string[] = [];
  for (const container of ['shop/orders', 'many/parts']) {
    const idle = await during();
    const ends = Array.from({ length: VIEWERS }, () => watch(container));
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const watched = await during();
    for (const end of ends) end();
    const share = (100 * (watched - idle)) / (WATCH_MS / 1000) / VIEWERS;
    shares.push(`${container} ${share.toFixed(2)}`);
  }
  return shares.join(', ');
}

/** Rounds alternate, so that both see the same machine. */
async function latencies(): Promise<object> {
  const times = { without: [] as number[], with: [] as number[] };
  const path = '/portal/api/nosql/dbs/shop/colls/orders/docs/a';
  const headers = { 'x-ms-documentdb-partitionkey': '["a"]' };
  for (let round = 0; round < 2 * ROUNDS; round++) {
    const kind = round % 2 === 0 ? 'without' : 'with';
    const ends = kind === 'with' ? Array.from({ length: VIEWERS }, () => watch('shop/orders')) : [];
    await new Promise((resolve) => setTimeout(resolve, 500));
    const untilMs = performance.now() + ROUND_MS;
    while (performance.now() < untilMs) {
      const startedMs = performance.now();
      await (await world.send(path, { headers })).text();
      times[kind].push(performance.now() - startedMs);
    }
    for (const end of ends) end();
  }
  return { without: quantiles(times.without), with: quantiles(times.with) };
}

function quantiles(times: number[]): object {
  const sorted = times.sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(100 * (sorted[Math.floor(share * sorted.length)] ?? 0)) / 100;
  return { reads: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99) };
}
