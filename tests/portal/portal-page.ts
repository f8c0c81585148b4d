/** A server, a browser, and pages that note what must not happen: errors in the console, requests to other hosts. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { ChildServer } from '../server/child-server.ts';

const PLACES = [
  process.env.MESOCOSM_CHROMIUM,
  process.env.CHROMIUM_PATH,
  ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'chromium')),
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** A loaded machine is slow and not broken: whatever a test waits for may take this long. */
export const PATIENCE_MS = 120_000;

const found = PLACES.find((path) => path !== undefined && existsSync(path));

/** Why the tests of this folder do not run here; undefined where they do. */
export const noBrowser =
  found === undefined && process.env.MESOCOSM_CI !== '1'
    ? 'no Chromium on this machine: see CONTRIBUTING, or set CHROMIUM_PATH'
    : undefined;

export interface PortalPage {
  readonly page: Page;
  readonly errors: string[];
  /** Requests that are not to the portal. */
  readonly foreign: string[];
  /** Method and path of every request that may change something. */
  readonly writes: string[];
}

export class PortalWorld implements AsyncDisposable {
  readonly server: ChildServer;
  readonly #browser: Browser;

  private constructor(server: ChildServer, browser: Browser) {
    this.server = server;
    this.#browser = browser;
  }

  static async open(flags: readonly string[] = []): Promise<PortalWorld> {
    const server = await ChildServer.start(['--memory', ...flags]);
    const browser = await chromium.launch({
      executablePath: found ?? 'chromium',
      timeout: PATIENCE_MS,
    });
    return new PortalWorld(server, browser);
  }

  get url(): string {
    return String(this.server.ready.endpoints.portal);
  }

  async page(options: BrowserContextOptions = {}): Promise<PortalPage> {
    const context = await this.#browser.newContext({
      viewport: { width: 1280, height: 900 },
      baseURL: this.url,
      ...options,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const noted: PortalPage = { page, errors: [], foreign: [], writes: [] };
    page.on('pageerror', (error) => noted.errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') noted.errors.push(message.text());
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      const isOwn = url.origin === new URL(this.url).origin || /^(data|blob):$/.test(url.protocol);
      if (!isOwn) noted.foreign.push(request.url());
      const isAsking = /^\/portal\/api\/(run|plan)$/.test(url.pathname);
      if (request.method() !== 'GET' && !isAsking)
        noted.writes.push(`${request.method()} ${url.pathname}`);
    });
    return noted;
  }

  /** A request as the page sends it. */
  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { 'x-mesocosm-portal': '1', ...init.headers };
    const response = await fetch(new URL(path, this.url), { ...init, headers });
    if (!response.ok && response.status !== 409)
      throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  /** A response as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests know what they asked for.
  async read(path: string, init: RequestInit = {}): Promise<any> {
    return (await this.send(path, init)).json();
  }

  async container(db: string, id: string, throughput = 1000, key = '/customer'): Promise<void> {
    const dbs = '/portal/api/nosql/dbs';
    await this.send(dbs, { method: 'POST', body: JSON.stringify({ id: db }) });
    await this.send(`${dbs}/${encodeURIComponent(db)}/colls`, {
      method: 'POST',
      headers: { 'x-ms-offer-throughput': String(throughput) },
      body: JSON.stringify({ id, partitionKey: { paths: [key], kind: 'Hash', version: 2 } }),
    });
  }

  /** Items of one key, in one transaction; at most a hundred. */
  async items(db: string, id: string, key: string, items: readonly object[]): Promise<void> {
    const path = `/portal/api/nosql/dbs/${encodeURIComponent(db)}/colls/${encodeURIComponent(id)}/docs`;
    await this.send(path, {
      method: 'POST',
      headers: {
        'x-ms-cosmos-is-batch-request': 'True',
        'x-ms-cosmos-batch-atomic': 'True',
        'x-ms-documentdb-partitionkey': asciiJson([key]),
      },
      body: JSON.stringify(
        items.map((resourceBody) => ({ operationType: 'Upsert', resourceBody })),
      ),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await this.server[Symbol.asyncDispose]();
  }
}

/** Headers hold plain characters only. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
