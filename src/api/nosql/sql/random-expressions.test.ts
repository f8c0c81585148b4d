// Goal: optimised closures (folded constants, comparisons with constants, sets, matchers) mean the same as the general
// ones, and printing loses nothing. Method: random expressions by seed, once with literals and once with the same
// values as parameters, over random documents.
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../base/index.ts';
import { compileQuery } from './compile/compile.ts';
import { parseQuery } from './language/parser.ts';
import { printQuery } from './language/printer.ts';
import { Generator } from './random-expressions-suite.ts';
import { runQuery } from './run/evaluate.ts';

describe('random expressions', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('seed %i', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 60; round++) {
      const generator = new Generator(random);
      const { literal, parameter } = generator.expression(4);
      const documents = Array.from({ length: 5 }, () => generator.document());
      const results = (text: string) =>
        runQuery(compileQuery(parseQuery(text)), documents, generator.parameters);
      const plain = `SELECT VALUE [${literal}] FROM c`;
      const message = `seed ${seed}, round ${round}: ${plain}`;
      const expected = results(`SELECT VALUE [${parameter}] FROM c`);
      expect(results(plain), message).toEqual(expected);
      expect(results(printQuery(parseQuery(plain))), message).toEqual(expected);
    }
  });
});
