// Goal: exports are read back as what they were, and run nothing. Method: a table of cells.
import { expect, test } from 'vitest';
import { csvCell, exportRows } from './export.ts';

test.each([
  [1, '1'],
  ['a,b', '"a,b"'],
  ['say "x"\n', '"say ""x""\n"'],
  ['=cmd()', "'=cmd()"],
  [-1, '-1'],
  [null, ''],
  [{ a: [1] }, '"{""a"":[1]}"'],
])('the cell %j', (value, text) => {
  expect(csvCell(value)).toBe(text);
});

test('three formats of the same rows', () => {
  const rows = [{ a: 1 }, { a: 2, b: 'x' }];
  const columns = [{ name: 'a' }, { name: 'b' }];
  expect(exportRows(rows, columns, 'csv')).toBe('a,b\r\n1,\r\n2,x\r\n');
  expect(exportRows(rows, columns, 'ndjson')).toBe('{"a":1}\n{"a":2,"b":"x"}\n');
  expect(JSON.parse(exportRows(rows, columns, 'json'))).toEqual(rows);
});
