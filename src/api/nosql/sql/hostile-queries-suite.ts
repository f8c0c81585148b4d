/** Random queries by seed that call every function with values of every type, size and depth, for tests of budgets. */
import type { Random } from '../../../base/index.ts';
import type { Value, ValueMap } from '../../../value/index.ts';
import { DEFAULT_ENVIRONMENT } from './compile/compile.ts';
import { allFunctions, type SystemFunction } from './functions/index.ts';

const FUNCTIONS: readonly SystemFunction[] = allFunctions(DEFAULT_ENVIRONMENT);
const AGGREGATES = ['COUNT', 'SUM', 'AVG', 'MIN', 'MAX', 'MAKELIST', 'MAKESET', 'COUNTIF'];
const OPERATORS = ['=', '!=', '<', '>', '+', '-', '*', '/', '%', '||', '??', 'AND', 'OR', 'LIKE'];
const NUMBERS = [0, 1, -1, 0.5, 2, 7, 100, 9999, 1e6, 2 ** 31, 2 ** 53, -1e308, 1e308];
const TEXTS = [
  '',
  'a',
  ' ',
  'w',
  '%a%_b%',
  '[a-',
  '(a+)+b',
  '(?=a)(a+)+$',
  '^(A|a)*$',
  '.',
  'i',
  'imsx',
  'yyyy-MM-dd',
  'day',
  '2024-01-02T03:04:05.6789012Z',
  '0001-01-01T00:00:00.0000000Z',
  '12345678901234567890',
  '{"a":[1]}',
  '\u{1f600}\ud800',
];

/** Names of the properties that `document` has. */
const NAMES = [
  'text',
  'words',
  'odd',
  'deepText',
  'list',
  'texts',
  'mixed',
  'deep',
  'wide',
  'shape',
  'shapes',
  'vector',
  'n',
  'nothing',
];

export class HostileQueries {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** A document whose values have sizes up to `size`, some hundred thousand at most. */
  document(size: number): ValueMap {
    const count = (divisor: number) => 1 + this.#below(Math.ceil(size / divisor));
    const numbers = (length: number) => Array.from({ length }, () => this.#pick(NUMBERS));
    return {
      text: this.#pick(['a', 'ab', ' ', '\u{1f600}', 'aA1-']).repeat(count(2)),
      words: Array.from({ length: count(8) }, () => `w${this.#below(50)}`).join(' '),
      odd: this.#pick(TEXTS),
      deepText: this.#deepText(count(2)),
      list: numbers(count(8)),
      texts: Array.from({ length: count(20) }, () => this.#pick(TEXTS)),
      mixed: Array.from({ length: count(50) }, () => this.#small(3)),
      deep: this.#deep(1 + this.#below(120)),
      wide: Object.fromEntries(Array.from({ length: count(50) }, (_, at) => [`p${at}`, at])),
      shape: this.#shape(1 + this.#below(5), 4),
      shapes: this.#shape(1 + this.#below(Math.min(300, count(100))), 4 + this.#below(20)),
      vector: numbers(count(100)),
      n: this.#pick(NUMBERS),
    };
  }

  /** @param isStable - whether the same document must give the same rows: no clock, no randomness. */
  query(isStable: boolean): string {
    const value = () => this.#expression(1 + this.#below(3), isStable);
    const where = this.#below(3) === 0 ? ` WHERE ${value()}` : '';
    switch (this.#below(9)) {
      case 0:
        return `SELECT DISTINCT VALUE ${value()} FROM c${where}`;
      case 1: {
        const key = value();
        return `SELECT COUNT(1) AS n FROM c${where} GROUP BY ${key}`;
      }
      case 2:
        return `SELECT VALUE ${this.#pick(AGGREGATES)}(${value()}) FROM c JOIN x IN c.list${where}`;
      case 3:
        return `SELECT VALUE ${value()} FROM c JOIN x IN c.list JOIN y IN c.mixed${where}`;
      case 4:
        return `SELECT VALUE c.n FROM c WHERE EXISTS(SELECT VALUE x FROM x IN c.list WHERE ${value()})`;
      case 5:
        return `SELECT VALUE ARRAY(SELECT VALUE ${value()} FROM x IN c.list) FROM c`;
      case 6: {
        const [first, second] = [value(), value()];
        return `SELECT VALUE z FROM c JOIN (SELECT VALUE [${first}, ${second}]) AS z${where}`;
      }
      default:
        return `SELECT ${value()} AS a, ${value()} AS b FROM c${where}`;
    }
  }

  #expression(depth: number, isStable: boolean): string {
    const inner = () => this.#expression(depth - 1, isStable);
    if (depth === 0) return this.#leaf();
    switch (this.#below(8)) {
      case 0:
        return `(${inner()} ${this.#pick(OPERATORS)} ${inner()})`;
      case 1:
        return this.#pick([`[${inner()}, ${inner()}]`, `{a: ${inner()}, b: ${inner()}}`]);
      default: {
        const called = this.#pick(FUNCTIONS);
        if (isStable && !called.isDeterministic) return inner();
        const { name, argumentsMin, argumentsMax } = called;
        const more = Math.min(argumentsMax, argumentsMin + 2) - argumentsMin;
        const count = argumentsMin + this.#below(more + 1);
        return `${name}(${Array.from({ length: count }, inner).join(', ')})`;
      }
    }
  }

  #leaf(): string {
    switch (this.#below(6)) {
      case 0:
        return JSON.stringify(this.#pick(NUMBERS));
      case 1:
        return JSON.stringify(this.#pick(TEXTS));
      case 2:
        return this.#pick(['null', 'true', 'undefined', '[]', '{}', "REPLICATE('ab', 4000)"]);
      default:
        return `c.${this.#pick(NAMES)}`;
    }
  }

  #deepText(depth: number): string {
    const deep = Math.min(depth, 20_000);
    return this.#below(2) === 0
      ? `${'['.repeat(deep)}${']'.repeat(deep)}`
      : `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`;
  }

  #deep(depth: number): Value {
    let value: Value = this.#pick(NUMBERS);
    for (let at = 0; at < depth; at++) value = this.#below(2) === 0 ? [value, at] : { a: value };
    return value;
  }

  #small(depth: number): Value {
    const kind = depth === 0 ? 0 : this.#below(4);
    if (kind === 1) return [this.#small(depth - 1), this.#small(depth - 1)];
    if (kind === 2) return { a: this.#small(depth - 1), b: this.#small(depth - 1) };
    return this.#pick<Value>([...NUMBERS, ...TEXTS, null, true]);
  }

  #shape(parts: number, points: number): Value {
    const ring = (x: number, y: number) => {
      const corners = Array.from({ length: points }, (_, at) => {
        const angle = (2 * Math.PI * at) / points;
        return [x + Math.cos(angle) / 10, y + Math.sin(angle) / 10];
      });
      return [[...corners, corners[0] as number[]]];
    };
    const polygons = Array.from({ length: parts }, () =>
      ring(this.#below(340) - 170, this.#below(160) - 80),
    );
    return { type: 'MultiPolygon', coordinates: polygons };
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#below(values.length)] as T;
  }

  #below(bound: number): number {
    return this.#random.below(bound);
  }
}
