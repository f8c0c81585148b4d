/** The indexes that clients are shown: the declared ones, and those that come with the kind of the collection. */
import { type Bson, type BsonDocument, isDocument } from '../../../value/index.ts';
import { type Collection, isTimeSeries } from '../collections/collection.ts';
import { declaredIndexes, idIndex } from './index-spec.ts';

export function listedIndexes(collection: Collection): readonly BsonDocument[] {
  return [...ownIndexes(collection), ...declaredIndexes(collection).map(({ spec }) => spec)];
}

export function indexName(spec: BsonDocument): string {
  return String(spec.get('name'));
}

/** How many indexes commands count: what a collection is clustered by is listed and not counted. */
export function indexCount(collection: Collection): number {
  return listedIndexes(collection).filter((spec) => !spec.has('clustered')).length;
}

/** Measurements have no index of `_id`; they are found by what they are about, and when. */
function ownIndexes(collection: Collection): readonly BsonDocument[] {
  if (!isTimeSeries(collection)) return [idIndex(collection)];
  const series = collection.options.get('timeseries');
  const [meta, time] = isDocument(series) ? [series.get('metaField'), series.get('timeField')] : [];
  if (typeof meta !== 'string' || typeof time !== 'string') return [];
  return [
    new Map<string, Bson>([
      ['v', 2],
      [
        'key',
        new Map([
          [meta, 1],
          [time, 1],
        ]),
      ],
      ['name', `${meta}_1_${time}_1`],
    ]),
  ];
}
