/** The languages of the five APIs, as far as the editor needs them. */
import type { Language } from '../../editor/code-editor.ts';
import type { ApiId } from '../../lib/types.ts';

interface QueryLanguage {
  readonly name: string;
  readonly mode: Language;
  /** Offered while one types, beside the paths of the items. */
  readonly words: readonly string[];
  /** What the editor begins with. */
  first(container: string): string;
  /** How a path of an item is written. */
  path(path: string): string;
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

export const LANGUAGES: Readonly<Record<ApiId, QueryLanguage>> = {
  nosql: {
    name: 'SQL',
    mode: 'sql',
    words:
      words(`SELECT VALUE FROM WHERE GROUP BY ORDER TOP DISTINCT OFFSET LIMIT JOIN IN BETWEEN LIKE AND OR NOT EXISTS
      COUNT SUM AVG MIN MAX ABS CEILING FLOOR ROUND POWER SQRT CONCAT CONTAINS STARTSWITH ENDSWITH INDEX_OF LENGTH LOWER
      UPPER LEFT RIGHT SUBSTRING TRIM REPLACE REGEXMATCH STRINGEQUALS ToString StringToNumber IS_DEFINED IS_NULL IS_STRING
      IS_NUMBER IS_BOOL IS_ARRAY IS_OBJECT ARRAY_CONTAINS ARRAY_LENGTH ARRAY_SLICE ARRAY_CONCAT ST_DISTANCE ST_WITHIN
      ST_INTERSECTS GetCurrentDateTime GetCurrentTimestamp DateTimeAdd DateTimeDiff DateTimePart VectorDistance
      FullTextContains FullTextScore udf`),
    first: () => 'SELECT * FROM c\n',
    path: (path) => `c.${path.replaceAll('[]', '[0]')}`,
  },
  mongo: {
    name: 'MongoDB shell',
    mode: 'javascript',
    words:
      words(`db find findOne aggregate countDocuments distinct insertOne insertMany updateOne updateMany replaceOne
      deleteOne deleteMany getIndexes createIndex runCommand sort limit skip projection $match $group $project $sort $limit
      $unwind $lookup $set $inc $push $pull $unset $eq $ne $gt $gte $lt $lte $in $nin $and $or $not $exists $regex $sum
      $avg $min $max ObjectId ISODate NumberLong NumberDecimal UUID`),
    first: (container) =>
      /^[A-Za-z_]\w*$/.test(container)
        ? `db.${container}.find({})\n`
        : `db[${JSON.stringify(container)}].find({})\n`,
    path: (path) => path.replaceAll('[]', ''),
  },
  cassandra: {
    name: 'CQL',
    mode: 'cql',
    words:
      words(`SELECT FROM WHERE AND LIMIT PER PARTITION ALLOW FILTERING ORDER BY GROUP INSERT INTO VALUES UPDATE SET
      DELETE IF NOT EXISTS USING TTL TIMESTAMP CREATE TABLE KEYSPACE PRIMARY KEY JSON DISTINCT TOKEN WRITETIME`),
    first: (container) => `SELECT * FROM "${container.replaceAll('"', '""')}" LIMIT 100\n`,
    path: (path) => path.replaceAll('[]', ''),
  },
  gremlin: {
    name: 'Gremlin',
    mode: 'groovy',
    words:
      words(`g V E addV addE property has hasLabel hasId out in both outE inE bothE outV inV otherV values valueMap
      count limit order by dedup path repeat times until emit project select as where group groupCount fold unfold drop
      coalesce union choose executionProfile`),
    first: () => 'g.V().limit(100)\n',
    path: (path) => path,
  },
  table: {
    name: 'OData',
    mode: 'text',
    words: words(
      `PartitionKey RowKey Timestamp eq ne gt ge lt le and or not datetime guid $filter $select $top`,
    ),
    first: () => "PartitionKey ge ''\n",
    path: (path) => path,
  },
};
