/** What this API has to say about a container with every answer, made once per version of its record. */

import { assert } from '../../../base/index.ts';
import {
  type ContainerRecord,
  containerRid,
  type DatabaseRecord,
  databaseRid,
} from '../../../catalog/index.ts';
import { type Path, parsePartitionKeyPath } from '../../../value/index.ts';

export interface ContainerView {
  readonly database: DatabaseRecord;
  readonly record: ContainerRecord;
  readonly rid: string;
  /** `dbs/<rid>/colls/<rid>/` */
  readonly self: string;
  /** Flat names and values; clients file session tokens under them. */
  readonly scopeHeaders: readonly string[];
  /** What answers about the container itself carry: the path is that of its owner, below which Java's client puts the name. */
  readonly ownHeaders: readonly string[];
  readonly keyPaths: readonly Path[];
  /** The properties of an item that are looked at before it is stored, beside those the service sets. */
  readonly checkedNames: readonly { readonly name: string; readonly bytes: Buffer }[];
  /** False where an item is not stored as its JSON text, or has to be taken apart on its way anyway. */
  readonly storesVerbatim: boolean;
  /** Made without a partition key: requests need not name one. */
  readonly isSystemKey: boolean;
}

export class ContainerViews {
  readonly #views = new WeakMap<ContainerRecord, ContainerView>();

  of(database: DatabaseRecord, record: ContainerRecord): ContainerView {
    let view = this.#views.get(record);
    if (view === undefined) {
      view = makeView(database, record);
      this.#views.set(record, view);
    }
    return view;
  }
}

export function containerSelf(record: ContainerRecord): string {
  const { databaseRid: database, rid } = record;
  return `dbs/${databaseRid(database)}/colls/${containerRid(database, rid)}/`;
}

function makeView(database: DatabaseRecord, record: ContainerRecord): ContainerView {
  const rid = containerRid(record.databaseRid, record.rid);
  const keyPaths = record.partitionKey.paths.map(toPath);
  const checkedNames = new Set(['id', 'ttl', ...keyPaths.map(([step]) => String(step))]);
  return {
    database,
    record,
    rid,
    self: containerSelf(record),
    scopeHeaders: [
      'x-ms-content-path',
      rid,
      // Clients look their session tokens up by the path they send, which is percent-encoded.
      'x-ms-alt-content-path',
      encodeURI(`dbs/${database.id}/colls/${record.id}`),
    ],
    ownHeaders: [
      'x-ms-content-path',
      rid,
      'x-ms-alt-content-path',
      encodeURI(`dbs/${database.id}`),
    ],
    keyPaths,
    checkedNames: [...checkedNames].map((name) => ({ name, bytes: Buffer.from(name) })),
    storesVerbatim:
      record.encoding === 'json' &&
      record.uniqueKeys.length === 0 &&
      !checkedNames.has('__proto__'),
    isSystemKey: record.partitionKey.systemKey === true,
  };
}

function toPath(text: string): Path {
  const path = parsePartitionKeyPath(text);
  assert(path !== undefined, 'a stored partition key path is valid');
  return path;
}
