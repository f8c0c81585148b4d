/** Inserts, updates and deletes of several collections in one command, in order. */
import type { Bytes } from '../../../../base/index.ts';
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  Double,
  isArray,
  isDocument,
  readBson,
  writeBson,
} from '../../../../value/index.ts';
import { wholeNumber } from '../../bson/arithmetic.ts';
import type { Call, Command } from '../../call.ts';
import { type Collection, findCollection } from '../../collections/collection.ts';
import { type Namespace, splitNamespace } from '../../collections/namespace.ts';
import { openList } from '../../cursors/open-list.ts';
import { NO_CHANGE } from '../../documents/change-result.ts';
import { insertDocuments, type WriteFailure } from '../../documents/insert.ts';
import { MongoError } from '../../errors.ts';
import { WRITE_BATCH_MAX } from '../../limits.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { documentOf, ok } from '../../reply.ts';
import { ensureHidden } from '../../sessions/hidden-collections.ts';
import { deleteStatement, runChange, updateStatement } from './change-statements.ts';
import { insertWhereItIs } from './dropped-meanwhile.ts';
import { contextOf, keepsEmptyTimestamps, refuseView } from './query-arguments.ts';
import { checkStatement, isTrue } from './statement-fields.ts';
import { readStatements, statementError } from './statements.ts';

const INSERT_FIELDS = { insert: 'number', document: 'object' } as const;
const UPDATE_FIELDS = {
  update: 'number',
  filter: 'object',
  updateMods: 'update',
  arrayFilters: 'array',
  multi: 'strictBool',
  upsert: 'strictBool',
  upsertSupplied: 'strictBool',
  hint: 'hint',
  constants: 'object',
  collation: 'object',
  sort: 'object',
} as const;
const DELETE_FIELDS = {
  delete: 'number',
  filter: 'object',
  multi: 'strictBool',
  hint: 'hint',
  collation: 'object',
} as const;

export const bulkWrite: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: {
    ops: 'any',
    nsInfo: 'any',
    ordered: 'bool',
    errorsOnly: 'bool',
    bypassDocumentValidation: 'flag',
    bypassEmptyTsReplacement: 'bool',
    cursor: 'object',
    let: 'object',
    stmtId: 'int',
    stmtIds: 'array',
  },
  async run(call) {
    const run = new BulkRun(call, await listOf(call, 'nsInfo'), await listOf(call, 'ops'));
    const isOrdered = call.args.flag('ordered', true);
    for (let index = 0; index < run.operations.length; ) {
      const inserts = run.insertsFrom(index);
      const isDone =
        inserts.length > 0
          ? await run.insertAll(inserts, index, isOrdered)
          : await run.change(run.operations[index] as Change, index);
      if (!isDone && isOrdered) break;
      index += Math.max(inserts.length, 1);
    }
    return run.reply(call.args.flag('errorsOnly'));
  },
};

interface Insertion {
  readonly kind: 'insert';
  readonly target: number;
  readonly body: Bytes;
}

interface Change {
  readonly kind: 'update' | 'delete';
  readonly target: number;
  readonly sent: BsonDocument;
}

type Operation = Insertion | Change;

