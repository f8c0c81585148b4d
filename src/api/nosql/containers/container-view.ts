/** A container as responses and checks of this API need it, made once per version of its record. */

import { assert, ownBytes, textToBytes } from '../../../base/index.ts';
import {
  type ContainerRecord,
  containerRid,
  type DatabaseRecord,
  databaseRid,
} from '../../../catalog/index.ts';
import type { HomeApis } from '../../../service/index.ts';
import { type Path, parsePartitionKeyPath } from '../../../value/index.ts';
import { ForeignItems } from '../items/foreign-items.ts';

export interface ContainerView {
  readonly database: DatabaseRecord;
  readonly record: ContainerRecord;
  readonly rid: string;
  /** `dbs/<rid>/colls/<rid>/` */
  readonly self: string;
  /** Header names and values in one flat list; clients store session tokens under them. */
  readonly scopeHeaders: readonly string[];
  /** Headers of responses about the container itself. The path is its owner's: Java's client appends the name. */
  readonly ownHeaders: readonly string[];
  readonly keyPaths: readonly Path[];
  /** The properties of an item that are checked before it is stored, besides the system properties. */
  readonly checkedNames: readonly { readonly name: string; readonly bytes: Buffer }[];
  /** False where items are not stored as JSON text, or have to be parsed anyway. */
  readonly storesVerbatim: boolean;
  /** True for a container that was made without a partition key: requests need not name one. */
  readonly isSystemKey: boolean;
  /** Set where the container belongs to another API, whose items are shown by an image. */
  readonly foreign: ForeignItems | undefined;
}

export class ContainerViews {
  readonly #views = new WeakMap<ContainerRecord, ContainerView>();
  readonly #homes: HomeApis;

  constructor(homes: HomeApis) {
    this.#homes = homes;
  }

  of(database: DatabaseRecord, record: ContainerRecord): ContainerView {
    let view = this.#views.get(record);
    if (view === undefined) {
      view = makeView(database, record, ForeignItems.of(this.#homes.of(record), record));
      this.#views.set(record, view);
    }
    return view;
  }
}

export function containerSelf(record: ContainerRecord): string {
  const { databaseRid: database, rid } = record;
  return `dbs/${databaseRid(database)}/colls/${containerRid(database, rid)}/`;
}

function makeView(
  database: DatabaseRecord,
  record: ContainerRecord,
  foreign: ForeignItems | undefined,
): ContainerView {
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
    checkedNames: [...checkedNames].map((name) => ({ name, bytes: ownBytes(textToBytes(name)) })),
    storesVerbatim:
      record.encoding === 'json' &&
      foreign === undefined &&
      record.uniqueKeys.length === 0 &&
      !checkedNames.has('__proto__'),
    isSystemKey: record.partitionKey.systemKey === true,
    foreign,
  };
}

function toPath(text: string): Path {
  const path = parsePartitionKeyPath(text);
  assert(path !== undefined, 'a stored partition key path is valid');
  return path;
}
