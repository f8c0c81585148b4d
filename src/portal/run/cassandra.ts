/** CQL, over the native protocol. Table names without a keyspace are those of the container's keyspace. */
import type { ByteProtocol } from '../../net/index.ts';
import type { AccountKeys } from '../../service/index.ts';
import { CqlClient } from '../local/cql-client.ts';
import type { Runner } from './runner.ts';

export function cassandraRunner(protocol: ByteProtocol, keys: AccountKeys): Runner {
  return async ({ db, text, limit, continuation, mayWrite, signal }) => {
    const key = keys.get(mayWrite ? 'primary' : 'primaryReadonly');
    using client = await CqlClient.open(protocol, key);
    const stop = () => client[Symbol.dispose]();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await client.query(`USE "${db.replaceAll('"', '""')}"`, { pageSize: 1 });
      const page = await client.query(text, { pageSize: limit, pagingState: continuation });
      return {
        columns: page.columns,
        rows: page.rows.map((row) => JSON.stringify(row)),
        charge: page.charge,
        continuation: page.pagingState,
        warnings: page.warnings,
        isFiltering: /\ballow\s+filtering\b/i.test(text),
      };
    } finally {
      signal.removeEventListener('abort', stop);
    }
  };
}
