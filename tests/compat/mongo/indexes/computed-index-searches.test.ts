// Goal: a search by an index that the API computes finds what a look at every document finds, over kinds of indexes,
// builds, updates, deletions, pages and splits, and explanations name the index.
// Method: random documents and queries from a printed seed, in a collection with the indexes and in one without.
import type { Collection, Document, Filter } from 'mongodb';
import { expect, test } from 'vitest';
import { type Account, ENGINES, startAccount } from '../harness.ts';
import { Dice, roundsOr, SEED } from './rounds.ts';

const DOCUMENTS = 120;
const QUERIES = 60;

/** What a kind of index is tried with. */
interface Kind {
  readonly indexes: readonly { readonly key: Document; readonly options?: Document }[];
  document(dice: Dice): Document;
  filter(dice: Dice): Filter<Document>;
  readonly collation?: Document;
  /** Indexes that searches of the other collection need, and that find nothing. */
  readonly needed?: Kind['indexes'];
}

function place(dice: Dice): [number, number] {
  // Half of the places are in one town.
  return dice.below(2) === 0
    ? [dice.number(13.3, 13.5), dice.number(52.4, 52.6)]
    : [dice.number(-180, 180), dice.number(-90, 90)];
}

function box(dice: Dice): readonly (readonly number[])[] {
  const [x, y] = place(dice);
  const size = dice.of([0.01, 0.1, 5, 20]);
  const [a, b] = [Math.min(x + size, 180), Math.min(y + size, 90)];
  return [
    [x, y],
    [a, y],
    [a, b],
    [x, b],
    [x, y],
  ];
}

function geometry(dice: Dice): Document {
  return dice.of<() => Document>([
    () => ({ type: 'Point', coordinates: place(dice) }),
    () => ({ type: 'Point', coordinates: place(dice) }),
    () => ({ type: 'LineString', coordinates: [[13.4, 52.5], place(dice)] }),
    () => ({ type: 'Polygon', coordinates: [box(dice)] }),
    () => ({ type: 'MultiPoint', coordinates: [place(dice), place(dice)] }),
    () => ({
      type: 'GeometryCollection',
      geometries: [
        { type: 'Point', coordinates: place(dice) },
        { type: 'Polygon', coordinates: [box(dice)] },
      ],
    }),
  ])();
}

function spherePlace(dice: Dice): unknown {
  return dice.of<() => unknown>([
    () => geometry(dice),
    () => geometry(dice),
    () => place(dice),
    () => ({ lng: place(dice)[0], lat: place(dice)[1] }),
    () => null,
  ])();
}

function sphereFilter(dice: Dice): Document {
  const $geometry = { type: 'Point', coordinates: place(dice) };
  return dice.of<() => Document>([
    () => ({ $geoWithin: { $geometry: { type: 'Polygon', coordinates: [box(dice)] } } }),
    () => ({ $geoWithin: { $centerSphere: [place(dice), dice.of([0.0001, 0.01, 0.5, 3])] } }),
    () => ({ $geoIntersects: { $geometry: geometry(dice) } }),
    () => ({ $nearSphere: { $geometry } }),
    () => ({ $near: { $geometry, $maxDistance: dice.of([100, 10_000, 1e6, 1e7]) } }),
    () => ({ $near: { $geometry, $minDistance: 5000, $maxDistance: 5e6 } }),
    () => ({ $nearSphere: place(dice), $maxDistance: dice.of([0.001, 1]) }),
  ])();
}

const flatPlace = (dice: Dice): [number, number] =>
  dice.below(2) === 0
    ? [dice.number(10, 11), dice.number(10, 11)]
    : [dice.number(-100, 100), dice.number(-100, 100)];

function flatFilter(dice: Dice): Document {
  const [x, y] = flatPlace(dice);
  const size = dice.of([0, 0.1, 3, 50]);
  return dice.of<() => Document>([
    () => ({
      $geoWithin: {
        $box: [
          [x, y],
          [x + size, y - size],
        ],
      },
    }),
    () => ({ $geoWithin: { $center: [[x, y], size] } }),
    () => ({
      $geoWithin: { $polygon: [[x, y], flatPlace(dice), flatPlace(dice), flatPlace(dice)] },
    }),
    () => ({ $near: [x, y] }),
    () => ({ $near: [x, y], $maxDistance: size }),
  ])();
}

