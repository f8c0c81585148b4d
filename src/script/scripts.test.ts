// Goal: scripts run round by round, and hostile ones end in time. Method: tables of scripts in real threads.
import { afterAll, expect, test } from 'vitest';
import type { DomainError } from '../base/index.ts';
import type { CallAnswer, ScriptCall, ScriptInput, ScriptOutcome } from './script-run.ts';
import { Scripts } from './scripts.ts';

const TIME_LIMIT_MS = 400;
const scriptMemoryLimit = 32 * 1024 * 1024;

const scripts = new Scripts({ scriptTimeLimitMs: 10_000, scriptMemoryLimit });
/** A short limit, for scripts that reach it. */
const impatient = new Scripts({ scriptTimeLimitMs: TIME_LIMIT_MS, scriptMemoryLimit });
afterAll(() => Promise.all([scripts.close(), impatient.close()]));

const INPUT: ScriptInput = {
  args: '[]',
  links: { selfLink: 'dbs/r/colls/s/', altLink: 'dbs/d/colls/c' },
  operation: 'Execute',
};

/** An answer with the resource as a value. */
type TestAnswer = Omit<CallAnswer, 'resource'> & { readonly resource?: unknown };

async function run(
  source: string,
  input: Partial<ScriptInput> = {},
  answer: (call: ScriptCall) => TestAnswer = () => ({}),
  within = scripts,
): Promise<ScriptOutcome> {
  const lease = await within.begin();
  try {
    return await lease.run({ name: 'test', source }, { ...INPUT, ...input }, async (calls) =>
      calls.map((call) => {
        const { resource, ...rest } = answer(call);
        return resource === undefined ? rest : { ...rest, resource: JSON.stringify(resource) };
      }),
    );
  } finally {
    lease.release();
  }
}

async function failure(source: string, within = scripts): Promise<DomainError> {
  return run(source, {}, undefined, within).then(
    () => expect.unreachable('the script must fail'),
    (error) => error as DomainError,
  );
}

const BODIES: readonly [what: string, source: string, body: string][] = [
  ['nothing set', 'function () {}', '""'],
  [
    'a value',
    '() => getContext().getResponse().setBody({ a: [1, null, "ä"] })',
    '{"a":[1,null,"ä"]}',
  ],
  ['arguments', '(a, b) => __.response.setBody(a + b.c)', '5'],
  ['several functions', 'function f() { g(); }\nfunction g() { __.response.setBody(1); }', '1'],
  ['async', 'async () => { await null; __.response.setBody(await Promise.resolve(7)); }', '7'],
  [
    'appended',
    '() => { for (let i = 0; i < 3; i++) __.response.appendValue("Body", i); }',
    '"012"',
  ],
  [
    'appended body',
    '() => { __.response.setBody("a"); __.response.appendBody({ b: 1 }); }',
    '"a{\\"b\\":1}"',
  ],
  [
    'links',
    '() => __.response.setBody([__.getSelfLink(), __.getAltLink()])',
    '["dbs/r/colls/s/","dbs/d/colls/c"]',
  ],
  [
    'globals of a host',
    '() => __.response.setBody([typeof process, typeof require, typeof globalThis.fetch, typeof WebAssembly])',
    '["undefined","undefined","undefined","undefined"]',
  ],
  [
    'constructors',
    '() => __.response.setBody((0, eval)("this").constructor.constructor("return typeof process")())',
    '"undefined"',
  ],
];

test.each(BODIES)('a script gives its body: %s', async (_, source, body) => {
  const outcome = await run(source, { args: '[2,{"c":3}]' });
  expect(outcome.responseBody).toBe(body);
});

