// Goal: scripts become the instructions that they name. Method: a table of texts and what is read from them.
import { expect, test } from 'vitest';
import { GremlinMap, GremlinSet } from '../model/collections.ts';
import { TypedNumber } from '../model/number.ts';
import { Bytecode, EnumValue, Predicate, Strategy } from '../model/terms.ts';
import { type GremlinValue, Uuid } from '../model/value.ts';
import { parseScript } from './script-parser.ts';

/** Instructions as nested lists: name, then arguments. */
function plain(value: GremlinValue): unknown {
  if (value instanceof Bytecode)
    return [...value.sources, ...value.steps].map(({ name, args }) => [name, ...args.map(plain)]);
  if (value instanceof Predicate) return { [value.name]: value.values.map(plain) };
  if (value instanceof EnumValue) return `${value.type}.${value.name}`;
  if (value instanceof TypedNumber) return `${value.value}:${value.kind}`;
  if (value instanceof GremlinMap) return new Map([...value].map(([k, v]) => [plain(k), plain(v)]));
  if (value instanceof GremlinSet) return new Set([...value].map(plain));
  if (value instanceof Strategy) return { [value.name]: Object.fromEntries(value.settings) };
  if (value instanceof Uuid) return `uuid ${value.text}`;
  return Array.isArray(value) ? value.map(plain) : value;
}

const VARIABLES = new Map<string, GremlinValue>([
  ['x', 29],
  ['name', 'marko'],
]);

function read(script: string): unknown[] {
  return parseScript(script, VARIABLES).map(({ value }) => plain(value));
}

test.each<[string, unknown]>([
  ['g.V()', [['V']]],
  ['g.V().has("age",gt(x))', [['V'], ['has', 'age', { gt: [29] }]]],
  [
    "g.V('a', \"b\").out('knows')",
    [
      ['V', 'a', 'b'],
      ['out', 'knows'],
    ],
  ],
  ["g.V(['pk','id'],['pk','b'])", [['V', ['pk', 'id'], ['pk', 'b']]]],
  ['g.V().has(name, neq(null))', [['V'], ['has', 'marko', { neq: [null] }]]],
  [
    'g.inject(1,2L,3.5,1.0,4f,5.5d,6b,7s,8n,9.5m,0x10,1e3,-3,-2L)',
    [
      [
        'inject',
        1,
        '2:long',
        3.5,
        '1:double',
        '4:float',
        5.5,
        '6:byte',
        '7:short',
        '8:bigInteger',
        '9.5:bigDecimal',
        16,
        '1000:double',
        -3,
        '-2:long',
      ],
    ],
  ],
  [
    'g.inject(2147483648, 9223372036854775808)',
    [['inject', '2147483648:long', '9223372036854775808:bigInteger']],
  ],
  [`g.inject('it\\'s', "a\\n\\u0041", '''x'y''')`, [['inject', "it's", 'a\nA', "x'y"]]],
  [
    "g.inject([a:1,'b':[2],(T.id):3])",
    [
      [
        'inject',
        new Map<unknown, unknown>([
          ['a', 1],
          ['b', [2]],
          ['T.id', 3],
        ]),
      ],
    ],
  ],
  ['g.inject([:], [], {1,1,2})', [['inject', new Map(), [], new Set([1, 2])]]],
  [
    'g.V().order().by("n", desc).by(Order.asc)',
    [['V'], ['order'], ['by', 'n', 'Order.desc'], ['by', 'Order.asc']],
  ],
  [
    'g.V().repeat(__.out().simplePath()).until(has("n",within("a","b"))).emit()',
    [
      ['V'],
      ['repeat', [['out'], ['simplePath']]],
      ['until', [['has', 'n', { within: ['a', 'b'] }]]],
      ['emit'],
    ],
  ],
  [
    'g.V().not(out()).where(__.not(P.eq(1)))',
    [['V'], ['not', [['out']]], ['where', [['not', { eq: [1] }]]]],
  ],
  [
    'g.V().is(not(within([1,2]))).is(gt(1).and(lt(5)).or(P.eq(9).negate()))',
    [
      ['V'],
      ['is', { not: [{ within: [1, 2] }] }],
      ['is', { or: [{ and: [{ gt: [1] }, { lt: [5] }] }, { not: [{ eq: [9] }] }] }],
    ],
  ],
  ['g.V().values("n")\n  .fold()\n', [['V'], ['values', 'n'], ['fold']]],
  [
    'g.V().count(local).property(list, "a", 1).property(VertexProperty.Cardinality.single, "b", 2)',
    [
      ['V'],
      ['count', 'Scope.local'],
      ['property', 'Cardinality.list', 'a', 1],
      ['property', 'Cardinality.single', 'b', 2],
    ],
  ],
  [
    'g.withStrategies(ReadOnlyStrategy, new PartitionStrategy(partitionKey: "pk", readPartitions: ["v"])).V()',
    [
      [
        'withStrategies',
        { ReadOnlyStrategy: {} },
        { PartitionStrategy: { partitionKey: 'pk', readPartitions: ['v'] } },
      ],
      ['V'],
    ],
  ],
  [
    "g.withStrategies(PartitionStrategy.build().partitionKey('pk').readPartitions('v').create()).V()",
    [['withStrategies', { PartitionStrategy: { partitionKey: 'pk', readPartitions: 'v' } }], ['V']],
  ],
  [
    'g.V().by(label).by(id).select(keys).by(label())',
    [['V'], ['by', 'T.label'], ['by', 'T.id'], ['select', 'Column.keys'], ['by', [['label']]]],
  ],
  [
    "g.inject(UUID('11111111-2222-3333-4444-55555555AAAA'), true, NaN)",
    [['inject', 'uuid 11111111-2222-3333-4444-55555555aaaa', true, Number.NaN]],
  ],
  ['g.V() // all\n /* that\n is it */ .id()', [['V'], ['id']]],
  [
    "g.addE('a').to(g.V('b'))",
    [
      ['addE', 'a'],
      ['to', [['V', 'b']]],
    ],
  ],
  ['1 + 1 - 5', -3],
  ['"x"', 'x'],
])('%s', (script, instructions) => {
  expect(read(script)).toEqual([instructions]);
});

test('statements are separated by semicolons and lines, and may end with a terminal call', () => {
  const statements = parseScript('g.V().next();\n h.E().toList()\n; 5', new Map());
  expect(
    statements.map(({ value, source, terminal }) => [plain(value), source, terminal?.name]),
  ).toEqual([
    [[['V']], 'g', 'next'],
    [[['E']], 'h', 'toList'],
    [5, undefined, undefined],
  ]);
});

test.each([
  ['g.V(', 'Unexpected end of the script at position 4.'],
  ['g.V().has("a)', 'The text that begins at position 10 has no end.'],
  ['g.V() g.E()', "Unexpected 'g' at position 6."],
  ['g.V().has(y)', "Unable to find any variable or name 'y' at position 10."],
  ['g.V().map{it.get()}', "Unexpected '{' at position 9."],
  ['g.V().by(Order.up)', 'There is no Order.up.'],
  ['g.V(#)', "Unexpected character '#' at position 4."],
  ['g.V(1x)', "'1x' at position 4 is not a number."],
  [`g.inject(${'['.repeat(300)})`, 'The script is nested too deeply.'],
])('%s is refused', (script, message) => {
  expect(() => read(script)).toThrow(message);
});
