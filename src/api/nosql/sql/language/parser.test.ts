// Goal: the grammar, its errors and its bounds. Method: tables of text → canonical text, and text → code and span.
import { describe, expect, it } from 'vitest';
import { type Diagnostic, SqlError } from '../errors.ts';
import { parseExpression, parseQuery } from './parser.ts';
import { printExpression, printQuery } from './printer.ts';

describe('expressions', () => {
  it.each([
    ['1 + 2 * 3', '(1 + (2 * 3))'],
    ['5 -2', '(5 - 2)'],
    ['5-2', '(5 - 2)'],
    ['- 2', '(- 2)'],
    ['-2', '-2'],
    ['+2', '2'],
    ['- -2', '(- -2)'],
    ['0x1F', '31'],
    ['1e3', '1000'],
    ['.5', '0.5'],
    ['1e400', 'Infinity'],
    ['1e20', '1E+20'],
    ['1e-7', '1E-07'],
    ['9223372036854775807', '9223372036854775807'],
    ['NOT a AND b', '((NOT a) AND b)'],
    ['a BETWEEN 1 AND 2 AND b', '((a BETWEEN 1 AND 2) AND b)'],
    ['a NOT IN (1) OR b <> 2', '((a NOT IN (1)) OR (b != 2))'],
    ['a ?? b ?? c', '((a ?? b) ?? c)'],
    ['a ? b : c ? d : e', '(a ? b : (c ? d : e))'],
    ["'it\\'s'", '"it\'s"'],
    ["'\\u0041\\n'", '"A\\n"'],
    ['{a: 1, "b c": [2, undefined]}', '{"a": 1, "b c": [2, undefined]}'],
    ['c.left.right.rank.offset', 'c.left.right.rank.offset'],
    ['LEFT(c.a, 2) || right("b", 1)', '(LEFT(c.a, 2) || right("b", 1))'],
    ['c["a"][0].b', 'c["a"][0].b'],
    ['udf.f(1).x', 'udf.f(1).x'],
    ['ARRAY(SELECT 1)[0]', 'ARRAY(SELECT 1)[0]'],
    ['élan.größe', 'élan.größe'],
    ['1 -- a remark\n + 2', '(1 + 2)'],
  ])('%s', (text, canonical) => {
    expect(printExpression(parseExpression(text))).toBe(canonical);
  });
});

describe('queries', () => {
  it.each([
    ['select c.a b from c', 'SELECT c.a AS b FROM c'],
    [
      'SELECT * FROM c x JOIN y IN x.a JOIN (SELECT VALUE 1) z',
      'SELECT * FROM c AS x JOIN y IN x.a JOIN (SELECT VALUE 1) AS z',
    ],
    ['SELECT TOP @n * FROM c OFFSET 1 LIMIT @l', 'SELECT TOP @n * FROM c OFFSET 1 LIMIT @l'],
    [
      'SELECT c.a FROM c GROUP BY c.a ORDER BY c.a',
      'SELECT c.a FROM c GROUP BY c.a  ORDER BY c.a ASC',
    ],
    ['SELECT * FROM c ORDER BY c.rank', 'SELECT * FROM c ORDER BY c.rank ASC'],
    ['SELECT * FROM c OFFSET 0 LIMIT 10', 'SELECT * FROM c OFFSET 0 LIMIT 10'],
    ['SELECT VALUE EXISTS(SELECT 1 FROM x IN c.a)', 'SELECT VALUE EXISTS(SELECT 1 FROM x IN c.a)'],
  ])('%s', (text, canonical) => {
    expect(printQuery(parseQuery(text))).toBe(canonical);
  });
});

function diagnosticOf(text: string): Diagnostic | undefined {
  try {
    parseQuery(text);
  } catch (error) {
    if (error instanceof SqlError) return error.diagnostics[0];
    throw error;
  }
  return undefined;
}

describe('errors', () => {
  it.each([
    ['selectttt * from c', 'SC1001', 0, 9, "Syntax error, incorrect syntax near 'selectttt'."],
    ['SELECT * FROM', 'SC1002', 13, 13, 'Syntax error, unexpected end-of-file.'],
    ['SELECT * FROM c;', 'SC1010', 15, 16, "Syntax error, invalid token ';'."],
    [
      'SELECT "a FROM c',
      'SC1012',
      7,
      16,
      `Syntax error, invalid string literal token '"a FROM c'.`,
    ],
    ['SELECT c.12a FROM c', 'SC1010', 9, 12, "Syntax error, invalid token '12a'."],
    ['/* x */ SELECT 1', 'SC1001', 0, 1, "Syntax error, incorrect syntax near '/'."],
    [
      'SELECT c.a AS Value FROM c',
      'SC1001',
      14,
      19,
      "Syntax error, incorrect syntax near 'Value'.",
    ],
    ['SELECT c.value FROM c', 'SC1001', 9, 14, "Syntax error, incorrect syntax near 'value'."],
    [
      'SELECT TOP 1.5 * FROM c',
      'SC2060',
      11,
      14,
      'The count value provided for a TOP clause must be an integer.',
    ],
    ['SELECT TOP -1 * FROM c', 'SC1001', 11, 12, "Syntax error, incorrect syntax near '-'."],
  ])('%s', (text, code, start, end, message) => {
    expect(diagnosticOf(text)).toEqual({ code, message, span: { start, end } });
  });
});

describe('bounds', () => {
  const many = (count: number, text: string, separator: string) =>
    Array.from({ length: count }, () => text).join(separator);
  it.each([
    ['10,000 ORs', `SELECT * FROM c WHERE ${many(10_000, 'c.a = 1', ' OR ')}`, 'SC3004'],
    ['10,000 ANDs', `SELECT * FROM c WHERE ${many(10_000, 'c.a = 1', ' AND ')}`, 'SC3003'],
    ['2,000 ORs', `SELECT * FROM c WHERE ${many(2000, 'c.a = 1', ' OR ')}`, undefined],
    ['a deep chain of sums', `SELECT VALUE ${many(5000, '1', '+')}`, 'SC3006'],
    ['a deep chain of properties', `SELECT VALUE c${'.a'.repeat(5000)}`, 'SC3006'],
    ['deep brackets', `SELECT VALUE ${'('.repeat(5000)}1${')'.repeat(5000)}`, 'SC3006'],
    ['deep NOTs', `SELECT VALUE ${'NOT '.repeat(5000)}1`, 'SC3006'],
    ['128 brackets', `SELECT VALUE ${'('.repeat(128)}1${')'.repeat(128)}`, undefined],
    ['a long text', `SELECT VALUE '${'a'.repeat(300_000)}'`, 'SC3001'],
    ['11 JOINs', `SELECT 1 FROM c ${many(11, 'JOIN x IN c.a', ' ')}`, 'SC3002'],
    ['11 UDF calls', `SELECT ${many(11, 'udf.f(1)', ',')}`, 'SC3005'],
    ['a long list', `SELECT * FROM c WHERE c.a IN (${many(16_000, '1', ',')})`, undefined],
  ])('%s', (_, text, code) => {
    expect(diagnosticOf(text)?.code).toBe(code);
  });

  it('prints a long chain without running out of stack', () => {
    const text = `SELECT * FROM c WHERE ${many(2000, 'c.a = 1', ' OR ')}`;
    expect(printQuery(parseQuery(text)).length).toBeGreaterThan(text.length);
  });
});
