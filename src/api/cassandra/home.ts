/** Containers of this API: tables, whose bodies are rows of cells. */
import type { Clock } from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type { HomeApi } from '../../service/index.ts';
import type { ValueMap } from '../../value/index.ts';
import { cqlCodec } from './cells/cql-codec.ts';
import { cassandraUpdaters } from './cells/updaters.ts';
import { jsonImage } from './json-image.ts';
import { TableKeys } from './schema/table-keys.ts';
import { schemaOfPolicy, type TableSchema } from './schema/table-schema.ts';
import { viewUpdaters } from './views/view-updaters.ts';

/** @param clock - says which cells have ended when the NoSQL API looks at a row. */
export function cassandraHome(clock: Clock): HomeApi {
  const schemas = new WeakMap<ValueMap, TableSchema>();
  const schemaOf = ({ id, policies }: ContainerRecord): TableSchema => {
    const known = schemas.get(policies);
    if (known !== undefined) return known;
    const schema = schemaOfPolicy('', id, policies);
    schemas.set(policies, schema);
    return schema;
  };
  return {
    name: 'cassandra',
    codec: cqlCodec(clock),
    keys: (container) => new TableKeys(schemaOf(container)),
    updaters: { ...cassandraUpdaters, ...viewUpdaters },
    image: jsonImage(schemaOf, clock),
  };
}
