/**
 * A change stream: the feeds of all collections that it watches, and changes of their names. It reads versions, which
 * collections keep from the first change stream on.
 */
import { DomainError } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import { yieldToEventLoop } from '../../../query/index.ts';
import {
  type ChangeFeedPage,
  type ChangeFeedPosition,
  parseChangePosition,
  type Service,
} from '../../../service/index.ts';
import type { Bson, BsonDocument } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import { type LogicalTime, laterOf } from '../cluster-clock.ts';
import { type Collection, keepVersions } from '../collections/collection.ts';
import type { LiveRow, LiveSource } from '../cursors/live-cursor.ts';
import { Row, type Rows } from '../documents/rows.ts';
import { MongoError } from '../errors.ts';
import { type EventPlace, eventRows } from './event-rows.ts';
import { type EventParts, eventOf, type FoundChange, foundChange, timeOf } from './events.ts';
import type { StreamOptions } from './options.ts';
import {
  concerns,
  type EventTime,
  endsStream,
  eventTime,
  headerOf,
  schemaEvent,
} from './schema-events.ts';
import { BEGINNING, positionNow, startOf } from './start-positions.ts';
import { placeOfPart, type StreamPart } from './stream-part.ts';
import {
  foreignToken,
  historyLost,
  type PlaceInTime,
  placeOfSchemaEvent,
  printToken,
  type StreamState,
} from './token.ts';
import { currentDocument, versionBefore } from './versions.ts';
import { watchedCollections } from './watched.ts';

/** Changes that one poll reads of one collection, and bytes of them. */
const PAGE_CHANGES = 500;
const PAGE_BYTES = 4 * 1024 * 1024;
/** Events that a stream keeps when a collection goes away before they were read. */
const DRAINED_MAX = 10_000;

/** A change that is not an event yet, with the place behind it. */
interface Pending {
  readonly part: StreamPart;
  readonly found: FoundChange;
  readonly isGroupEnd: boolean;
  readonly time: LogicalTime;
  readonly position: ChangeFeedPosition;
}

export class ChangeStream implements LiveSource {
  readonly #call: Call;
  readonly #service: Service;
  readonly #options: StreamOptions;
  readonly #run: (rows: Rows) => Rows;
  readonly #parts = new Map<string, StreamPart>();
  /** Where collections were when the command arrived; those that are missing were made later. */
  readonly #starts = new Map<string, ChangeFeedPosition>();
  #schemaPosition: number;
  #last: StreamState['last'];
  /** The last event that was read, and the state behind it. */
  #lastEvent: { readonly token: BsonDocument; readonly state: StreamState } | undefined;
  /** Events of collections that are gone meanwhile. */
  #drained: LiveRow[] = [];
  #reading: Promise<unknown> = Promise.resolve();
  /** True where the client has seen all but the end. */
  readonly #isLast: boolean;
  /** True where the place to go on from is none of this stream. */
  #isForeign = false;
  isEnded = false;

  /** @param run - the stages behind `$changeStream`. */
  constructor(call: Call, options: StreamOptions, run: (rows: Rows) => Rows) {
    this.#call = call;
    this.#service = call.context.service;
    this.#options = options;
    this.#run = run;
    const { changes } = call.context;
    const [process, number] = options.resume?.schema ?? [];
    this.#schemaPosition =
      process === changes.process && number !== undefined ? number : changes.position;
    this.#last = options.resume?.last;
    this.#isLast = options.resume?.isLast === true;
  }