const KINDS: Readonly<Record<string, Kind>> = {
  '2dsphere': {
    indexes: [{ key: { place: '2dsphere' } }, { key: { a: 1, 'in.place': '2dsphere', b: -1 } }],
    needed: [{ key: { place: '2dsphere' } }, { key: { 'in.place': '2dsphere' } }],
    document: (dice) => ({
      place: spherePlace(dice),
      a: dice.of<unknown>([1, 2, null, [1, 3], 'x']),
      in: dice.of<() => unknown>([
        () => ({ place: spherePlace(dice) }),
        () => [{ place: geometry(dice) }, { place: geometry(dice) }, 7],
        () => undefined,
      ])(),
    }),
    filter: (dice) =>
      dice.of<() => Document>([
        () => ({ place: sphereFilter(dice) }),
        () => ({
          'in.place': sphereFilter(dice),
          a: dice.of<unknown>([1, 3, null, { $in: [2, 'x'] }]),
        }),
        () => ({ 'in.place': sphereFilter(dice) }),
        () => ({ $or: [{ place: within(dice) }, { 'in.place': within(dice), a: 1 }] }),
      ])(),
  },
  text: {
    indexes: [{ key: { t: 'text', 'in.u': 'text' }, options: { weights: { t: 5 } } }],
    needed: [{ key: { t: 'text', 'in.u': 'text' } }],
    document: textDocument,
    filter: textFilter,
  },
  'compound text': {
    indexes: [
      {
        key: { a: 1, t: 'text', 'in.u': 'text', n: -1 },
        options: { default_language: 'french' },
      },
    ],
    needed: [{ key: { t: 'text', 'in.u': 'text' }, options: { default_language: 'french' } }],
    document: textDocument,
    filter: (dice) => ({ ...textFilter(dice), a: dice.below(3) }),
  },
  'text of everything': {
    indexes: [{ key: { '$**': 'text' } }],
    needed: [{ key: { '$**': 'text' } }],
    document: textDocument,
    filter: textFilter,
  },
  'plain, with a filter of any form,': {
    indexes: [
      { key: { a: 1, b: -1 }, options: { partialFilterExpression: { a: { $in: [1, 2, 'x'] } } } },
      {
        key: { b: 1 },
        options: { partialFilterExpression: { $or: [{ a: 1 }, { b: { $gt: 3 } }] } },
      },
      { key: { 'd.e': 1 }, options: { partialFilterExpression: { 'd.e': { $type: 'string' } } } },
    ],
    document: plainDocument,
    filter: plainFilter,
  },
  'compound hashed': {
    indexes: [{ key: { a: 1, b: 'hashed', 'd.e': -1 } }, { key: { 'd.e': 'hashed', a: 1 } }],
    document: (dice) => ({ ...plainDocument(dice), d: { e: simple(dice) } }),
    filter: plainFilter,
  },
  'collated (strength 1)': {
    collation: { locale: 'de', strength: 1 },
    indexes: [{ key: { t: 1, a: 1 } }, { key: { a: -1, t: 1 } }],
    document: collatedDocument,
    filter: collatedFilter,
  },
  'collated (strength 2)': {
    collation: { locale: 'en', strength: 2 },
    indexes: [{ key: { t: 1 } }],
    document: collatedDocument,
    filter: collatedFilter,
  },
  'exact, under a collation,': {
    collation: { locale: 'en', strength: 2 },
    indexes: [{ key: { a: 1, t: 1 }, options: { collation: { locale: 'simple' } } }],
    document: collatedDocument,
    filter: collatedFilter,
  },
  wildcard: {
    indexes: [{ key: { '$**': 1 } }],
    document: plainDocument,
    filter: plainFilter,
  },
  'wildcard of some paths': {
    indexes: [
      { key: { '$**': 1 }, options: { wildcardProjection: { a: 1, 'd.e': 1 } } },
      { key: { '$**': -1 }, options: { name: 'others', wildcardProjection: { a: 0, d: 0 } } },
      { key: { b: 1, 'd.$**': 1 } },
    ],
    document: plainDocument,
    filter: plainFilter,
  },
  '2d': {
    indexes: [{ key: { at: '2d', a: 1 }, options: { min: -90, max: 90 } }],
    needed: [{ key: { at: '2d' } }],
    document: (dice) => {
      const inside = (): number[] => flatPlace(dice).map((each) => (each * 9) / 10);
      return {
        at: dice.of<() => unknown>([
          inside,
          () => ({ x: inside()[0], y: inside()[1] }),
          () => [inside(), inside()],
          () => undefined,
        ])(),
        a: dice.below(3),
      };
    },
    filter: (dice) => ({
      at: flatFilter(dice),
      ...(dice.below(3) === 0 && { a: dice.below(3) }),
    }),
  },
};

const WORDS =
  'Running runner runs café CAFE Cafe coffee mice mouse the and naïve naive ß ss été dogs dog catch "don\'t" ÉTÉ'.split(
    ' ',
  );

