/** Random documents of mixed types and random queries over them. */
import type { Random } from '../../src/base/index.ts';
import type { Value, ValueMap } from '../../src/value/index.ts';

/** Alike in more than an index holds of a text. */
const LONG_WORDS = ['b', 'a', ''].map((end) => `${'é'.repeat(300)}${end}`);
const WORDS = ['', 'a', 'ab', 'abc', 'b', 'Ab', 'zz', 'a%b', 'é', '\u{1f600}', ...LONG_WORDS];
const FIELDS = ['a', 'b', 'n', 's', 'o.x', 'o.y', 'list', 'missing', 'cp_lower', 'cp_sum'];

/** Registered in every container of the comparison. */
export const COMPUTED = [
  { name: 'cp_lower', query: 'SELECT VALUE LOWER(c.s) FROM c' },
  { name: 'cp_sum', query: 'SELECT VALUE c.n + (IS_NUMBER(c.a) ? c.a : 1) FROM c' },
];

export interface RandomQuery {
  readonly text: string;
  /** Rows have one possible order: sorted by a property that is different for every item. */
  readonly isTotallyOrdered: boolean;
  /** Which rows come depends on the order of items that compare alike. */
  readonly isWindowed: boolean;
}

export class RandomQueries {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  document(number: number): ValueMap {
    const document: Record<string, Value> = { id: `item-${number}`, u: (number * 7919) % 10007 };
    document.pk = this.#pick(['p1', 'p2', 'p3', 'p4', 7, null, true]);
    for (const name of ['a', 'b']) if (!this.#chance(4)) document[name] = this.#scalar();
    if (!this.#chance(5)) document.n = this.#random.below(20) - 5;
    if (!this.#chance(5)) document.s = this.#pick(WORDS);
    if (!this.#chance(3)) document.o = { x: this.#scalar(), y: this.#random.below(4) };
    if (!this.#chance(3))
      document.list = Array.from({ length: this.#random.below(4) }, () =>
        this.#chance(3) ? { k: this.#random.below(3) } : this.#scalar(),
      );
    if (!this.#chance(4)) document.place = this.#geometry();
    if (this.#chance(3))
      document.places = Array.from({ length: this.#random.below(3) }, () => ({
        at: this.#geometry(),
      }));
    if (this.#chance(8)) document.a = this.#chance(2) ? [1, 2] : { deep: 1 };
    return document;
  }

  query(): RandomQuery {
    const shape = this.#random.below(14);
    if (shape === 0) return this.#count();
    if (shape === 1) return this.#aggregate();
    if (shape === 2) return this.#distinct();
    if (shape === 3) return this.#keysInOrder();
    if (shape === 4) return this.#distinctInOrder();
    if (shape === 5) return this.#groupsInOrder();
    const hasJoin = this.#chance(5);
    const from = hasJoin ? 'FROM c JOIN t IN c.list' : 'FROM c';
    const select = this.#pick(
      hasJoin
        ? ['SELECT c.id, t', 'SELECT VALUE t', 'SELECT VALUE {"i": c.id, "t": t}']
        : [
            'SELECT *',
            'SELECT VALUE c.id',
            'SELECT c.id, c.a, c.n',
            'SELECT VALUE c',
            'SELECT VALUE [c.id, c.b]',
          ],
    );
    const where = this.#chance(6) ? '' : ` WHERE ${this.#filter(2, hasJoin)}`;
    const order = this.#random.below(3);
    if (order === 0)
      return { text: `${select} ${from}${where}`, isTotallyOrdered: false, isWindowed: false };
    const isUnique = order === 1;
    const path = isUnique ? 'c.u' : this.#pick(['c.a', 'c.n', 'c.s', 'c.o.x']);
    const direction = this.#pick(['', ' ASC', ' DESC']);
    const window = this.#chance(2)
      ? ` OFFSET ${this.#random.below(4)} LIMIT ${this.#random.below(12)}`
      : '';
    return {
      text: `${select} ${from}${where} ORDER BY ${path}${direction}${window}`,
      isTotallyOrdered: isUnique,
      isWindowed: window !== '',
    };
  }

  /** Rows that show nothing but what they are ordered by: those that compare alike look alike. */
  #keysInOrder(): RandomQuery {
    const field = this.#pick(['a', 'b', 'n', 's', 'o.x', 'missing', 'cp_lower']);
    const distinct = this.#chance(3) ? 'DISTINCT ' : '';
    const where = this.#chance(3) ? '' : ` WHERE ${this.#filter(1, false)}`;
    const text = `SELECT ${distinct}c.${field} FROM c${where} ORDER BY c.${field}${this.#direction()}${this.#window()}`;
    return { text, isTotallyOrdered: true, isWindowed: true };
  }

  /** The first of several equal rows counts. */
  #distinctInOrder(): RandomQuery {
    const selected = this.#pick([
      'VALUE c.s',
      'VALUE c.n',
      'c.s, c.o.y',
      'VALUE c.o',
      'VALUE IS_NULL(c.b)',
    ]);
    const top = this.#chance(3) ? `TOP ${this.#random.below(5)} ` : '';
    const window = top === '' ? this.#window() : '';
    const where = this.#chance(3) ? '' : ` WHERE ${this.#filter(1, false)}`;
    const text = `SELECT DISTINCT ${top}${selected} FROM c${where} ORDER BY c.u${this.#direction()}${window}`;
    return { text, isTotallyOrdered: true, isWindowed: true };
  }

  #groupsInOrder(): RandomQuery {
    const field = this.#pick(['a', 'n', 's', 'o.y', 'missing']);
    const selected = this.#pick([
      '',
      ', COUNT(1) AS k',
      ', COUNT(1) * 2 AS k',
      ', MAX(c.u) AS most',
    ]);
    const where = this.#chance(3) ? '' : ` WHERE ${this.#filter(1, false)}`;
    // Such groups are sorted in any case.
    const isPlain = selected === '' || selected === ', COUNT(1) AS k';
    const order = isPlain && this.#chance(2) ? '' : ` ORDER BY c.${field}${this.#direction()}`;
    const text = `SELECT c.${field} AS g${selected} FROM c${where} GROUP BY c.${field}${order}${this.#window()}`;
    return { text, isTotallyOrdered: true, isWindowed: true };
  }

