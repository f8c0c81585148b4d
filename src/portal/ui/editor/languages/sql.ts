/** SQL of the NoSQL API, and CQL. */
import { Cassandra, StandardSQL, sql } from '@codemirror/lang-sql';
import type { Extension } from '@codemirror/state';

export function plainSql(): Extension {
  return sql({ dialect: StandardSQL, upperCaseKeywords: true });
}

export function cassandraSql(): Extension {
  return sql({ dialect: Cassandra });
}
