// Goal: logins, batches, attributes, refusals and limits as clients of the service know them. Method: the stock client,
// and a bare WebSocket for what it cannot send.
import type { ResultSet } from 'gremlin';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import {
  type Account,
  ENGINES,
  GRAPH_PATH,
  KEY,
  MIMES,
  READONLY_KEY,
  startAccount,
} from './harness.ts';

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;

  beforeAll(async () => {
    account = await startAccount({ engine });
  });

  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  interface Refusal {
    readonly statusCode: number;
    readonly statusMessage: string;
    readonly statusAttributes: Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>;
  }

  /** The error of a script in the service's form. */
  async function refusal(
    script: string,
    bindings: object = {},
    options: object = {},
  ): Promise<Refusal> {
    const client = account.client({ mimeType: MIMES.graphson2 });
    try {
      await client.submit(script, bindings, options);
    } catch (error) {
      return error as Refusal;
    }
    throw new Error('the script was not refused');
  }

  function attribute({ statusAttributes }: Refusal, name: string): unknown {
    return statusAttributes instanceof Map
      ? statusAttributes.get(name)
      : (statusAttributes as Record<string, unknown>)[name];
  }

  describe('logins', () => {
    test.each(Object.entries(MIMES))('a wrong key is refused in %s', async (_, mimeType) => {
      const client = account.client(
        { mimeType },
        { password: Buffer.alloc(64, 1).toString('base64') },
      );
      await expect(client.submit('g.V()')).rejects.toMatchObject({
        statusCode: 401,
        statusMessage: expect.stringContaining('Unauthorized: Invalid credentials provided'),
      });
      expect(account.refusals.at(-1)).toMatchObject({
        reason: 'Unauthorized: Invalid credentials provided',
      });
    });

    test('a connection can log in again after a wrong key', async () => {
      const client = account.client({}, { password: 'wrong' });
      await expect(client.submit('g.V()')).rejects.toMatchObject({ statusCode: 401 });
      await expect(client.submit('g.V()')).rejects.toMatchObject({ statusCode: 401 });
    });

    test.each(['/dbs/graphs/colls/none', '/dbs/none/colls/people', 'people'])(
      'no graph at %s',
      async (user) => {
        const client = account.client({ mimeType: MIMES.graphson2 }, { user });
        await expect(client.submit('g.V()')).rejects.toMatchObject({
          statusCode: 500,
          statusMessage: expect.stringContaining('Owner resource does not exist'),
          statusAttributes: { 'x-ms-status-code': 404 },
        });
      },
    );

    test('a read-only key reads', async () => {
      const client = account.client({ mimeType: MIMES.graphson2 }, { password: READONLY_KEY });
      expect((await client.submit('g.V().count()')).toArray()).toEqual([0]);
      await expect(client.submit("g.addV().property('pk','a')")).rejects.toMatchObject({
        statusAttributes: { 'x-ms-status-code': 403 },
      });
    });

    test('requests that arrive during the login wait for it', async () => {
      const client = account.client();
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, at) => client.submit('g.inject(x)', { x: at })),
      );
      expect(results.map((result) => result.first())).toEqual(
        Array.from({ length: 50 }, (_, at) => at),
      );
    });
  });

  describe('results', () => {
    test('come in batches of 64, or as many as the request says', async () => {
      const client = account.client();
      const list = Array.from({ length: 150 }, (_, at) => at);
      const sizes = async (options?: object): Promise<number[]> => {
        const found: number[] = [];
        for await (const part of client.stream('g.inject(x).unfold()', { x: list }, options))
          found.push(part.length);
        return found;
      };
      expect(await sizes()).toEqual([64, 64, 22]);
      expect(await sizes({ batchSize: 100 })).toEqual([100, 50]);
      expect(await sizes({ batchSize: 150 })).toEqual([150]);
      expect((await client.submit('g.inject(x).unfold()', { x: list })).toArray()).toEqual(list);
    });

    test('have charges and times', async () => {
      const client = account.client({ mimeType: MIMES.graphson2 });
      await client.submit("g.addV().property('id','charged').property('pk','a')");
      const { attributes } = (await client.submit("g.V(['a','charged'])")) as ResultSet & {
        attributes: Record<string, unknown>;
      };
      expect(attributes).toEqual({
        'x-ms-status-code': 200,
        'x-ms-request-charge': 1,
        'x-ms-total-request-charge': 1,
        'x-ms-server-time-ms': expect.any(Number),
        'x-ms-total-server-time-ms': expect.any(Number),
        'x-ms-activity-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      expect(account.reports.at(-1)).toMatchObject({ operation: 'eval', outcome: 'ok', charge: 1 });
    });

    test('are compressed where the client wants it', async () => {
      const client = account.client({ enableCompression: true });
      const text = 'x'.repeat(100_000);
      expect((await client.submit('g.inject(t)', { t: text })).first()).toBe(text);
    });
  });

  describe('refusals', () => {
    test('a syntax error', async () => {
      const error = await refusal('g.V(');
      expect(error.statusCode).toBe(597);
      expect(error.statusMessage).toMatch(
        /^ActivityId : [0-9a-f-]{36}\nExceptionType : GraphSyntaxException\nExceptionMessage :\n\tGremlin Query Syntax Error: Unexpected end of the script at position 4\.$/,
      );
      expect(attribute(error, 'x-ms-status-code')).toBe(1004);
      expect(attribute(error, 'x-ms-substatus-code')).toBe(0);
    });

    test.each<[string, object, number, number, string]>([
      ['g.V().fly()', {}, 597, 1004, "Unable to find any method 'fly'."],
      ['g.V().map{it}', {}, 597, 1004, "Unexpected '{'"],
      [
        'g.addV()',
        {},
        500,
        1000,
        "Cannot add a vertex where the partition key property has value 'null'",
      ],
      ['x'.repeat(70_000), {}, 597, 1004, 'The script is longer than 65536 characters.'],
      ['', {}, 597, 1004, 'The script has no statements.'],
      [`g.V()${'.identity()'.repeat(4001)}`, {}, 597, 1004, 'more than 4000 steps'],
    ])('%.20s', async (script, bindings, code, status, message) => {
      const error = await refusal(script, bindings);
      expect(error.statusCode).toBe(code);
      expect(attribute(error, 'x-ms-status-code')).toBe(status);
      expect(error.statusMessage).toContain(message);
    });

    test('an id that exists', async () => {
      const client = account.client({ mimeType: MIMES.graphson2 });
      const script = "g.addV().property('id','twice').property('pk','a')";
      await client.submit(script);
      const error = await refusal(script);
      expect(error.statusCode).toBe(500);
      expect(attribute(error, 'x-ms-status-code')).toBe(409);
      expect(error.statusMessage).toContain(
        'Conflicting request to resource has been attempted. Retry to avoid conflicts.',
      );
      expect(account.reports.at(-1)).toMatchObject({ outcome: 'itemExists' });
    });

    test('a timeout', async () => {
      const client = account.client({ mimeType: MIMES.graphson2 });
      for (const id of ['t1', 't2', 't3'])
        await client.submit("g.addV().property('id',id).property('pk','t')", { id });
      const error = await refusal(
        `g.V()${'.V()'.repeat(40)}.count()`,
        {},
        { evaluationTimeout: 100 },
      );
      expect(error.statusCode).toBe(598);
      expect(attribute(error, 'x-ms-status-code')).toBe(1009);
      expect((await client.submit('g.inject(1)')).toArray()).toEqual([1]);
    });

    test('too many values at a time', async () => {
      const error = await refusal(
        'g.inject(x).unfold().as("a").inject(0).union(identity(),identity()).repeat(union(identity(),identity())).times(30).fold()',
        { x: [1, 2] },
      );
      expect(error.statusCode).toBe(500);
      expect(attribute(error, 'x-ms-status-code')).toBe(1003);
    });

    test('sessions are evaluated and closed', async () => {
      const client = account.client({ session: 'one' });
      expect((await client.submit('1 + 1')).toArray()).toEqual([2]);
      await client.close();
    });
  });

  /** Frames on a bare connection; resolves with the messages until one of code 200 or above. */
  function exchange(frames: readonly (string | Buffer)[]): Promise<Record<string, unknown>[]> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`ws://127.0.0.1:${account.port}/`);
      const messages: Record<string, unknown>[] = [];
      socket.on('error', reject);
      socket.on('close', () => resolve(messages));
      socket.on('open', () => socket.send(frames[0] as string));
      socket.on('message', (data) => {
        messages.push(JSON.parse(String(data)));
        const next = frames[messages.length];
        if (next === undefined) socket.close();
        else socket.send(next);
      });
    });
  }

  const SASL = Buffer.from(`\0${GRAPH_PATH}\0${KEY}`).toString('base64');
  const login = (requestId: string): string =>
    JSON.stringify({
      requestId,
      op: 'authentication',
      processor: '',
      args: { saslMechanism: 'PLAIN', sasl: SASL },
    });

  describe('bare frames', () => {
    test('a text frame is JSON without a header', async () => {
      const request = JSON.stringify({
        requestId: 'r1',
        op: 'eval',
        processor: '',
        args: { gremlin: 'g.inject(1)' },
      });
      const [challenge, result] = await exchange([request, login('r1')]);
      expect(challenge).toMatchObject({
        requestId: 'r1',
        status: { code: 407 },
        result: { data: null },
      });
      expect(result).toMatchObject({
        requestId: 'r1',
        status: { code: 200 },
        result: { data: [1] },
      });
    });

    test.each([
      [
        '{"requestId":"r","op":"fly","args":{}}',
        498,
        'Message with op code [fly] is not recognized.',
      ],
      ['{"requestId":"r","op":"eval","args":{}}', 499, 'requires a [gremlin] argument'],
      [
        '{"requestId":"r","op":"bytecode","processor":"traversal","args":{"gremlin":"x"}}',
        499,
        'requires a [gremlin] argument',
      ],
      [
        '{"requestId":"r","op":"eval","args":{"gremlin":"g.V()","bindings":3}}',
        499,
        'must be a map',
      ],
    ])('%s', async (request, code, message) => {
      const [, refused] = await exchange([request, login('r')]);
      expect(refused).toMatchObject({
        requestId: 'r',
        status: { code, message: expect.stringContaining(message) },
      });
    });

    test('a frame that is no request is answered without an id', async () => {
      expect(await exchange(['{'])).toMatchObject([{ requestId: null, status: { code: 498 } }]);
      expect(await exchange([Buffer.from([3, 97, 47, 98])])).toMatchObject([
        {
          requestId: null,
          status: { code: 498, message: expect.stringContaining('is not supported') },
        },
      ]);
    });

    test('a plain HTTP request needs a login', async () => {
      const response = await fetch(`http://127.0.0.1:${account.port}/`);
      expect(response.status).toBe(401);
    });
  });

  describe('elements without properties', () => {
    beforeAll(async () => {
      const add = "g.addV('t').property('id','m').property('pk','m').property('n',1)";
      await account
        .client()
        .submit(`${add}.as('a').addE('k').to('a').property('id','e').property('w',2)`);
    });

    test.each(Object.entries(MIMES))(
      'materializeProperties was ignored in %s',
      async (_, mimeType) => {
        const client = account.client({ mimeType });
        const texts = async (options: object): Promise<string> => {
          const results: unknown[] = [];
          for (const script of [
            "g.V('m')",
            "g.E('e')",
            "g.V('m').outE().fold()",
            "g.V('m').out().path()",
          ])
            results.push(...(await client.submit(script, {}, options)).toArray());
          return JSON.stringify(results);
        };
        expect(await texts({})).toMatch(/"value":1|"n":/);
        expect(await texts({ materializeProperties: 'tokens' })).not.toMatch(
          /"value":[12]|"[nw]":/,
        );
        expect(
          (
            await client.submit("g.V('m').values('n')", {}, { materializeProperties: 'tokens' })
          ).toArray(),
        ).toEqual([1]);
      },
    );

    test('materializeProperties as an option of the source was ignored', async () => {
      const [vertex] = await account
        .source()
        .with_('materializeProperties', 'tokens')
        .V('m')
        .toList();
      expect(vertex).toMatchObject({ id: 'm', label: 't' });
      expect(JSON.stringify(vertex)).not.toContain('"value"');
    });
  });
});