  #direction(): string {
    return this.#pick(['', ' ASC', ' DESC']);
  }

  #window(): string {
    if (this.#chance(2)) return '';
    return ` OFFSET ${this.#random.below(6)} LIMIT ${this.#random.below(12)}`;
  }

  #aggregate(): RandomQuery {
    const where = this.#chance(3) ? '' : ` WHERE ${this.#filter(2, false)}`;
    const field = this.#pick(['c.n', 'c.a', 'c.s', '1']);
    const fold = this.#pick(['COUNT', 'SUM', 'AVG', 'MIN', 'MAX']);
    if (this.#chance(4)) {
      const text = `SELECT VALUE {"v": ${fold}(${field}), "k": COUNT(1) > 7} FROM c${where}`;
      return { text, isTotallyOrdered: false, isWindowed: false };
    }
    const text = this.#chance(2)
      ? `SELECT VALUE ${fold}(${field}) FROM c${where}`
      : `SELECT c.o.y AS g, ${fold}(${field}) AS v FROM c${where} GROUP BY c.o.y`;
    return { text, isTotallyOrdered: false, isWindowed: false };
  }

  /** A query that an index can count. */
  #count(): RandomQuery {
    const text = `SELECT VALUE COUNT(1) FROM c WHERE ${this.#plainFilter(2)}`;
    return { text, isTotallyOrdered: false, isWindowed: false };
  }

  #plainFilter(depth: number): string {
    if (depth > 0 && this.#chance(2))
      return `(${this.#plainFilter(depth - 1)} ${this.#pick(['AND', 'OR'])} ${this.#plainFilter(depth - 1)})`;
    const field = `c.${this.#pick(FIELDS)}`;
    const constant = () => JSON.stringify(this.#scalar());
    switch (this.#random.below(4)) {
      case 0:
        return `${field} IN (${constant()}, ${constant()}, ${constant()})`;
      case 1:
        return `${field} BETWEEN ${constant()} AND ${constant()}`;
      case 2:
        return `${constant()} ${this.#pick(['=', '<', '>='])} ${field}`;
      default:
        return `${field} ${this.#pick(['=', '<', '<=', '>', '>='])} ${constant()}`;
    }
  }

  #distinct(): RandomQuery {
    const text = `SELECT DISTINCT VALUE c.${this.#pick(['a', 'n', 's', 'o.y'])} FROM c WHERE ${this.#filter(1, false)}`;
    return { text, isTotallyOrdered: false, isWindowed: false };
  }

  #filter(depth: number, hasJoin: boolean): string {
    if (depth > 0 && this.#chance(2)) {
      const [left, right] = [this.#filter(depth - 1, hasJoin), this.#filter(depth - 1, hasJoin)];
      const kind = this.#random.below(5);
      if (kind === 0) return `NOT (${left})`;
      return `(${left} ${kind < 3 ? 'AND' : 'OR'} ${right})`;
    }
    return this.#comparison(hasJoin);
  }

  #comparison(hasJoin: boolean): string {
    const field = hasJoin && this.#chance(2) ? this.#pick(['t', 't.k']) : `c.${this.#pick(FIELDS)}`;
    const constant = () => JSON.stringify(this.#scalar());
    const word = () => JSON.stringify(this.#pick(WORDS));
    switch (this.#random.below(16)) {
      case 0:
        return `${field} IN (${constant()}, ${constant()}, ${constant()})`;
      case 1:
        return `${field} BETWEEN ${constant()} AND ${constant()}`;
      case 2:
        return `STARTSWITH(${field}, ${word()}${this.#chance(3) ? ', true' : ''})`;
      case 3:
        return `CONTAINS(${field}, ${word()})`;
      case 4:
        return `ENDSWITH(${field}, ${word()})`;
      case 5:
        return `${this.#pick(['IS_DEFINED', 'IS_NULL', 'IS_NUMBER', 'IS_STRING', 'IS_ARRAY', 'IS_OBJECT', 'IS_BOOL', 'IS_PRIMITIVE'])}(${field})`;
      case 6:
        return `ARRAY_CONTAINS(c.list, ${constant()})`;
      case 7:
        return `EXISTS(SELECT VALUE e FROM e IN c.list WHERE e = ${constant()})`;
      case 8:
        return `${field} LIKE ${JSON.stringify(this.#pick(['a%', '%b', '_', 'a_c', '%']))}`;
      case 9:
        return `${constant()} ${this.#pick(['=', '<', '>='])} ${field}`;
      case 10:
        return `c.pk = ${JSON.stringify(this.#pick(['p1', 'p2', 7, null]))}`;
      case 12:
        return this.#nearness();
      case 13:
        return `EXISTS(SELECT VALUE p FROM p IN c.places WHERE ST_INTERSECTS(p.at, ${JSON.stringify(this.#geometry())}))`;
      case 11:
        return `c.n % 3 = ${this.#random.below(3)}`;
      default:
        return `${field} ${this.#pick(['=', '!=', '<', '<=', '>', '>='])} ${constant()}`;
    }
  }

  #nearness(): string {
    const geometry = JSON.stringify(this.#geometry());
    const [left, right] = this.#chance(2) ? ['c.place', geometry] : [geometry, 'c.place'];
    // Metres on the Earth, units in the plane: some of both are a little, some are much.
    const distance = this.#pick([0, 1, 3, 1000, 200_000, 2_000_000]);
    switch (this.#random.below(5)) {
      case 0:
        return `ST_WITHIN(${left}, ${right})`;
      case 1:
        return `ST_INTERSECTS(${left}, ${right})`;
      case 2:
        return `ST_DISTANCE(${left}, ${right}) BETWEEN 0 AND ${distance}`;
      default:
        return `ST_DISTANCE(${left}, ${right}) ${this.#pick(['<', '<=', '=', '>'])} ${distance}`;
    }
  }

  /** Near each other, so that they meet; some of them no geometries. */
  #geometry(): Value {
    const pair = (): Value => [this.#random.below(21) - 10, this.#random.below(21) - 10];
    const ring = (): Value => {
      const [x, y] = [this.#random.below(16) - 10, this.#random.below(16) - 10];
      const size = 1 + this.#random.below(6);
      const corners = [
        [x, y],
        [x + size, y],
        [x + size, y + size],
        [x, y + size],
        [x, y],
      ];
      return this.#chance(6) ? corners.toReversed() : corners;
    };
    switch (this.#random.below(8)) {
      case 0:
        return { type: 'LineString', coordinates: [pair(), pair(), pair()] };
      case 1:
      case 2:
        return { type: 'Polygon', coordinates: [ring()] };
      case 3:
        return { type: 'MultiPolygon', coordinates: [[ring()], [ring()]] };
      case 4:
        return this.#pick<Value>([{ type: 'Point' }, { type: 'Point', coordinates: [0, 100] }, 7]);
      default:
        return { type: 'Point', coordinates: pair() };
    }
  }

  #scalar(): Value {
    const kind = this.#random.below(6);
    if (kind === 0) return null;
    if (kind === 1) return this.#chance(2);
    if (kind < 4) return this.#random.below(10) - 3;
    return this.#pick(WORDS);
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#random.below(items.length)] as T;
  }

  /** True once in `outOf`. */
  #chance(outOf: number): boolean {
    return this.#random.below(outOf) === 0;
  }
}