  /** Notes where collections are when the command arrives: what is written while the stream is opened belongs to it. */
  async noteStart(): Promise<void> {
    if ((this.#options.resume ?? this.#options.startAt) !== undefined) return;
    for (const { container } of watchedCollections(this.#service, this.#options))
      this.#starts.set(keyOf(container), await positionNow(this.#service, container));
  }

  async open(): Promise<void> {
    const { resume, startAt } = this.#options;
    const known = new Map(
      resume?.parts.map(([database, rid, text]) => [`${database} ${rid}`, text]),
    );
    for (const collection of watchedCollections(this.#service, this.#options)) {
      const { databaseRid, rid } = collection.container;
      const text = known.get(`${databaseRid} ${rid}`);
      const kept = await keepVersions(this.#service, collection);
      if (text !== undefined) this.#add(kept, parseChangePosition(text));
      else if (resume !== undefined) this.#add(kept, BEGINNING, true);
      else if (startAt === undefined)
        this.#add(kept, this.#starts.get(keyOf(kept.container)) ?? BEGINNING, true);
      else this.#add(kept, startOf({ kind: 'time', sinceSec: startAt.high }), true);
    }
    this.#isForeign = this.#isTokenForeign();
    this.#call.context.changes.watch(this);
  }

  /** True for the token of another collection that is still there, and of an event that this stream does not show. */
  #isTokenForeign(): boolean {
    const { resume, collection, isExpanded } = this.#options;
    if (resume === undefined) return false;
    if (resume.isExpanded === true && !isExpanded) return true;
    const [part, other] = resume.parts;
    if (collection === undefined || part === undefined || other !== undefined) return false;
    const found = this.#service.containers.findByRid(part[0], part[1]);
    return found !== undefined && !this.#parts.has(keyOf(found));
  }

  /** The token of the last event where nothing was read behind it: drivers compare the two. */
  get resumeToken(): BsonDocument {
    const state = this.#state();
    const { token, state: behind } = this.#lastEvent ?? {};
    return token !== undefined && JSON.stringify(state) === JSON.stringify(behind)
      ? token
      : printToken(state, this.#call.context.clusterClock.time);
  }

  close(): void {
    this.#call.context.changes.unwatch(this);
  }

  poll(): Promise<readonly LiveRow[]> {
    return this.#inTurn(async () => {
      const rows = this.#drained.splice(0);
      await this.#addCreated();
      const hasMore = await this.#readAll(rows);
      if (!hasMore) await this.#readSchema(rows);
      if (this.#isForeign && rows.length > 0) throw foreignToken();
      return rows;
    });
  }

  /** Two that read at once would read the same changes. */
  #inTurn<T>(read: () => Promise<T>): Promise<T> {
    const result = this.#reading.then(read);
    this.#reading = result.catch(() => undefined);
    return result;
  }

  /** Reads on before a collection goes away or changes its name, which does not depend on whether it can. */
  async drain(database: string): Promise<void> {
    if (this.isEnded) return;
    if (this.#options.database !== undefined && this.#options.database !== database) return;
    await this.#inTurn(() => this.#drainAll()).catch((error: unknown) => {
      if (!(error instanceof MongoError)) throw error;
    });
  }

  async #drainAll(): Promise<void> {
    while (this.#drained.length < DRAINED_MAX) {
      const rows: LiveRow[] = [];
      await this.#addCreated();
      await this.#readAll(rows);
      if (rows.length === 0) return;
      this.#drained.push(...rows);
    }
  }

  /** Collections that were made meanwhile are read from their beginning. */
  async #addCreated(): Promise<void> {
    for (const collection of watchedCollections(this.#service, this.#options)) {
      const part = this.#parts.get(keyOf(collection.container));
      if (part === undefined) await this.#addNew(collection);
      else part.collection = collection;
    }
  }

  /** One whose making had begun before the stream was opened does not keep versions yet. */
  async #addNew(collection: Collection): Promise<void> {
    this.#add(await keepVersions(this.#service, collection), BEGINNING, true);
  }

  #add(collection: Collection, position: ChangeFeedPosition, mayBeEarly = false): void {
    const { container } = collection;
    this.#parts.set(keyOf(container), { collection, position, isEarly: false, mayBeEarly });
  }

  /** Streams over many collections go on without those that are gone, which every token would name. */
  #forgetGone(): void {
    if (this.#options.collection !== undefined) return;
    for (const [key, { collection }] of this.#parts) {
      const { databaseRid, rid } = collection.container;
      if (this.#service.containers.findByRid(databaseRid, rid) === undefined)
        this.#parts.delete(key);
    }
  }

  /** What is new in all collections, in the order of its logical time. True where one has more. */
  async #readAll(into: LiveRow[]): Promise<boolean> {
    let hasMore = false;
    const pending: Pending[] = [];
    const ends: (readonly [StreamPart, ChangeFeedPosition])[] = [];
    this.#forgetGone();
    for (const part of this.#parts.values()) {
      const { databaseRid, rid } = part.collection.container;
      if (this.#service.containers.findByRid(databaseRid, rid) === undefined) continue;
      const page = await this.#page(part);
      this.#collect(part, page, pending);
      ends.push([part, page.position]);
      if (page.more) hasMore = true;
      else part.isEarly = false;
    }
    pending.sort((a, b) => a.time.high - b.time.high || a.time.low - b.time.low);
    for (const { part, found, position, isGroupEnd, time } of pending) {
      const place = this.#options.splits ? this.#placeOf(found, time) : undefined;
      part.position = position;
      if (this.#isSeen(found)) continue;
      const { databaseRid, rid } = part.collection.container;
      this.#last = isGroupEnd ? undefined : [databaseRid, rid, found.lsn, found.operation];
      await this.#addEvent(await eventOf(found, time, this.#eventParts()), into, {
        place,
        inTime: found,
      });
      await yieldToEventLoop();
    }
    for (const [part, position] of ends) part.position = position;
    return hasMore;
  }

  #placeOf({ collection, lsn, operation }: FoundChange, time: LogicalTime): EventPlace {
    const { databaseRid, rid } = collection.container;
    const event = [databaseRid, rid, lsn, operation, 0] as const;
    const seen = this.#options.resume?.fragment;
    const isSame = seen !== undefined && event.every((part, at) => at === 4 || part === seen[at]);
    return { before: this.#state(), event, time, fragmentsSeen: isSame ? seen[4] : 0 };
  }