test('calls are handed over in order, callbacks run with the answers, and make more calls', async () => {
  const kinds: unknown[] = [];
  const { responseBody } = await run(
    `function () {
      const c = getContext().getCollection();
      const seen = [];
      c.createDocument(c.getSelfLink(), { id: 'a' }, (error, made, options) => {
        seen.push(error === undefined, made.id, options.n);
        c.queryDocuments(c.getSelfLink(), 'SELECT 1', { pageSize: 3 }, (error, rows) => {
          seen.push(error.number, error.message);
          getContext().getResponse().setBody(seen);
        });
      });
      c.deleteDocument('x/docs/b');
    }`,
    {},
    (call) => {
      kinds.push(call.kind);
      if (call.kind === 'query') return { error: { number: 404, message: 'gone' } };
      if (call.kind === 'delete') return {};
      return { resource: JSON.parse(call.document), options: { n: 1 } };
    },
  );
  expect(kinds).toEqual(['create', 'delete', 'query']);
  expect(JSON.parse(responseBody)).toEqual([true, 'a', 1, 404, 'gone']);
});

const LOOKS: readonly [how: string, look: string, seen: string][] = [
  ['read', 'd.b.c', '"ä€😀"'],
  ['named', 'Object.keys(d)', '["a","b","__proto__"]'],
  ['copied', '({ ...d, n: 1 }).a', '1'],
  ['printed', 'd', '{"a":1,"b":{"c":"ä€😀"},"__proto__":{"x":2}}'],
  [
    'asked for',
    '["a" in d, "z" in d, d.z === undefined, d instanceof Object]',
    '[true,false,true,true]',
  ],
  ['written', '(d.a = 2, d.e = 3, d)', '{"a":2,"b":{"c":"ä€😀"},"__proto__":{"x":2},"e":3}'],
  ['deleted from', '(delete d.b, d)', '{"a":1,"__proto__":{"x":2}}'],
  ['frozen', '(Object.freeze(d), Object.isFrozen(d))', 'true'],
  [
    'compared',
    '[d === d, typeof d, Array.isArray(d), String(d)]',
    '[true,"object",false,"[object Object]"]',
  ],
];

test.each(LOOKS)(
  'a document in an answer is there when it is looked at: %s',
  async (_, look, seen) => {
    const { responseBody } = await run(
      `() => {
      const self = __.getSelfLink();
      __.createDocument(self, { id: 'ö' }, () => {});
      __.createDocument(self, { id: 'b' }, (error, d) => __.response.setBody(${look}));
    }`,
      {},
      ({ document }) =>
        document.includes('ö')
          ? { resource: JSON.parse(document) }
          : { resource: JSON.parse('{"a":1,"b":{"c":"ä€😀"},"__proto__":{"x":2}}') },
    );
    expect(responseBody).toBe(seen);
  },
);

test('documents are handed over as they print themselves; what prints as nothing is empty', async () => {
  const documents: string[] = [];
  await run(
    `(text) => {
      const self = __.getSelfLink();
      for (const d of [{ text }, new Date(0), { toJSON: () => undefined }, { a: undefined, b: NaN }])
        __.upsertDocument(self, d);
    }`,
    { args: '["ä€😀\\n"]' },
    ({ document }) => {
      documents.push(document);
      return {};
    },
  );
  expect(documents).toEqual(['{"text":"ä€😀\\n"}', '"1970-01-01T00:00:00.000Z"', '', '{"b":null}']);
});

test('half a character in one document does not move the next ones', async () => {
  const documents: string[] = [];
  await run(
    `() => {
      const self = __.getSelfLink();
      for (const d of [{ id: 'a', text: '\\ud800' }, { id: '\\udc00b' }, { id: 'c' }]) __.upsertDocument(self, d);
    }`,
    {},
    ({ document }) => {
      documents.push(document);
      return {};
    },
  );
  expect(documents.map((document) => JSON.parse(document))).toEqual([
    { id: 'a', text: '\ud800' },
    { id: '\udc00b' },
    { id: 'c' },
  ]);
});

test('a script that breaks the lengths of documents is stopped', async () => {
  const broken = run(
    `() => {
      Object.defineProperty(Object.prototype, 'toJSON', { value() { return { kind: 'create', length: 1.5 }; } });
      __.deleteDocument('docs/x');
    }`,
  );
  await expect(broken).rejects.toMatchObject({ code: 'scriptFailed' });
});

