// Goal: the portal does in a real browser what its specification says (T-A1 to T-A9). Method: the built program and
// Chromium; pages are used as people use them, and must show no error, ask nobody else and have no axe violation.
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noBrowser, PATIENCE_MS, PortalWorld } from './portal-page.ts';

const HOT = 'amazon';
/** Machines differ: what is expected comes, sooner or later. */
const PATIENCE = { timeout: PATIENCE_MS };
/** A test waits for many things. */
const TEST_MS = 10 * PATIENCE_MS;
let world: PortalWorld;

const name = `the portal ${noBrowser ?? 'in a browser'}`;
describe.skipIf(noBrowser !== undefined)(name, { timeout: TEST_MS }, () => {
  beforeAll(async () => {
    world = await PortalWorld.open([
      '--partition-storage-limit',
      '500k',
      '--logical-partition-limit',
      '40m',
    ]);
    await seedHotKey();
  }, TEST_MS);

  afterAll(() => world?.[Symbol.asyncDispose](), TEST_MS);

  test('a new user loads the sample, finds the hot key and has the expensive query explained', async () => {
    const fresh = await PortalWorld.open(['--throughput', 'enforce']);
    try {
      const { page, errors } = await fresh.page();
      await page.goto('/');
      await page.getByRole('button', { name: 'Load sample data' }).click();
      await page.getByRole('button', { name: 'Load', exact: true }).click();
      await page.waitForURL('**/c/shop/orders/partitions');
      await page.getByText('1 of 6').waitFor();
      const parts = page.locator('.strips g[data-partition]');
      await expect.poll(() => parts.count(), PATIENCE).toBe(3);
      await expect.poll(() => itemsShown(page), PATIENCE).toBe(10_000);
      await expect
        .poll(() => page.locator('.hint, .alert').allTextContents(), PATIENCE)
        .toContainEqual(expect.stringContaining(`"${HOT}"`));
      await page.getByRole('button', { name: 'End the tour' }).click();
      await page.locator('.tabs').getByText('Query', { exact: true }).click();
      await page.locator('.cm-content').click();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText('SELECT c.city, COUNT(1) n FROM c GROUP BY c.city');
      await page.keyboard.press('Control+Enter');
      const explained = page.locator('.explain');
      await explained.getByText('Read 3 of 3 partitions: it fans out').waitFor();
      await explained.getByText('As a query of one key').waitFor();
      await page.goto('/monitor');
      await page
        .locator('[data-card="query-shapes"]')
        .getByText('SELECT c.city, COUNT(?) n FROM c GROUP BY c.city')
        .waitFor();
      expect(errors).toEqual([]);
    } finally {
      await fresh[Symbol.asyncDispose]();
    }
  });

  test('T-A1 every page: no axe violation, no console error, no foreign request, light and dark', async () => {
    const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
    const source = (await import('node:fs')).readFileSync(axe, 'utf8');
    const tabs = ['partitions', 'data', 'query', 'feed', 'scripts', 'settings'];
    const paths = [
      '/',
      '/d/shop',
      ...tabs.map((tab) => `/c/shop/orders/${tab}`),
      '/keys',
      '/monitor',
      '/compare',
    ];
    const violations: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, errors, foreign } = await world.page({ colorScheme });
      for (const path of paths) {
        await page.goto(path);
        await page.waitForSelector('main h1, main h2, main section');
        await page.waitForSelector('.state', { state: 'detached' });
        await page.evaluate(source);
        const found = await page.evaluate(async (scheme) => {
          const { axe } = globalThis as unknown as { axe: Axe };
          // Only colours differ in the dark.
          const options = scheme === 'dark' ? { runOnly: ['color-contrast'] } : {};
          const { violations } = await axe.run(options);
          return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
        }, colorScheme);
        for (const violation of found) violations.push(`${colorScheme} ${path} ${violation}`);
      }
      expect(errors).toEqual([]);
      expect(foreign).toEqual([]);
      await page.context().close();
    }
    expect(violations).toEqual([]);
  });

  test('T-A2 the partition of a hot key is seen in both strips', async () => {
    // Hot keys are those of the last five minutes: the seed may be older by now.
    await world.items('shop', 'orders', HOT, orders(HOT, 0, 90));
    const { page } = await world.page();
    await page.goto('/c/shop/orders/partitions');
    const ranges = await world.read('/portal/api/nosql/dbs/shop/colls/orders/pkranges');
    await expect
      .poll(() => page.locator('.strips g[data-partition]').count(), PATIENCE)
      .toBe(ranges.PartitionKeyRanges.length);
    const hot = await world.read('/portal/api/hot-keys?db=shop&container=orders');
    expect(hot.byRequestUnits[0].key).toEqual([HOT]);
    const part = page.locator(`.strips g[data-partition="${hot.byRequestUnits[0].partition}"]`);
    expect(Number(await part.locator('.box').getAttribute('width'))).toBeGreaterThanOrEqual(10);
    expect(Number(await part.locator('.place').getAttribute('width'))).toBeGreaterThanOrEqual(2);
    await expect
      .poll(() => page.locator('[data-card="hot-keys"] li').first().textContent(), PATIENCE)
      .toContain(`"${HOT}"`);
    await page.context().close();
  });

  test('T-A3 a split is seen while one looks, and no item is lost', async () => {
    await world.container('shop', 'watched', 1000);
    for (const customer of ['a', 'b', 'c', 'd'])
      await world.items('shop', 'watched', customer, orders(customer, 0, 20));
    const { page } = await world.page();
    await page.goto('/c/shop/watched/partitions');
    await page.locator('.strips g[data-partition="0"] .box').click();
    await page.getByRole('button', { name: 'Split by bytes' }).click();
    const parts = page.locator('.strips g[data-partition]');
    await expect.poll(() => parts.count(), PATIENCE).toBe(2);
    await expect.poll(() => itemsShown(page), PATIENCE).toBe(80);
    await page
      .locator('[data-card="lineage"] canvas[aria-label^="3 partitions in the life"]')
      .waitFor();
    await page.context().close();
  });

  test.each([
    ['Take theirs', { total: 2, mine: undefined }],
    ['Overwrite theirs', { total: 1, mine: true }],
    ['Save merged', { total: 1, mine: true }],
  ])('T-A4 somebody saved meanwhile: %s', async (choice, expected) => {
    const id = `conflict-${choice.replaceAll(' ', '-')}`;
    const path = `/portal/api/nosql/dbs/shop/colls/edited/docs`;
    const key = { 'x-ms-documentdb-partitionkey': '["x"]' };
    await world.container('shop', 'edited', 400);
    await world.items('shop', 'edited', 'x', [{ id, customer: 'x', total: 1 }]);
    const { page } = await world.page();
    await page.goto('/c/shop/edited/data');
    await page.locator('.grid tbody tr[role=row]', { hasText: id }).click();
    const editor = page.locator('dialog .cm-content');
    await editor.waitFor();
    await world.items('shop', 'edited', 'x', [{ id, customer: 'x', total: 2 }]);
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(`{"id": "${id}", "customer": "x", "total": 1, "mine": true}`);
    await editor.filter({ hasText: '"mine": true' }).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Changed by somebody else').waitFor();
    await page.locator('.cm-mergeView').waitFor();
    await page.getByRole('button', { name: choice }).click();
    if (choice === 'Take theirs') await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    const stored = await world.read(`${path}/${id}`, { headers: key });
    expect({ total: stored.total, mine: stored.mine }).toEqual(expected);
    await page.context().close();
  });

  test.each([1000, 10_000, 10_100, 25_000])(
    'T-A5 the preview of N is the N of %d RU/s',
    async (throughput) => {
      const { page } = await world.page();
      const id = `planned-${throughput}`;
      await page.goto('/');
      await page.locator('main').getByRole('button', { name: 'New container' }).first().click();
      await page.getByLabel('Database', { exact: true }).fill('shop');
      await page.getByLabel('Name', { exact: true }).fill(id);
      await page.getByLabel('Path', { exact: true }).fill('/customer');
      await page.getByLabel('RU/s', { exact: true }).fill(String(throughput));
      const plan = page.locator('.plan');
      const expected = Math.ceil(throughput / 10_000);
      await expect
        .poll(() => plan.getAttribute('data-partitions'), PATIENCE)
        .toBe(String(expected));
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.waitForURL(`**/c/shop/${id}/partitions`);
      await expect
        .poll(() => page.locator('.strips g[data-partition]').count(), PATIENCE)
        .toBe(expected);
      await page.context().close();
    },
  );

  test.each([
    ['mongo', 'city'],
    ['cassandra', 'city'],
    ['gremlin', '/city'],
    ['table', undefined],
  ])('the form makes a container of the %s API', async (api, key) => {
    const { page, errors } = await world.page();
    const id = `form${api}`;
    await page.goto('/');
    await page.locator('main').getByRole('button', { name: 'New container' }).first().click();
    const dialog = page.locator('dialog');
    await dialog.getByLabel('API', { exact: true }).selectOption(api);
    if (api !== 'table') await dialog.getByLabel('Database', { exact: true }).fill(`db${api}`);
    await dialog.getByLabel('Name', { exact: true }).fill(id);
    if (key !== undefined) await dialog.locator('fieldset input[type=text]').first().fill(key);
    await dialog.getByLabel('RU/s', { exact: true }).fill('11000');
    await expect
      .poll(() => page.locator('.plan').getAttribute('data-partitions'), PATIENCE)
      .toBe('2');
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await page.waitForURL(`**/${id}/partitions`);
    await expect.poll(() => page.locator('.strips g[data-partition]').count(), PATIENCE).toBe(2);
    const { containers } = await world.read('/portal/api/overview');
    expect(containers).toContainEqual(
      expect.objectContaining({ container: id, api, throughput: 11_000, partitions: 2 }),
    );
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('RU/s are divided by hand, and what is left is said while one types', async () => {
    await world.container('shop', 'divided', 20_000);
    const { page } = await world.page();
    await page.goto('/c/shop/divided/partitions');
    await page.getByRole('button', { name: 'Divide RU/s…' }).click();
    await page.getByLabel('RU/s of partition 1').fill('10000');
    await page.getByText('10,000 of 20,000 RU/s named; 10,000 for each of the other 1.').waitFor();
    await page.getByLabel('RU/s of partition 1').fill('12000');
    await page.getByRole('button', { name: 'Divide', exact: true }).click();
    await page.getByText('A partition may have 100 to 10000 RU/s.').waitFor();
    await page.getByLabel('RU/s of partition 0').fill('');
    await page.getByLabel('RU/s of partition 1').fill('');
    await page.getByRole('button', { name: 'Divide', exact: true }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('settings say what a write would cost under the new policy', async () => {
    const { page, errors } = await world.page();
    await page.goto('/c/shop/orders/settings');
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(
      '{"indexingPolicy": {"indexingMode": "none", "automatic": false}}',
    );
    await page.getByRole('button', { name: 'Show what would change' }).click();
    await page.locator('[data-write-cost]', { hasText: 'then with 0.' }).waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('typing over a selection in an editor breaks no policy of the page', async () => {
    const { page, errors } = await world.page();
    await page.goto('/c/shop/orders/query');
    const editor = page.locator('.cm-content');
    await editor.click();
    await editor.locator('span', { hasText: 'SELECT' }).waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('SELECT TOP 1 * FROM c');
    await editor.filter({ hasText: /^SELECT TOP 1 \* FROM c$/ }).waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('SELECT 2');
    await editor.filter({ hasText: /^SELECT 2$/ }).waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('T-A6 eight tabs of one browser load', async () => {
    const { page } = await world.page();
    const pages = [page];
    for (let at = 1; at < 8; at++) pages.push(await page.context().newPage());
    for (const tab of pages) {
      await tab.goto('/c/shop/orders/partitions');
      await tab.bringToFront();
      await tab.locator('.strips g[data-partition]').first().waitFor();
    }
    // All of them hear of a change, with a stream or without.
    await world.container('shop', 'late', 400);
    for (const tab of pages) {
      await tab.bringToFront();
      await tab.locator('nav').getByText('late', { exact: true }).waitFor();
    }
    await page.context().close();
  });

  test('figures are shown although the server answers more slowly than they are asked for', async () => {
    const { page } = await world.page();
    await page.route('**/portal/api/monitor*', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 3000));
      await route.continue();
    });
    await page.goto('/monitor');
    await page.getByRole('region', { name: 'Operations' }).waitFor();
    await page.context().close();
  });

  test('T-A7 read-only: nothing is written, here or on the server', async () => {
    const { page, writes } = await world.page();
    await page.goto('/');
    await page.getByRole('button', { name: 'read-only' }).click();
    for (const path of [
      '/d/shop',
      '/c/shop/orders/data',
      '/c/shop/orders/scripts',
      '/c/shop/orders/settings',
      '/keys',
    ]) {
      await page.goto(path);
      await page.waitForSelector('main h1');
      await page.waitForSelector('.state', { state: 'detached' });
      for (const name of ['New container', 'New item', 'Save', 'Delete…', 'Scale…'])
        for (const button of await page.getByRole('button', { name, exact: true }).all())
          expect([path, name, await button.isDisabled()]).toEqual([path, name, true]);
    }
    expect(writes).toEqual([]);
    const refused = await fetch(new URL('/portal/api/nosql/dbs', world.url), {
      method: 'POST',
      headers: { 'x-mesocosm-portal': '1', 'x-mesocosm-read-only': '1' },
      body: JSON.stringify({ id: 'never' }),
    });
    expect(refused.status).toBe(403);
    await page.context().close();
  });

  test('T-A8 markup, bidi marks, long texts and many columns in names, keys and items are texts', async () => {
    const evil = '<img src=x onerror=alert(1)>';
    const name = `evil <b>\u202e`;
    await world.container(name, evil, 400, '/key');
    const wide = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, at) => [`column ${at}`, at]),
    );
    await world.items(name, evil, evil, [
      { id: `${evil.replaceAll('/', '')}`, key: evil, [evil]: evil, [`\u202e${evil}`]: '\u202e' },
      { id: 'long', key: evil, text: 'x'.repeat(1_000_000) },
      { id: 'wide', key: evil, ...wide },
      { id: '__proto__', key: evil, constructor: { prototype: evil } },
    ]);
    const { page, errors } = await world.page();
    let alerts = 0;
    page.on('dialog', (dialog) => {
      alerts++;
      void dialog.dismiss();
    });
    const base = `/c/${encodeURIComponent(name)}/${encodeURIComponent(evil)}`;
    for (const tab of ['partitions', 'data', 'query', 'feed', 'settings']) {
      await page.goto(`${base}/${tab}`);
      await page.waitForSelector('main h1');
      await page.waitForSelector('.state', { state: 'detached' });
      if (tab === 'query') {
        await page.getByRole('button', { name: /^Run/ }).click();
        await page.locator('.grid').waitFor();
        await page.getByRole('button', { name: 'JSON', exact: true }).first().click();
        await page.locator('pre.json').waitFor();
      }
      if (tab === 'data') {
        await page.locator('.grid tbody tr[role=row]', { hasText: 'wide' }).first().click();
        await page.locator('dialog .cm-content').waitFor();
        await page.keyboard.press('Escape');
      }
      expect(await page.locator('main img').count()).toBe(0);
    }
    await page.goto('/');
    await page.waitForSelector('table.list');
    expect(alerts).toBe(0);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('T-A9 keys alone: create, insert, query, delete', async () => {
    const { page } = await world.page();
    const { keyboard } = page;
    await page.goto('/');
    await page.waitForSelector('main h1');
    await keyboard.press('Control+k');
    // No waiting: the first letter belongs to the palette, however slow the page is.
    await keyboard.type('new container');
    await page
      .getByRole('option', { name: 'New container', exact: true, selected: true })
      .waitFor();
    await keyboard.press('Enter');
    await tabTo('Database', 'keys only');
    await tabTo('Name', 'typed');
    await tabTo('Path', '/id');
    await keyboard.press('Enter');
    await page.waitForURL('**/typed/partitions');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await go('d', 'Data');
    await focusButton('New item');
    await keyboard.press('Enter');
    await page.locator('dialog .cm-content').focus();
    await write('dialog', '{"id": "one"}');
    await keyboard.press('Control+s');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.locator('.grid tbody tr[role=row]', { hasText: 'one' }).waitFor();
    await page.locator('main').focus();
    await go('q', 'Query');
    await page.locator('.cm-content').focus();
    await write('main', 'SELECT VALUE c.id FROM c');
    await keyboard.press('Control+Enter');
    await page.locator('.grid tbody tr[role=row]', { hasText: 'one' }).waitFor();
    await focusButton('Delete…');
    await keyboard.press('Enter');
    await tabTo('Type typed', 'typed');
    await keyboard.press('Enter');
    await page.waitForURL('**/d/keys%20only');
    await page.context().close();

    async function tabTo(label: string, text: string): Promise<void> {
      const field = page.getByLabel(label, { exact: true });
      await field.waitFor();
      for (let at = 0; at < 30; at++) {
        if (await field.evaluate((element) => element.matches(':focus'))) break;
        await keyboard.press('Tab');
      }
      await keyboard.press('Control+a');
      await keyboard.type(text);
      await expect.poll(() => field.inputValue(), PATIENCE).toBe(text);
    }

    async function go(key: string, tab: string): Promise<void> {
      await keyboard.press('g');
      await page.locator('.go-hint').waitFor();
      await keyboard.press(key);
      await page.locator('.tabs [aria-current=page]', { hasText: tab }).waitFor();
    }

    /** Instead of all that the editor holds. */
    async function write(place: string, text: string): Promise<void> {
      await keyboard.press('Control+a');
      await keyboard.insertText(text);
      await page.locator(`${place} .cm-content`, { hasText: text }).waitFor();
    }

    async function focusButton(name: string): Promise<void> {
      const button = page.locator('main').getByRole('button', { name, exact: true }).first();
      await button.waitFor();
      for (let at = 0; at < 60; at++) {
        if (await button.evaluate((element) => element.matches(':focus'))) return;
        await keyboard.press('Tab');
      }
      throw new Error(`${name} cannot be reached with Tab`);
    }
  });
});

/** The items of all partitions, as the table of partitions shows them. */
async function itemsShown(page: Page): Promise<number> {
  const cells = page.locator('table[data-table="partitions"] tbody tr td:nth-child(3)');
  const texts = await cells.allTextContents();
  return texts.reduce((sum, text) => sum + Number(text.replaceAll(',', '')), 0);
}

interface Axe {
  run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

function orders(customer: string, from: number, count: number): readonly object[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `${customer}-${from + at}`,
    customer,
    total: at,
    note: 'x'.repeat(900),
  }));
}

/** One customer with a third of all orders, in partitions so small that it soon is alone in one. */
async function seedHotKey(): Promise<void> {
  await world.container('shop', 'orders', 10_000);
  for (let batch = 0; batch < 8; batch++) {
    await world.items('shop', 'orders', HOT, orders(HOT, batch * 90, 90));
    for (let customer = 0; customer < 8; customer++) {
      const name = `c${batch * 8 + customer}`;
      await world.items('shop', 'orders', name, orders(name, 0, 20));
    }
  }
  // Splits run in the background.
  for (;;) {
    const report = await world.read('/portal/api/partitions?db=shop&container=orders');
    const isBusy = report.partitions.some(
      ({ state }: { state: string }) => state !== 'online' && state !== 'full',
    );
    if (!isBusy && report.partitions.length > 2) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