function sentence(dice: Dice, count: number): string {
  return Array.from({ length: 1 + dice.below(count) }, () => dice.of(WORDS)).join(' ');
}

function search(dice: Dice): string {
  return Array.from({ length: 1 + dice.below(3) }, () =>
    dice.of([() => dice.of(WORDS), () => `-${dice.of(WORDS)}`, () => `"${sentence(dice, 2)}"`])(),
  ).join(' ');
}

function textDocument(dice: Dice): Document {
  return {
    t: dice.of<() => unknown>([
      () => sentence(dice, 5),
      () => [sentence(dice, 2), 7, sentence(dice, 2)],
      () => dice.below(5),
    ])(),
    in: dice.of<() => unknown>([
      () => ({ u: sentence(dice, 3) }),
      () => [{ u: sentence(dice, 1) }, { u: sentence(dice, 1) }],
    ])(),
    a: dice.of<unknown>([0, 1, [1, 2]]),
    ...(dice.below(4) === 0 && { language: dice.of(['french', 'none', 'german']) }),
  };
}

function textFilter(dice: Dice): Document {
  return {
    $text: {
      $search: search(dice),
      ...(dice.below(3) === 0 && { $language: dice.of(['none', 'french', 'english']) }),
      ...(dice.below(3) === 0 && { $caseSensitive: true }),
      ...(dice.below(3) === 0 && { $diacriticSensitive: true }),
    },
  };
}

const simple = (dice: Dice): unknown => dice.of<unknown>([1, 2, 3, 4.5, null, 'x', 'y', true]);

function plainDocument(dice: Dice): Document {
  return {
    a: dice.of<() => unknown>([() => simple(dice), () => [simple(dice), simple(dice)]])(),
    b: dice.below(6),
    ...(dice.below(4) > 0 && {
      d: dice.of<() => unknown>([
        () => ({ e: simple(dice) }),
        () => [{ e: simple(dice) }, { f: 1 }, 7],
        () => 7,
      ])(),
    }),
  };
}

function plainTest(dice: Dice): unknown {
  return dice.of<() => unknown>([
    () => simple(dice),
    () => simple(dice),
    () => ({ $in: [simple(dice), simple(dice)] }),
    () => ({ [dice.of(['$gt', '$gte', '$lt', '$lte'])]: simple(dice) }),
    () => ({ $gt: dice.below(4), $lt: 4 }),
    () => ({ $exists: dice.below(2) === 0 }),
    () => ({ $type: dice.of(['string', 'number', 'null']) }),
    () => ({ $ne: simple(dice) }),
  ])();
}

function plainFilter(dice: Dice): Document {
  return dice.of<() => Document>([
    () => ({ a: plainTest(dice), b: plainTest(dice) }),
    () => ({ a: plainTest(dice) }),
    () => ({ b: plainTest(dice) }),
    () => ({ 'd.e': plainTest(dice), a: plainTest(dice) }),
    () => ({ 'd.e': plainTest(dice) }),
    () => ({ $or: [{ a: plainTest(dice) }, { b: plainTest(dice), a: simple(dice) }] }),
  ])();
}

const NAMES = ['Äb', 'ab', 'AB', 'xß', 'XSS', 'xss', 'é', 'e\u0301', 'E', '東京'];

function collatedDocument(dice: Dice): Document {
  return {
    t: dice.of<() => unknown>([
      () => dice.of(NAMES),
      () => [dice.of(NAMES), dice.of(NAMES)],
      () => ({ name: dice.of(NAMES) }),
      () => dice.below(3),
    ])(),
    a: dice.of<unknown>([1, 2, 'A', 'a', null]),
  };
}

function collatedFilter(dice: Dice): Document {
  const name = (): unknown => dice.of<unknown>([...NAMES, 1, null]);
  return dice.of<() => Document>([
    () => ({ t: name() }),
    () => ({ t: { $in: [name(), name()] } }),
    () => ({ t: { $gte: name() } }),
    () => ({ t: { name: dice.of(NAMES) } }),
    () => ({ t: name(), a: dice.of<unknown>([1, 'a', { $gt: 1 }, null]) }),
    () => ({ a: dice.of<unknown>([1, 'A', { $gt: 'a' }]) }),
  ])();
}

function within(dice: Dice): Document {
  return { $geoWithin: { $centerSphere: [place(dice), dice.of([0.0001, 0.01, 0.5])] } };
}

const NEVER = { partialFilterExpression: { thisIsNowhere: 1 } };

/** Two collections with the same documents, of which one has the indexes. */
interface Pair {
  readonly indexed: Collection;
  readonly plain: Collection;
}