test('a call that fails and has no callback ends the script', async () => {
  const failing = run('() => { __.deleteDocument("docs/x"); }', {}, () => ({
    error: { number: 409, message: 'exists' },
  }));
  await expect(failing).rejects.toMatchObject({ code: 'scriptFailed', number: 409 });
});

test('chains read documents page by page', async () => {
  const pages: Record<string, { resource: unknown[]; options: object }> = {
    start: {
      resource: [
        { n: 3, t: ['x'] },
        { n: 1, t: ['y'] },
      ],
      options: { continuation: 'more' },
    },
    more: { resource: [{ n: 2, t: ['z', 'w'] }], options: {} },
  };
  const { responseBody } = await run(
    `() => __.chain().filter((d) => d.n > 1).sortBy((d) => d.n).pluck('t').flatten().value()`,
    {},
    (call) => pages[String(call.continuation ?? 'start')] ?? {},
  );
  expect(responseBody).toBe('["z","w","x"]');
});

test('the log is text', async () => {
  const { log } = await run(
    '() => { console.log("%s is %d.", "x", 1); console.log({ a: 1 }, 2); }',
  );
  expect(log).toBe('x is 1.\n{"a":1} 2');
});

test('an error has its message and the lines of the script', async () => {
  const error = await failure(
    'function main() {\n  const e = new Error("no");\n  e.number = 7;\n  throw e;\n}',
  );
  expect(error).toMatchObject({ code: 'scriptFailed', number: 7 });
  expect(error.message).toContain('Exception = Error: no');
  expect(error.message).toContain('at main (test.js:2');
  expect(error.message).not.toContain('guest.js');
});

const FAULTS: readonly [what: string, source: string, code: string][] = [
  ['no function', '42', 'scriptFailed'],
  ['a syntax error', 'function ( {', 'scriptFailed'],
  ['a thrown text', '() => { throw "bad"; }', 'scriptFailed'],
  ['a rejection', 'async () => { throw new Error("late"); }', 'scriptFailed'],
  ['a promise that is never settled', '() => new Promise(() => {})', 'scriptFailed'],
  ['an abort', '() => { try { getContext().abort(new Error("stop")); } catch {} }', 'scriptFailed'],
  ['an endless loop', '() => { for (;;); }', 'scriptTimeout'],
  [
    'an endless loop that catches',
    '() => { for (;;) try { for (;;); } catch {} }',
    'scriptTimeout',
  ],
  ['an endless loop while compiled', '(function () { for (;;); })()', 'scriptTimeout'],
  [
    'an endless chain of promises',
    '() => { const f = () => Promise.resolve().then(f); return f(); }',
    'scriptTimeout',
  ],
  ['a regular expression bomb', '() => /^(a+)+$/.test("a".repeat(40) + "b")', 'scriptTimeout'],
  [
    'a memory bomb',
    '() => { const a = []; for (;;) a.push(new Array(1e5).fill(1)); }',
    'scriptLimit',
  ],
  [
    'a memory bomb that catches',
    '() => { const a = []; for (;;) try { for (;;) a.push(new Array(1e5).fill(1)); } catch {} }',
    'scriptTimeout',
  ],
  ['deep recursion', '() => { const f = () => f(); f(); }', 'scriptFailed'],
  ['deep recursion in native code', '() => JSON.parse("[".repeat(1e5))', 'scriptFailed'],
  ['a huge result', '() => __.response.setBody("x".repeat(5e6))', 'tooLarge'],
  [
    'broken prototypes',
    '() => { Array.prototype.join = () => "]"; Array.prototype.map = () => []; __.readDocument("x"); }',
    'scriptFailed',
  ],
  [
    'toJSON on everything',
    '() => { Object.prototype.toJSON = () => { throw new Error("ha"); }; __.response.setBody({}); }',
    'scriptFailed',
  ],
  [
    'a getter that never ends',
    '() => { throw { get message() { for (;;); }, get stack() { for (;;); }, get number() { for (;;); } }; }',
    'scriptTimeout',
  ],
];