class BulkRun {
  readonly #call: Call;
  readonly operations: readonly Operation[];
  readonly #namespaces: readonly Namespace[];
  readonly #results: BsonDocument[] = [];
  readonly #counts = {
    nErrors: 0,
    nInserted: 0,
    nMatched: 0,
    nModified: 0,
    nUpserted: 0,
    nDeleted: 0,
  };

  constructor(call: Call, nsInfo: readonly BsonDocument[], ops: readonly BsonDocument[]) {
    this.#call = call;
    this.#namespaces = nsInfo.map(namespaceIn);
    this.operations = ops.map(parseOperation);
    if (this.operations.length === 0 || this.operations.length > WRITE_BATCH_MAX)
      throw new MongoError(
        'InvalidLength',
        `Write batch sizes must be between 1 and ${WRITE_BATCH_MAX}. Got ${this.operations.length} operations.`,
      );
    for (const { target } of this.operations)
      if (this.#namespaces[target] === undefined)
        throw new MongoError(
          'BadValue',
          `BulkWrite ops entry has an invalid nsInfo index: ${target}`,
        );
    const isMulti = (operation: Operation): boolean =>
      operation.kind !== 'insert' && isTrue(operation.sent.get('multi'));
    if (call.retryable !== undefined && this.operations.some(isMulti))
      throw new MongoError('InvalidOptions', 'Cannot use retryable writes with multi=true');
  }

  /** False where the operation was refused. */
  async change(operation: Change, index: number): Promise<boolean> {
    try {
      const result = await this.#change(operation, index);
      this.#results.push(documentOf({ ok: new Double(1), idx: index, ...result }));
      return true;
    } catch (error) {
      this.#refuse(operation, index, statementError(this.#call, error));
      return false;
    }
  }

  #refuse({ kind }: Operation, index: number, refusal: MongoError): void {
    this.#counts.nErrors += 1;
    this.#results.push(
      new Map<string, Bson>([
        ['ok', new Double(0)],
        ['idx', index],
        ['code', refusal.number],
        ...(refusal.more ?? []),
        ['errmsg', refusal.message],
        ['n', 0],
        ...(kind === 'update' ? ([['nModified', 0]] as const) : []),
      ]),
    );
  }

  /** The inserts into one collection that follow each other from here on: they are one write. */
  insertsFrom(index: number): readonly Insertion[] {
    const inserts: Insertion[] = [];
    for (let at = index; at < this.operations.length; at++) {
      const operation = this.operations[at] as Operation;
      if (operation.kind !== 'insert' || operation.target !== (inserts[0] ?? operation).target)
        break;
      inserts.push(operation);
    }
    return inserts;
  }

  /** False where one of them was refused. */
  async insertAll(
    inserts: readonly Insertion[],
    index: number,
    isOrdered: boolean,
  ): Promise<boolean> {
    let failures: readonly WriteFailure[];
    try {
      failures = await this.#insert(inserts, index, isOrdered);
    } catch (error) {
      // None of them was tried, for a reason that all of them have.
      failures = inserts.map((_, at) => ({ index: at, error: statementError(this.#call, error) }));
    }
    const refusals = new Map(failures.map((failure) => [failure.index, failure.error]));
    for (const [at, operation] of inserts.entries()) {
      const refusal = refusals.get(at);
      if (refusal === undefined) this.#inserted(index + at);
      else this.#refuse(operation, index + at, refusal);
      if (refusal !== undefined && isOrdered) return false;
    }
    return failures.length === 0;
  }

  #inserted(index: number): void {
    this.#counts.nInserted += 1;
    this.#results.push(documentOf({ ok: new Double(1), idx: index, n: 1 }));
  }

  async #insert(inserts: readonly Insertion[], index: number, isOrdered: boolean) {
    const { store, retryable, body: sent } = this.#call;
    const namespace = this.#namespaces[(inserts[0] as Insertion).target] as Namespace;
    const collection = await ensureHidden(this.#call, namespace);
    refuseView(collection);
    const request = {
      store,
      bodies: inserts.map(({ body }) => body),
      isOrdered,
      retryable,
      place: index,
      bypassesValidation: isTrue(sent.get('bypassDocumentValidation')),
      keepsEmptyTimestamps: keepsEmptyTimestamps(sent),
    };
    const { failures } = await insertWhereItIs(this.#call, collection, (current) =>
      insertDocuments({ ...request, collection: current }),
    );
    return failures;
  }

  async #change({ kind, target, sent }: Change, index: number) {
    const { service } = this.#call.context;
    const namespace = this.#namespaces[target] as Namespace;
    const statement =
      kind === 'delete'
        ? deleteStatement(sent, 'filter')
        : updateStatement(sent, { filter: 'filter', update: 'updateMods' });
    let collection: Collection | undefined = findCollection(service, namespace);
    if (collection === undefined)
      parseFilter(statement.filter, contextOf(this.#call, undefined, sent));
    else refuseView(collection);
    if (collection === undefined && statement.isUpsert)
      collection = await ensureHidden(this.#call, namespace);
    const result =
      collection === undefined
        ? NO_CHANGE
        : await runChange(this.#call, collection, statement, index);
    if (kind === 'delete') {
      this.#counts.nDeleted += result.matched;
      return { n: result.matched };
    }
    this.#counts.nMatched += result.matched;
    this.#counts.nModified += result.modified;
    if (result.upsertedId === undefined) return { n: result.matched, nModified: result.modified };
    this.#counts.nUpserted += 1;
    return { n: 1, nModified: 0, upserted: documentOf({ _id: result.upsertedId }) };
  }

  async reply(isErrorsOnly: boolean): Promise<BsonDocument> {
    const shown = isErrorsOnly
      ? this.#results.filter((result) => result.has('code'))
      : this.#results;
    const opened = (await openList(this.#call, 'admin.$cmd.bulkWrite', shown)) as Bytes;
    return ok({
      cursor: readBson(opened).get('cursor') as BsonDocument,
      ...this.#counts,
      ...this.#call.retryable?.reply,
    });
  }
}

async function listOf(
  { sequences, body }: Call,
  name: 'ops' | 'nsInfo',
): Promise<readonly BsonDocument[]> {
  const sequence = sequences.get(name);
  if (sequence !== undefined) return readStatements(sequence, (document) => document);
  const sent = body.get(name);
  if (sent === undefined || sent === null)
    throw new MongoError(
      'IDLFailedToParse',
      `BSON field 'bulkWrite.${name}' is missing but a required field`,
    );
  if (!isArray(sent)) throw wrongType(`bulkWrite.${name}`, sent, 'array');
  return sent.map((each, at) => {
    if (!isDocument(each)) throw wrongType(`bulkWrite.${name}.${at}`, each, 'object');
    return each;
  });
}

function wrongType(path: string, value: Bson, expected: string): MongoError {
  return new MongoError(
    'TypeMismatch',
    `BSON field '${path}' is the wrong type '${bsonTypeOf(value)}', expected type '${expected}'`,
  );
}

function namespaceIn(document: BsonDocument): Namespace {
  const ns = document.get('ns');
  if (ns === undefined || ns === null)
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field 'bulkWrite.nsInfo.ns' is missing but a required field",
    );
  if (typeof ns !== 'string') throw wrongType('bulkWrite.nsInfo.ns', ns, 'string');
  return splitNamespace(ns);
}

function parseOperation(sent: BsonDocument): Operation {
  const [kind = ''] = sent.keys();
  const target = wholeNumber(sent.get(kind)) ?? -1;
  switch (kind) {
    case 'insert':
      checkStatement('insert', sent, INSERT_FIELDS, ['insert', 'document']);
      return { kind, target, body: writeBson(sent.get('document') as BsonDocument) };
    case 'update':
      checkStatement('update', sent, UPDATE_FIELDS, ['update', 'filter', 'updateMods']);
      return { kind, target, sent };
    case 'delete':
      checkStatement('delete', sent, DELETE_FIELDS, ['delete', 'filter']);
      return { kind, target, sent };
    default:
      throw new MongoError(
        'IDLUnknownField',
        `BSON field 'bulkWrite.ops.${kind}' is an unknown field.`,
      );
  }
}