  #collect(part: StreamPart, { changes, position }: ChangeFeedPage, into: Pending[]): void {
    const segment = position.at(-1);
    let groupIndex = 0;
    let time: LogicalTime = { high: 0, low: 0 };
    for (const [at, change] of changes.entries()) {
      groupIndex = changes[at - 1]?.lsn === change.lsn ? groupIndex + 1 : 0;
      const found = foundChange(part.collection, change, groupIndex);
      if (found === undefined) continue;
      // Where a time is not known exactly, it is never before that of the change before.
      time = laterOf(time, timeOf(found, this.#call.context.hints));
      const isGroupEnd = changes[at + 1]?.lsn !== found.lsn;
      const lsn = isGroupEnd ? found.lsn : found.lsn - 1;
      const start = { kind: 'after', lsn } as const;
      into.push({
        part,
        found,
        isGroupEnd,
        time,
        position:
          segment === undefined ? position : [...position.slice(0, -1), { ...segment, start }],
      });
    }
  }

  #eventParts(): EventParts {
    return {
      options: this.#options,
      hints: this.#call.context.hints,
      clock: this.#call.context.clusterClock,
      before: (change) => versionBefore(this.#service, change),
      lookup: (change) => currentDocument(this.#service, change),
    };
  }

  /** True for events that the client has seen before it resumed, or that are before its start. */
  #isSeen(change: FoundChange): boolean {
    const { startAt } = this.#options;
    if (startAt !== undefined) {
      const { high, low } = timeOf(change, this.#call.context.hints);
      if (high < startAt.high || (high === startAt.high && low < startAt.low)) {
        if (this.#call.context.hints.find(change.collection.container, change.lsn) !== undefined)
          return true;
      }
    }
    if (this.#last === undefined) return false;
    const [databaseRid, rid, lsn, operation] = this.#last;
    const { container } = change.collection;
    return (
      container.databaseRid === databaseRid &&
      container.rid === rid &&
      change.lsn === lsn &&
      change.operation <= operation
    );
  }

  async #page(part: StreamPart) {
    const request = {
      scope: { kind: 'container' } as const,
      start: { kind: 'position', position: part.position } as const,
      limit: PAGE_CHANGES,
      bytesMax: PAGE_BYTES,
    };
    const { container } = part.collection;
    const { changeFeed } = this.#service;
    if (part.isEarly) return changeFeed.read(container, { ...request, mode: 'latest' });
    try {
      const page = await changeFeed.read(container, { ...request, mode: 'all' });
      part.mayBeEarly &&= this.#options.startAt !== undefined;
      return page;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (!part.mayBeEarly) throw historyLost();
      // Versions were not kept at that time: what is there now is shown as inserted.
      part.isEarly = true;
      return changeFeed.read(container, { ...request, mode: 'latest' });
    }
  }

  /** Runs the stages and adds what they leave. */
  async #addEvent(
    event: Map<string, Bson>,
    into: LiveRow[],
    { place, inTime, ...marks }: EventMarks = {},
  ): Promise<void> {
    const state = this.#state();
    const token = printToken(
      { ...state, ...marks },
      eventTime(event, this.#call.context.clusterClock.time),
      inTime ?? placeOfSchemaEvent(this.#schemaPosition, marks),
    );
    this.#lastEvent = { token, state };
    const whole = new Map<string, Bson>([['_id', token], ...event]);
    for await (const batch of this.#run(one(whole)))
      for (const { document } of batch) into.push(...eventRows(document, token, place));
  }

  #state(): StreamState {
    const { changes } = this.#call.context;
    return {
      parts: [...this.#parts.values()].map(placeOfPart),
      ...(this.#last === undefined ? {} : { last: this.#last }),
      schema: [changes.process, this.#schemaPosition],
    };
  }

  async #readSchema(into: LiveRow[]): Promise<void> {
    if (this.#isLast) await this.#end(into);
    for (const change of this.#call.context.changes.after(this.#schemaPosition)) {
      if (this.isEnded) return;
      this.#schemaPosition = change.number;
      if (!concerns(this.#options, change)) continue;
      if (change.isExpanded && !this.#options.isExpanded) continue;
      const isLast = endsStream(this.#options, change);
      await this.#addEvent(schemaEvent(change, this.#options.isExpanded, this.#now()), into, {
        ...(isLast ? { isLast } : {}),
        ...(change.isExpanded ? { isExpanded: true } : {}),
      });
      if (isLast) await this.#end(into);
    }
  }

  #now(): EventTime {
    return { time: this.#call.context.clusterClock.time, wallMs: this.#service.clock.nowMs() };
  }

  async #end(into: LiveRow[]): Promise<void> {
    this.isEnded = true;
    await this.#addEvent(headerOf('invalidate', this.#now()), into, { isInvalidate: true });
  }
}

/** What tokens tell about their event beside its place. */
interface EventMarks extends Pick<StreamState, 'isInvalidate' | 'isLast' | 'isExpanded'> {
  readonly place?: EventPlace | undefined;
  /** Undefined: a change of a schema, or the end. */
  readonly inTime?: PlaceInTime;
}

function keyOf({ databaseRid, rid }: ContainerRecord): string {
  return `${databaseRid} ${rid}`;
}

async function* one(document: BsonDocument): Rows {
  yield [Row.of(document)];
}
