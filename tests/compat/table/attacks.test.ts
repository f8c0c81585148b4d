// Goal: what an attacker of tables tries gets a refusal and leaves the server as it was. Method: raw requests, signatures of the stock client, altered.
import { createHmac } from 'node:crypto';
import { AzureNamedKeyCredential, generateTableSas } from '@azure/data-tables';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT, type Account, KEY, MODES, startAccount } from './harness.ts';
import { sendRaw } from './raw-request.ts';

let account: Account;
beforeAll(async () => {
  account = await startAccount();
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const credential = new AzureNamedKeyCredential(ACCOUNT, KEY);
const PROPERTIES = '/?restype=service&comp=properties';

function rule(more: Readonly<Record<string, string>>): string {
  const content = {
    AllowedOrigins: 'http://a.example',
    AllowedMethods: 'GET',
    AllowedHeaders: '*',
    ExposedHeaders: 'etag',
    MaxAgeInSeconds: '5',
    ...more,
  };
  const elements = Object.entries(content).map(([name, text]) => `<${name}>${text}</${name}>`);
  return `<CorsRule>${elements.join('')}</CorsRule>`;
}

function writeProperties(content: string) {
  const body = `<StorageServiceProperties>${content}</StorageServiceProperties>`;
  return sendRaw(account, { method: 'PUT', path: PROPERTIES, body });
}

describe('a CORS rule with what no header may have does not end the process', () => {
  const bad: readonly Readonly<Record<string, string>>[] = [
    { ExposedHeaders: 'x-€' },
    { ExposedHeaders: 'x-a&#10;evil: 1' },
    { MaxAgeInSeconds: '5€' },
    { MaxAgeInSeconds: '-1' },
    { AllowedOrigins: 'http://€.example' },
    { AllowedMethods: 'GET,€' },
    { AllowedHeaders: 'x y' },
  ];

  test.each(bad)('%j is refused when it is written', async (more) => {
    const sent = await writeProperties(`<Cors>${rule(more)}</Cors>`);
    expect(sent.status).toBe(400);
    expect(sent.text).toContain('<Code>InvalidXmlNodeValue</Code>');
  });

  test('and passed over when it is on disk already', async () => {
    expect((await writeProperties(`<Cors>${rule({})}</Cors>`)).status).toBe(202);
    const { databases } = account.service;
    const database = databases.find('TablesDB');
    const good = { AllowedOrigins: 'http://b.example', AllowedMethods: 'GET' };
    const stored = [
      ...bad.map((more) => ({ AllowedOrigins: '*', AllowedMethods: 'GET', ...more })),
      good,
    ];
    for (const CorsRule of [...stored.map((one) => [one, good]), 'text', [['list']], { a: {} }]) {
      const tableService = { Cors: { CorsRule } } as never;
      await databases.setPolicies(database?.rid as number, { tableService });
      for (const method of ['GET', 'OPTIONS']) {
        const headers = { origin: 'http://b.example', 'access-control-request-method': 'GET' };
        const request = { method, path: '/Tables', isSigned: false, headers };
        const { status } = await sendRaw(account, request);
        expect([200, 403]).toContain(status);
      }
    }
    expect((await writeProperties('<Cors/>')).status).toBe(202);
  });
});

describe('XML that breaks parsers returns 400', () => {
  const deep = `${'<a>'.repeat(20_000)}${'</a>'.repeat(20_000)}`;
  test.each<[string, string]>([
    ['20,000 deep', `<Cors>${deep}</Cors>`],
    ['with __proto__', '<Cors><__proto__><x>1</x></__proto__></Cors>'],
    ['with constructor', '<constructor><prototype>1</prototype></constructor>'],
    ['megabytes of elements', `<Cors>${'<a/>'.repeat(500_000)}</Cors>`],
  ])('%s', async (_, content) => {
    expect((await writeProperties(content)).status).toBe(400);
    const body = `<SignedIdentifiers>${content}</SignedIdentifiers>`;
    await account.table('storage', 'xml').createTable();
    const policies = await sendRaw(account, { method: 'PUT', path: '/xml?comp=acl', body });
    expect(policies.status).toBe(400);
    expect(policies.text).toContain('<Code>InvalidXmlDocument</Code>');
  });
});

describe('requests of yesterday are not taken today', () => {
  const yesterday = new Date(Date.now() - 24 * 3600 * 1000).toUTCString();
  const today = new Date().toUTCString();
  const signed = (text: string): string =>
    createHmac('sha256', Buffer.from(KEY, 'base64')).update(text).digest('base64');
  const resource = `/${ACCOUNT}/${ACCOUNT}/Tables`;
  const lite = (date: string): string =>
    `SharedKeyLite ${ACCOUNT}:${signed(`${date}\n${resource}`)}`;
  const full = (date: string): string =>
    `SharedKey ${ACCOUNT}:${signed(`GET\n\n\n${date}\n${resource}`)}`;

  test.each<[string, string, Record<string, string>, number]>([
    ['the old Date signed, a fresh x-ms-date next to it', yesterday, { date: yesterday }, 403],
    ['the old x-ms-date signed, a fresh Date next to it', yesterday, { date: today }, 403],
    ['the fresh Date signed, an old x-ms-date next to it', today, { date: today }, 200],
    ['the fresh x-ms-date signed, an old Date next to it', today, { date: yesterday }, 200],
  ])('%s', async (what, signedDate, headers, status) => {
    const isNamedFresh =
      what.endsWith('fresh x-ms-date next to it') || what.startsWith('the fresh x');
    const date = isNamedFresh ? today : yesterday;
    for (const authorization of [lite(signedDate), full(signedDate)]) {
      const sent = { path: '/Tables', date, headers: { ...headers, authorization } };
      expect((await sendRaw(account, sent)).status).toBe(status);
    }
  });

  test('a slash in the account does not move the path', async () => {
    const authorization = lite(today).replace(ACCOUNT, `${ACCOUNT}/${ACCOUNT}`);
    const headers = { authorization, 'x-ms-date': today };
    const url = `http://localhost:${account.port}/Tables`;
    expect((await fetch(url, { headers })).status).toBe(400);
  });

  test('an empty date is none', async () => {
    for (const authorization of [lite(''), full('')]) {
      const headers = { authorization, date: '' };
      expect((await sendRaw(account, { path: '/Tables', date: '', headers })).status).toBe(403);
    }
  });
});

test('a policy takes back what a signature that names it says itself', async () => {
  const table = account.table('storage', 'policies');
  await table.createTable();
  const sas = new URLSearchParams(
    generateTableSas('policies', credential, {
      identifier: 'p',
      permissions: { query: true, add: true },
      expiresOn: new Date(Date.now() + 3600_000),
    }),
  );
  const url = `${account.endpoint('storage')}/policies`;
  const add = async (RowKey: string): Promise<number> => {
    const body = JSON.stringify({ PartitionKey: 'p', RowKey });
    const headers = { 'x-ms-version': '2019-02-02', 'content-type': 'application/json' };
    return (await fetch(`${url}?${sas}`, { method: 'POST', headers, body })).status;
  };
  const inAnHour = new Date(Date.now() + 3600_000);
  const set = (permission: string, expiry: Date, start = new Date(0)) =>
    table.setAccessPolicy([{ id: 'p', accessPolicy: { permission, expiry, start } }]);
  await set('ra', inAnHour);
  expect(await add('1')).toBe(201);
  await set('r', inAnHour);
  expect(await add('2')).toBe(403);
  await set('ra', new Date(Date.now() - 1000));
  expect(await add('3')).toBe(403);
  await set('ra', inAnHour, inAnHour);
  expect(await add('4')).toBe(403);
});

test('a signature for https alone is not for http, however it is spelled', async () => {
  await account.table('storage', 'protocols').createTable();
  for (const [protocol, status] of [
    ['https', 403],
    ['HTTPS', 403],
    ['https,http', 200],
  ] as const) {
    const text = generateTableSas('protocols', credential, {
      permissions: { query: true },
      protocol: protocol as 'https',
    });
    const headers = { 'x-ms-version': '2019-02-02' };
    const reply = await fetch(`${account.endpoint('storage')}/protocols()?${text}`, { headers });
    expect([protocol, reply.status]).toEqual([protocol, status]);
  }
});

describe.each(MODES)('signatures in %s mode', (mode) => {
  const sasOf = (table: string): URLSearchParams =>
    new URLSearchParams(generateTableSas(table, credential, { permissions: { query: true } }));

  async function read(table: string, sas: URLSearchParams): Promise<number> {
    const url = `${account.endpoint(mode)}/${table}()?${sas}`;
    return (await fetch(url, { headers: { 'x-ms-version': '2019-02-02' } })).status;
  }

  test('for casepeople do not read CasePeople where both are tables', async () => {
    for (const name of ['casepeople', 'CasePeople'])
      await account.table('cosmos', name).createTable();
    const sas = sasOf('casepeople');
    expect(await read('casepeople', sas)).toBe(200);
    expect(await read('CasePeople', sas)).toBe(403);
    sas.set('tn', 'CasePeople');
    expect(await read('CasePeople', sas)).toBe(403);
    expect(await read('casepeople', sas)).toBe(403);
  });

  test('for a name in other letters are good in Storage only', async () => {
    const name = `Alone${mode}`;
    await account.table(mode, name).createTable();
    expect(await read(name, sasOf(name))).toBe(200);
    const other = await read(name, sasOf(name.toLowerCase()));
    expect(other).toBe(mode === 'storage' ? 200 : 403);
  });

  test('with control characters in a field are refused although the signature is right', async () => {
    const name = `lines${mode}`;
    await account.table(mode, name).createTable();
    for (const field of ['sp', 'st', 'se', 'si', 'sip', 'spr', 'sv', 'spk', 'srk', 'epk', 'erk']) {
      const sas = sasOf(name);
      sas.set(field, `${sas.get(field) ?? ''}\n`);
      const value = (key: string): string => sas.get(key) ?? '';
      const before = ['sp', 'st', 'se'].map(value);
      const after = ['si', 'sip', 'spr', 'sv', 'spk', 'srk', 'epk', 'erk'].map(value);
      const text = [...before, `/table/${ACCOUNT}/${name}`, ...after].join('\n');
      const key = Buffer.from(KEY, 'base64');
      sas.set('sig', createHmac('sha256', key).update(text).digest('base64'));
      expect(await read(name, sas)).toBe(403);
    }
  });
});
