// Goal: frames that move answer what folding each frame again answers, in one pass. Method: seeded random partitions.
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../../base/index.ts';
import { type Bson, type BsonDocument, compareBson, Double } from '../../../../value/index.ts';
import { decimal } from '../../bson/arithmetic.ts';
import { documentFrom, valueFrom } from '../../test-kit.ts';
import type { AccumulatorSpec } from '../accumulators/parse.ts';
import { rootScope } from '../expressions/compile.ts';
import { expressionContext } from '../expressions/scope.ts';
import { parseSortPattern } from '../stages/sort.ts';
import { accumulated, specOf } from './fold.ts';
import { parseFrame, windowsOf } from './frame.ts';

const SEED = 20261119;
const scope = rootScope(expressionContext(0));
const sort = parseSortPattern(documentFrom({ at: 1 }));

function specFor(operator: string, argument: unknown): AccumulatorSpec {
  return specOf(operator, valueFrom(argument), scope);
}

function run(
  spec: AccumulatorSpec,
  documents: readonly BsonDocument[],
  window: unknown,
): (Bson | undefined)[] {
  const frame = parseFrame(valueFrom(window), sort);
  const column = accumulated(spec, frame)(documents, windowsOf(frame, documents, sort));
  return documents.map((_, at) => column(at));
}

function randomPartition(count: number): BsonDocument[] {
  const random = seededRandom(SEED);
  return Array.from({ length: count }, (_, at) => {
    const v = ([random.below(9), BigInt(random.below(9)), null, 'text'] as const)[random.below(6)];
    return new Map<string, Bson>([
      ['at', at + (random.below(3) === 0 ? 0 : 1)],
      ['v', v ?? random.below(9)],
      ['list', [random.below(4), random.below(4)]],
    ]);
  }).sort((a, b) => compareBson(a.get('at'), b.get('at')));
}

/** Numbers of other kinds are the same number. */
function plain(value: Bson | undefined): unknown {
  if (value instanceof Double || typeof value === 'bigint')
    return Number(Number(value instanceof Double ? value.value : value).toPrecision(12));
  return Array.isArray(value) ? value.map(plain) : value;
}

const OPERATORS: readonly (readonly [string, unknown])[] = [
  ['$sum', '$v'],
  ['$avg', '$v'],
  ['$min', '$v'],
  ['$max', '$v'],
  ['$first', '$v'],
  ['$last', '$v'],
  ['$push', '$v'],
  ['$count', {}],
  ['$concatArrays', '$list'],
  ['$firstN', { input: '$v', n: 2 }],
  ['$lastN', { input: '$v', n: 2 }],
  ['$minN', { input: '$v', n: 2 }],
  ['$maxN', { input: '$v', n: 2 }],
  ['$top', { output: '$at', sortBy: { v: 1 } }],
  ['$bottomN', { output: '$at', sortBy: { v: -1 }, n: 3 }],
  ['$median', { input: '$v', method: 'approximate' }],
  ['$percentile', { input: '$v', p: [0.1, 0.9], method: 'approximate' }],
];

const FRAMES = [
  { documents: [-3, 0] },
  { documents: [-2, 2] },
  { documents: [1, 4] },
  { documents: [-6, -3] },
  { documents: ['current', 'unbounded'] },
  { range: [-2, 1] },
  { range: ['current', 5] },
];

describe('a frame that moves', () => {
  for (const [operator, argument] of OPERATORS)
    it(`answers for ${operator} what each frame alone answers`, () => {
      const documents = randomPartition(120);
      const { slide, ...again } = specFor(operator, argument);
      expect(slide).toBeDefined();
      for (const window of FRAMES)
        expect(run(specFor(operator, argument), documents, window).map(plain)).toEqual(
          run(again, documents, window).map(plain),
        );
    });

  it('keeps the values of a set that are in the frame', () => {
    const documents = [1, 2, 1, 3, 3].map(
      (v, at) =>
        new Map<string, Bson>([
          ['at', at],
          ['v', v],
        ]),
    );
    expect(run(specFor('$addToSet', '$v'), documents, { documents: [-1, 0] })).toEqual([
      [1],
      [1, 2],
      [1, 2],
      [1, 3],
      [3],
    ]);
  });

  it('takes an infinity away again', () => {
    const values = [new Double(Number.POSITIVE_INFINITY), 10, 20, decimal('-NaN'), 1];
    const documents = values.map(
      (v, at) =>
        new Map<string, Bson>([
          ['at', at],
          ['v', v],
        ]),
    );
    const window = { documents: [-1, 0] };
    expect(run(specFor('$sum', '$v'), documents, window)).toEqual([
      new Double(Number.POSITIVE_INFINITY),
      new Double(Number.POSITIVE_INFINITY),
      30,
      decimal('NaN'),
      decimal('NaN'),
    ]);
    expect(run(specFor('$stdDevPop', '$v'), documents, window)).toEqual([
      null,
      null,
      new Double(5),
      null,
      null,
    ]);
  });

  it('answers the covariance that MongoDB answers, in digits too', () => {
    const pairs = [42.5, 42.5, 42.5].map(
      (x, at) =>
        new Map<string, Bson>([
          ['at', at],
          ['x', decimal(String(x))],
          ['y', decimal('99.9')],
        ]),
    );
    const whole = { documents: ['unbounded', 'unbounded'] };
    expect(run(specFor('$covariancePop', ['$x', '$y']), pairs, whole)[0]).toEqual(decimal('0E+12'));
    const offset = [1, 2, 3].map(
      (n) =>
        new Map<string, Bson>([
          ['at', n],
          ['x', 1e9 + n],
          ['y', 1e9 + 2 * n],
        ]),
    );
    expect(run(specFor('$covariancePop', ['$x', '$y']), offset, whole)[0]).toEqual(
      new Double(1.3333333333333333),
    );
  });

  it('folds wide frames of a long partition in one pass', () => {
    const count = 50_000;
    let reads = 0;
    const documents = Array.from(
      { length: count },
      (_, at) =>
        new Map<string, Bson>([
          ['at', at],
          ['v', at % 1000],
        ]),
    );
    const spec = specFor('$sum', '$v');
    const slide = spec.slide;
    const counted: AccumulatorSpec = {
      ...spec,
      slide: (frame) => {
        const made = (slide as NonNullable<typeof slide>)(frame);
        return {
          ...made,
          add(value) {
            reads += 1;
            made.add(value);
          },
        };
      },
    };
    const sums = run(counted, documents, { range: [-20_000, 20_000] });
    expect(reads).toBe(count);
    expect(sums[25_000]).toBe(19_980_000);
  });
});
