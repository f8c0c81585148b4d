// Goal: shapes are texts without values, few, and the most expensive stay. Method: texts with values of every kind.
import { expect, test } from 'vitest';
import { QueryShapes, withoutValues } from './query-shapes.ts';

const container = { databaseRid: 1, rid: 2 };
const clock = { nowMs: () => 0 };

test.each([
  ["SELECT * FROM c WHERE c.id = 'secret'", 'SELECT * FROM c WHERE c.id = ?'],
  ['SELECT TOP 10 c["a b"]\n FROM c', 'SELECT TOP ? c["a b"] FROM c'],
  ['SELECT * FROM c WHERE c.x IN (\'a\', "b", 3, 4.5e-7)', 'SELECT * FROM c WHERE c.x IN (?)'],
  ['SELECT ARRAY_CONTAINS(["secret"], c.x) FROM c', 'SELECT ARRAY_CONTAINS([?], c.x) FROM c'],
  [
    "SELECT * FROM c WHERE c.x = 'it\\'s' AND c.a1 = @p1",
    'SELECT * FROM c WHERE c.x = ? AND c.a1 = @p1',
  ],
])('the shape of %j', (text, shape) => {
  expect(withoutValues(text)).toBe(shape);
});

test('a text without an end is not shown', () => {
  expect(withoutValues(`SELECT '${'s'.repeat(9000)}'`)).not.toContain('ssss'.repeat(1000));
});

test('the cheapest shape makes room for a new one', () => {
  const shapes = new QueryShapes(clock);
  for (let at = 0; at < 300; at++)
    shapes.note(
      container,
      `shape ${at}`,
      { isFirst: true, charge: at === 0 ? 1000 : at, durationMs: 1, partitions: 3, rows: 2 },
      () => ['/a'],
    );
  const listed = shapes.list(container);
  expect(listed).toHaveLength(200);
  expect(listed[0]).toEqual({
    text: 'shape 0',
    count: 1,
    pages: 1,
    requestUnits: 1000,
    durationMs: 1,
    partitions: 3,
    rows: 2,
    equalityPaths: ['/a'],
  });
});
