/** Random expressions and documents by seed, for property tests. */
import type { Random } from '../../../base/index.ts';
import type { Value } from '../../../value/index.ts';
import type { QueryParameter } from './run/evaluate.ts';

const VALUES: readonly Value[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  2.5,
  '',
  'a',
  'ab',
  'b%',
  '\ud83d\ude00',
  '\uffff',
  [],
  [1, 'a'],
  {},
  { a: 1 },
];
/** Properties of the documents. */
const NAMES = ['a', 'b', 'c', 'constructor'];
const BINARY = [
  '=',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'AND',
  'OR',
  '+',
  '-',
  '*',
  '/',
  '%',
  '&',
  '|',
  '^',
  '||',
  '<<',
  '>>',
  '>>>',
  '??',
];
const FUNCTIONS = ['IS_DEFINED', 'IS_NUMBER', 'LENGTH', 'ABS', 'UPPER', 'ARRAY_LENGTH', 'ToString'];

interface Text {
  readonly literal: string;
  readonly parameter: string;
}

export class Generator {
  readonly parameters: QueryParameter[] = [];
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#random.below(items.length)] as T;
  }

  #combine(parts: readonly Text[], join: (texts: readonly string[]) => string): Text {
    return {
      literal: join(parts.map((part) => part.literal)),
      parameter: join(parts.map((part) => part.parameter)),
    };
  }

  #value(): Text {
    const value = this.#pick(VALUES);
    const name = `@p${this.parameters.length}`;
    this.parameters.push({ name, value });
    return { literal: JSON.stringify(value), parameter: name };
  }

  #path(): Text {
    const text = `c.${this.#pick(NAMES)}`;
    return { literal: text, parameter: text };
  }

  expression(depth: number): Text {
    if (depth === 0) return this.#random.below(2) === 0 ? this.#value() : this.#path();
    const inner = () => this.expression(depth - 1 - this.#random.below(depth));
    switch (this.#random.below(8)) {
      case 0:
      case 1:
      case 2: {
        const operator = this.#pick(BINARY);
        return this.#combine([inner(), inner()], ([a, b]) => `(${a} ${operator} ${b})`);
      }
      case 3: {
        const not = this.#pick(['', 'NOT ']);
        return this.#combine(
          [inner(), inner(), inner()],
          ([a, b, c]) => `(${a} ${not}IN (${b}, ${c}))`,
        );
      }
      case 4:
        return this.#combine([inner(), this.#value()], ([a, b]) => `(${a} LIKE ${b})`);
      case 5:
        return this.#combine(
          [inner(), inner(), inner()],
          ([a, b, c]) => `(${a} BETWEEN ${b} AND ${c})`,
        );
      case 6: {
        const name = this.#pick(FUNCTIONS);
        return this.#combine([inner()], ([a]) => `${name}(${a})`);
      }
      default:
        return this.#combine(
          [inner(), inner(), inner()],
          ([a, b, c]) => `(${a} ? ${b} : [${c}, {"x": ${b}}])`,
        );
    }
  }

  document(): Value {
    const entries = NAMES.filter(() => this.#random.below(3) > 0).map((name) => [
      name,
      this.#pick(VALUES),
    ]);
    return Object.fromEntries(entries) as Value;
  }
}