test.each(FAULTS)('a script is stopped with the right code: %s', async (_, source, code) => {
  const within = code === 'scriptTimeout' ? impatient : scripts;
  expect(await failure(source, within)).toMatchObject({ code });
  const after = await run('() => __.response.setBody(1)', {}, undefined, within);
  expect(after.responseBody).toBe('1');
});

test('a deep result reaches the limit of depth or of time, depending on the machine', async () => {
  const source =
    '() => { let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; __.response.setBody(o); }';
  expect(['scriptFailed', 'scriptTimeout']).toContain((await failure(source, impatient)).code);
  const after = await run('() => __.response.setBody(1)', {}, undefined, impatient);
  expect(after.responseBody).toBe('1');
});

test('one script leaves nothing for the next', async () => {
  await run('() => { globalThis.left = 1; Array.prototype.left = 2; getContext().left = 3; }');
  const { responseBody } = await run(
    '() => __.response.setBody([typeof left, typeof [].left, typeof getContext().left])',
  );
  expect(responseBody).toBe('["undefined","undefined","undefined"]');
});

test('random numbers are different in every script', async () => {
  const draw = async () =>
    JSON.parse(
      (await run('() => __.response.setBody([Math.random(), Math.random()])')).responseBody,
    );
  const [[a, b], [c, d]] = [await draw(), await draw()];
  expect(new Set([a, b, c, d]).size).toBe(4);
  for (const number of [a, b, c, d]) expect(number >= 0 && number < 1).toBe(true);
});

test('functions take many calls at once, with undefined and an error per call', async () => {
  const functions = scripts.functions([
    { name: 'twice', source: 'function (x) { return x * 2; }' },
    { name: 'kind', source: '(x) => typeof x' },
    { name: 'fail', source: '(x) => { throw new TypeError("bad " + x); }' },
  ]);
  const results = await functions.run([
    '["twice",0,4]',
    '["kind",1,null]',
    '["kind",0,null]',
    '["fail",0,3]',
    '["kind",0,{}]',
    '["twice",0]',
  ]);
  functions.forget();
  expect(results).toEqual([
    { kind: 'value', value: 8 },
    { kind: 'value', value: 'undefined' },
    { kind: 'value', value: 'object' },
    { kind: 'error', message: 'TypeError: bad 3' },
    { kind: 'value', value: 'object' },
    { kind: 'value', value: null },
  ]);
});

test('functions that do not end are stopped, and the thread runs others', async () => {
  const functions = impatient.functions([{ name: 'loop', source: '() => { for (;;); }' }]);
  await expect(functions.run(['["loop",0]'])).rejects.toMatchObject({ code: 'scriptTimeout' });
  const others = impatient.functions([{ name: 'one', source: '() => 1' }]);
  expect(await others.run(['["one",0]'])).toEqual([{ kind: 'value', value: 1 }]);
});

test('more scripts than threads wait for each other', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, (_, at) => run(`() => __.response.setBody(${at})`)),
  );
  expect(outcomes.map(({ responseBody }) => responseBody)).toEqual(
    outcomes.map((_, at) => `${at}`),
  );
  expect(scripts.threadCount).toBeLessThanOrEqual(4);
});

test('calls beyond their bound do not get through a changed Array.prototype.slice', async () => {
  let answered = 0;
  const lease = await scripts.begin();
  const run = lease.run(
    {
      name: 'test',
      source: `function f() {
        const { slice } = Array.prototype;
        const collection = getContext().getCollection();
        const call = () => collection.readDocument(collection.getSelfLink() + 'docs/1', () => {});
        for (let at = 0; at < 100; at++) call();
        // Waiting calls are handed over again and again.
        Array.prototype.slice = function (from, to) {
          return to === undefined && from > 0 ? this : slice.call(this, from, to);
        };
      }`,
    },
    INPUT,
    async (calls) => {
      answered += calls.length;
      return calls.map(() => ({ resource: '{}' }));
    },
  );
  await expect(run).rejects.toThrow('more calls than it is allowed');
  expect(answered).toBe(10_000);
  lease.release();
});