interface Filling {
  readonly name: string;
  /** The indexed collection is sharded and split. */
  readonly isSharded: boolean;
}

async function filled(
  account: Account,
  kind: Kind,
  dice: Dice,
  { name, isSharded }: Filling,
): Promise<Pair> {
  const client = await account.connect();
  const database = client.db('computed');
  const [indexed, plain] = [database.collection(name), database.collection(`${name}Plain`)];
  if (kind.collation !== undefined) {
    const collation = kind.collation as { locale: string };
    await database.createCollection(indexed.collectionName, { collation });
    await database.createCollection(plain.collectionName, { collation });
  }
  if (isSharded)
    await client.db('admin').command({
      shardCollection: `computed.${name}`,
      key: { k: 'hashed' },
    });
  for (const { key, options } of kind.needed ?? [])
    await plain.createIndex(key, { ...options, ...NEVER });
  const documents = Array.from({ length: DOCUMENTS }, (_, _id) =>
    withKey(_id, kind.document(dice)),
  );
  const half = documents.length / 2;
  const both = async (work: (collection: Collection) => Promise<unknown>): Promise<void> => {
    await work(indexed);
    await work(plain);
  };
  await both((collection) => collection.insertMany(documents.slice(0, half) as never));
  for (const { key, options } of kind.indexes) await indexed.createIndex(key, options ?? {});
  await both((collection) => collection.insertMany(documents.slice(half) as never));
  for (let at = 0; at < DOCUMENTS / 4; at++) {
    const id = dice.below(DOCUMENTS);
    const { _id, ...replacement } = withKey(id, kind.document(dice));
    const isRemoved = dice.below(3) === 0;
    if (isSharded && at === DOCUMENTS / 8) await split(account, name);
    await both((collection) =>
      isRemoved
        ? collection.deleteOne({ _id, k: id % 7 })
        : collection.replaceOne({ _id, k: id % 7 }, replacement, { upsert: true }),
    );
  }
  return { indexed, plain };
}

function withKey(_id: number, document: Document): Document & { readonly _id: never } {
  return { _id: _id as never, k: _id % 7, ...document };
}

async function split({ service }: Account, name: string): Promise<void> {
  const database = service.databases.find('computed');
  const container = database && service.containers.find(database, name);
  if (container === undefined) throw new Error('no such collection');
  await service.resizer.split(container, '0');
}

function isOrdered(filter: Document): boolean {
  return /"\$near/.test(JSON.stringify(filter));
}

/** Distances are compared in their order, where documents at the same distance come from several partitions. */
async function idsOf(
  collection: Collection,
  filter: Filter<Document>,
  isOrderKept: boolean,
): Promise<unknown[]> {
  const found = await collection.find(filter, { batchSize: 7 }).toArray();
  const ids = found.map(({ _id }) => Number(_id));
  return isOrderKept && isOrdered(filter) ? ids : ids.sort((a, b) => a - b);
}

interface Comparison {
  readonly kind: Kind;
  readonly seed: number;
  readonly isSharded: boolean;
}

async function compared(
  pair: Pair,
  dice: Dice,
  { kind, seed, isSharded }: Comparison,
): Promise<number> {
  let found = 0;
  for (let at = 0; at < QUERIES; at++) {
    const filter = kind.filter(dice);
    const expected = await idsOf(pair.plain, filter, !isSharded);
    found += expected.length;
    const text = `seed ${seed}: ${JSON.stringify(filter)}`;
    expect(await idsOf(pair.indexed, filter, !isSharded), text).toEqual(expected);
    if (!isOrdered(filter))
      expect(await pair.indexed.countDocuments(filter), text).toBe(expected.length);
  }
  return found;
}

test.each(Object.keys(KINDS).flatMap((name) => ENGINES.map((engine) => [name, engine] as const)))(
  'a %s index finds what a look at every document finds, on %s',
  async (name, engine) => {
    const kind = KINDS[name] as Kind;
    const rounds = engine === 'memory' ? roundsOr(2) : 1;
    const account = await startAccount({ engine });
    try {
      for (let round = 0; round < rounds; round++) {
        const seed = SEED + round;
        const dice = new Dice(seed);
        // Sharded collections have the simple collation.
        const isSharded = round % 2 === 1 && kind.collation === undefined;
        const pair = await filled(account, kind, dice, { name: `c${round}`, isSharded });
        expect(await compared(pair, dice, { kind, seed, isSharded })).toBeGreaterThan(0);
      }
      expect(account.failures).toEqual([]);
    } finally {
      await account.close();
    }
  },
);
