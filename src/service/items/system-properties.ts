/**
 * The properties of an item that the service sets: `_rid`, `_self`, `_etag`, `_attachments`, `_ts`. The NoSQL API shows
 * them for items of every API; finishers append them to the properties of the item when it is written.
 */
import {
  type ContainerRecord,
  containerRid,
  databaseRid,
  documentRid,
} from '../../catalog/index.ts';
import type { Stamp } from '../../partition/index.ts';
import type { ValueMap } from '../../value/index.ts';

/** For the items of one container. */
export class SystemProperties {
  readonly #database: number;
  readonly #container: number;
  readonly #docs: string;
  /** Body and value of one write are finished one after the other. */
  #rid = -1;
  #ridText = '';
  /** Writes of one transaction share an etag. */
  #etag = '';
  #timestampSec = -1;
  #end = '';

  constructor({ databaseRid: database, rid }: ContainerRecord) {
    this.#database = database;
    this.#container = rid;
    this.#docs = `dbs/${databaseRid(database)}/colls/${containerRid(database, rid)}/docs/`;
  }

  /** The end of a JSON object, instead of its closing brace. All ASCII. */
  tail({ rid, etag, timestampSec }: Stamp): string {
    const text = this.#textOf(rid);
    if (etag !== this.#etag || timestampSec !== this.#timestampSec) {
      this.#etag = etag;
      this.#timestampSec = timestampSec;
      this.#end = `/","_etag":"\\"${etag.slice(1, -1)}\\"","_attachments":"attachments/","_ts":${timestampSec}}`;
    }
    return `,"_rid":"${text}","_self":"${this.#docs}${text}${this.#end}`;
  }

  /** The value with the properties. */
  added(value: ValueMap, { rid, etag, timestampSec }: Stamp): ValueMap {
    const text = this.#textOf(rid);
    return {
      ...value,
      _rid: text,
      _self: `${this.#docs}${text}/`,
      _etag: etag,
      _attachments: 'attachments/',
      _ts: timestampSec,
    };
  }

  #textOf(rid: number): string {
    if (this.#rid !== rid) {
      this.#rid = rid;
      this.#ridText = documentRid(this.#database, this.#container, rid);
    }
    return this.#ridText;
  }
}
