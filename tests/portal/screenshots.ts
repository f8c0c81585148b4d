/** Pictures for the documentation, from a seeded workload: `npm run screenshots`. */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { noBrowser, PortalWorld } from './portal-page.ts';

const folder = fileURLToPath(new URL('../../docs/portal/', import.meta.url));
const HOT = 'amazon';
const LOAD_MS = 45_000;
const NEEDED_SPLITS = 20;

if (noBrowser !== undefined) throw new Error(noBrowser);
mkdirSync(folder, { recursive: true });
await using world = await PortalWorld.open([
  '--throughput',
  'enforce',
  '--partition-storage-limit',
  '300k',
  '--logical-partition-limit',
  '4m',
]);
console.error('seeding');
await world.container('shop', 'orders', 4000);
await world.container('shop', 'returns', 4000, '/order');
await world.container('social', 'people', 12_000, '/city');
await seedGraph();
await load();
console.error('drawing');
await draw();

function order(customer: string, at: number): object {
  return {
    id: `${customer}-${at}`,
    customer,
    total: Math.round((5 + ((at * 7919) % 49_000) / 100) * 100) / 100,
    city: ['Berlin', 'Lagos', 'Lima', 'Osaka', 'Oslo'][at % 5],
    note: 'left at the door '.repeat(12),
  };
}

/** A workload with one hot key beside an even one, as fast as the server takes it. */
async function load(): Promise<void> {
  const untilMs = performance.now() + LOAD_MS;
  const workers = Array.from({ length: 6 }, async (_, worker) => {
    for (let at = worker; performance.now() < untilMs; at += 6) {
      const customer = at % 5 < 2 ? HOT : `c${1000 + (at % 97)}`;
      const id = `r${at}`;
      const batch = Array.from({ length: 12 }, (__, index) =>
        order(customer, (at % 700) * 12 + index),
      );
      await world.items('shop', 'orders', customer, batch).catch(() => undefined);
      await world
        .items('shop', 'returns', id, [{ id, order: id, note: 'x'.repeat(700) }])
        .catch(() => undefined);
    }
  });
  await Promise.all(workers);
  for (let splits = 0; splits < NEEDED_SPLITS; ) {
    const { partitions } = await world.read('/portal/api/lineage?db=shop&container=orders');
    splits = partitions.filter(
      ({ endedAt }: { endedAt: number | null }) => endedAt !== null,
    ).length;
    const report = await world.read('/portal/api/partitions?db=shop&container=orders');
    const widest = [...report.partitions]
      .sort((a, b) => b.items - a.items)
      .find(({ keys }) => keys > 1);
    if (splits >= NEEDED_SPLITS || widest === undefined) return;
    await world.send('/portal/api/split', {
      method: 'POST',
      body: JSON.stringify({ db: 'shop', container: 'orders', partition: widest.id }),
    });
  }
}

async function seedGraph(): Promise<void> {
  const run = (text: string) =>
    world.send('/portal/api/run', {
      method: 'POST',
      body: JSON.stringify({ api: 'gremlin', db: 'social', container: 'people', text }),
    });
  const cities = ['Oslo', 'Lima', 'Pune', 'Turin'];
  for (let at = 0; at < 36; at++)
    await run(`g.addV('person').property('id','p${at}').property('city','${cities[at % 4]}')`);
  for (let at = 1; at < 36; at++) {
    await run(`g.V('p${at}').addE('knows').to(g.V('p${Math.floor(at / 3)}'))`);
    if (at % 4 === 0) await run(`g.V('p${at}').addE('likes').to(g.V('p${(at * 7) % 36}'))`);
  }
}

async function draw(): Promise<void> {
  const { page } = await world.page({
    viewport: { width: 1280, height: 860 },
    deviceScaleFactor: 1.5,
  });
  const shoot = (name: string) => page.screenshot({ path: `${folder}${name}.png` });
  await page.goto('/');
  await wait(page, 3000);
  await shoot('overview');
  await page.goto('/c/shop/orders/partitions');
  await page.locator('.chart canvas').waitFor();
  await wait(page, 2500);
  await shoot('partitions');
  await page.locator('[data-card="lineage"]').scrollIntoViewIfNeeded();
  await page.locator('[data-card="lineage"]').screenshot({ path: `${folder}lineage.png` });
  await page.goto('/c/shop/orders/query');
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(
    'SELECT c.customer, COUNT(1) orders, SUM(c.total) total\nFROM c\nWHERE c.total > 100\nGROUP BY c.customer',
  );
  await page.keyboard.press('Control+Enter');
  await page.locator('.explain').waitFor();
  await wait(page, 500);
  await shoot('query');
  await page.goto('/c/social/people/query');
  await page
    .getByLabel('Language')
    .selectOption('gremlin')
    .catch(() => undefined);
  await runGraph(page);
  await shoot('graph');
  await page.goto('/');
  await page.locator('main').getByRole('button', { name: 'New container' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('readings');
  await page.getByLabel('Path', { exact: true }).fill('/deviceId');
  await page.getByLabel('RU/s', { exact: true }).fill('25000');
  await wait(page, 1000);
  await shoot('create');
}

async function runGraph(page: Page): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('g.V().limit(60).union(identity(), outE())');
  await page.keyboard.press('Control+Enter');
  await page.locator('.results').waitFor();
  await wait(page, 2500);
}

function wait(page: Page, ms: number): Promise<void> {
  return page.waitForTimeout(ms);
}
