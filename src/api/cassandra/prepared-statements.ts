/** Statements that clients have prepared, shared by all connections. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Bytes, bytesToLatin1 } from '../../base/index.ts';
import { CqlError } from './errors.ts';
import { PREPARED_CHARACTERS_MAX, PREPARED_STATEMENTS_MAX } from './limits.ts';
import type { Environment, Plan, ResultColumn } from './statements/plan.ts';
import { prepareStatement } from './statements/prepare.ts';
import { typeText } from './types/cql-type.ts';

export interface PreparedStatement {
  readonly id: Bytes;
  readonly text: string;
  readonly keyspace: string | undefined;
  readonly plan: Plan;
  /** Changes where the columns of the result do. */
  readonly metadataId: Bytes;
}

export class PreparedStatements {
  readonly #environment: Environment;
  /** By id, as latin1 text. */
  readonly #byId = new LRUCache<string, PreparedStatement>({
    max: PREPARED_STATEMENTS_MAX,
    maxSize: PREPARED_CHARACTERS_MAX,
    sizeCalculation: ({ text }) => text.length + 200,
  });

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  prepare(text: string, keyspace: string | undefined): PreparedStatement {
    const id = createHash('md5')
      .update(`${keyspace ?? ''}\n${text}`)
      .digest();
    const known = this.#byId.get(bytesToLatin1(id));
    if (known?.plan.isCurrent()) return known;
    const plan = prepareStatement(text, this.#environment, keyspace);
    const prepared = { id, text, keyspace, plan, metadataId: metadataIdOf(plan.columns) };
    this.#byId.set(bytesToLatin1(id), prepared);
    return prepared;
  }

  /** A statement whose table has changed is prepared again; one that was forgotten the client prepares again. */
  find(id: Bytes): PreparedStatement {
    const found = this.#byId.get(bytesToLatin1(id));
    if (found === undefined)
      throw new CqlError(
        'unprepared',
        `Prepared query with ID ${Buffer.from(id).toString('hex')} not found (either the query was not prepared on this host (maybe the host has been restarted?) or you have prepared too many queries and it has been evicted from the internal cache)`,
        { kind: 'unprepared', id },
      );
    return found.plan.isCurrent() ? found : this.prepare(found.text, found.keyspace);
  }
}

function metadataIdOf(columns: readonly ResultColumn[] | undefined): Bytes {
  const hash = createHash('md5');
  for (const { keyspace, table, name, type } of columns ?? [])
    hash.update(`${keyspace}.${table}.${name} ${typeText(type)}\n`);
  return hash.digest();
}
