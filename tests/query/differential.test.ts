// Goal: an index, several partitions and small pages change how a query runs, never its result.
// Method: random documents and queries by seed; the same query with the index on and off, in one partition and in five,
// in pages of one and of a thousand, and by the reference executor in memory: identical results.
import { expect, test } from 'vitest';
import {
  computedDefinitions,
  computedProperties,
} from '../../src/api/nosql/containers/computed-properties.ts';
import { rowText } from '../../src/api/nosql/feed.ts';
import {
  autoParameterize,
  compileQuery,
  executableQuery,
  parseQuery,
  runQuery,
} from '../../src/api/nosql/sql/index.ts';
import { seededRandom } from '../../src/base/index.ts';
import { type ContainerRecord, normalizeIndexingPolicy } from '../../src/catalog/index.ts';
import { containerIndexing, type HomeApi } from '../../src/cluster/index.ts';
import { isMap, jsonCodec, type ValueMap } from '../../src/value/index.ts';
import { COMPUTED, RandomQueries, type RandomQuery } from './random-query.ts';
import { World } from './world.ts';

const isLong = process.env.MESOCOSM_LONG !== undefined;
const ROUNDS = isLong ? 120 : 4;
const QUERIES = isLong ? 100 : 75;
const DOCUMENTS = 60;
const firstSeed = Number(process.env.MESOCOSM_SEED ?? 1);

interface Containers {
  readonly indexed: ContainerRecord;
  readonly plain: ContainerRecord;
  readonly spread: ContainerRecord;
}

async function makeContainers(
  world: World,
  documents: readonly ValueMap[],
  isFlat: boolean,
): Promise<Containers> {
  const make = async (id: string, requestUnits: number, isIndexed: boolean) => {
    const container = await world.newContainer(id, {
      requestUnits,
      indexingPolicy: isIndexed
        ? normalizeIndexingPolicy({
            includedPaths: [{ path: '/*' }, { path: '/cp_lower/?' }, { path: '/cp_sum/?' }],
            spatialIndexes: ['/place/*', '/places/[]/at/?'].map((path) => ({
              path,
              types: ['Point', 'Polygon'],
              ...(isFlat && { boundingBox: BOX }),
            })),
          })
        : normalizeIndexingPolicy({ indexingMode: 'none', automatic: false }),
      policies: {
        computedProperties: COMPUTED,
        geospatialConfig: { type: isFlat ? 'Geometry' : 'Geography' },
      },
    });
    for (const document of documents) await world.create(container, document);
    return container;
  };
  return {
    indexed: await make('indexed', 1000, true),
    plain: await make('plain', 1000, false),
    spread: await make('spread', 50_000, true),
  };
}

/** Documents are compared as they were written, so nothing is added to them. */
const HOME: HomeApi = { name: 'nosql', codec: jsonCodec, computed: computedProperties };

async function rows(
  world: World,
  container: ContainerRecord,
  text: string,
  limit: number,
): Promise<string[]> {
  const indexing = containerIndexing(container, HOME);
  // With the index, also as a program that knows the texts by their constants would send it.
  const lifted = indexing.options.isOff ? undefined : autoParameterize(text);
  const program = executableQuery(parseQuery(lifted?.text ?? text), {
    parameters: lifted?.parameters ?? [],
    startMs: 0,
    computed: computedDefinitions(container),
    environment: { geospatial: spaceOf(container) },
    gridOf: (path) => indexing.gridOf(path),
  });
  const found: string[] = [];
  for await (const page of world.pages(container, program, limit)) {
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    found.push(...page.rows.map((row) => canonical(rowText(row))));
  }
  return found;
}

/** Sums of many orders may differ in the last digit. */
function canonical(text: string): string {
  return JSON.stringify(JSON.parse(text), (_, value) =>
    typeof value === 'number' ? Number(value.toPrecision(12)) : value,
  );
}

function reference(
  text: string,
  documents: readonly ValueMap[],
  container: ContainerRecord,
): string[] {
  const query = compileQuery(parseQuery(text), {
    computed: computedDefinitions(container),
    environment: { geospatial: spaceOf(container) },
  });
  return runQuery(query, documents).map((value) => canonical(JSON.stringify(value)));
}

/** Smaller than where the geometries are. */
const BOX = { xmin: -8, ymin: -10, xmax: 10, ymax: 9 };

function spaceOf({ policies }: ContainerRecord): 'geography' | 'geometry' {
  const { geospatialConfig } = policies;
  return isMap(geospatialConfig) && geospatialConfig.type === 'Geometry' ? 'geometry' : 'geography';
}

test.each(Array.from({ length: ROUNDS }, (_, round) => firstSeed + round))(
  'seed %d: the same results every way',
  async (seed) => {
    const random = new RandomQueries(seededRandom(seed));
    const documents = Array.from({ length: DOCUMENTS }, (_, number) => random.document(number));
    const world = await World.open(seed, { homes: [HOME] });
    const containers = await makeContainers(world, documents, seed % 2 === 0);
    for (let count = 0; count < QUERIES; count++)
      await compare(world, containers, documents, random.query(), `seed ${seed}, query ${count}`);
    await world.close();
  },
  600_000,
);

async function compare(
  world: World,
  { indexed, plain, spread }: Containers,
  documents: readonly ValueMap[],
  query: RandomQuery,
  label: string,
): Promise<void> {
  const { text } = query;
  const name = `${label}: ${text}`;
  const expected = await rows(world, plain, text, 1000);
  expect(await rows(world, indexed, text, 1000), `${name} (index)`).toEqual(expected);
  expect(await rows(world, indexed, text, 1), `${name} (pages of one)`).toEqual(expected);
  const many = await rows(world, spread, text, 1000);
  expect(await rows(world, spread, text, 1), `${name} (five partitions, pages of one)`).toEqual(
    many,
  );
  const wanted = reference(text, documents, plain);
  if (query.isTotallyOrdered) {
    expect(expected, `${name} (reference)`).toEqual(wanted);
    expect(many, `${name} (five partitions)`).toEqual(expected);
  } else if (!query.isWindowed) {
    expect([...expected].sort(), `${name} (reference)`).toEqual([...wanted].sort());
    expect([...many].sort(), `${name} (five partitions)`).toEqual([...expected].sort());
  } else {
    expect(many.length, `${name} (five partitions)`).toBe(expected.length);
  }
}
