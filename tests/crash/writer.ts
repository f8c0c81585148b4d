/**
 * A client that writes without end and keeps books: what each of its items must be, and what the write under way would
 * make of it. Items belong to one writer, so that its books are the whole truth about them.
 */
import { Agent } from 'node:http';
import type { Random } from '../../src/base/index.ts';
import { send, type WireRequest } from '../server/wire.ts';

export interface Content {
  readonly id: string;
  readonly pk: string;
  readonly version: number;
  readonly text: string;
}

/** The ledger of one item. `pending` was sent and not acknowledged: null is a deletion. */
export interface LedgerEntry {
  readonly container: string;
  acknowledged: Content | undefined;
  pending: Content | null | undefined;
  /** As it was written last: who it is, also when it is gone. */
  last: Content;
  /** When it was touched last. */
  round: number;
}

const LIVE_ITEMS_MAX = 200;
const TEXT_BYTES_MAX = 3000;

export class Writer {
  readonly ledger = new Map<string, LedgerEntry>();
  readonly #name: string;
  readonly #random: Random;
  readonly #containers: readonly string[];
  acknowledged = 0;
  #made = 0;

  constructor(name: string, containers: readonly string[], random: Random) {
    this.#name = name;
    this.#containers = containers;
    this.#random = random;
  }

  /** Writes until the connection breaks. A response that is no success fails the test. */
  async writeUntilBroken(port: number, round: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      for (;;) {
        const [entry, request, expected] = this.#choose();
        entry.round = round;
        let status: number;
        try {
          ({ status } = await send(port, agent, request));
        } catch {
          return;
        }
        if (status !== expected) throw new Error(`${request.verb} returned ${status}`);
        entry.acknowledged = entry.pending ?? undefined;
        entry.pending = undefined;
        this.acknowledged++;
      }
    } finally {
      agent.destroy();
    }
  }

  #choose(): [LedgerEntry, WireRequest, number] {
    const live = [...this.ledger.values()].filter(({ acknowledged }) => acknowledged !== undefined);
    const dice = this.#random.below(10);
    if (live.length === 0 || (dice < 5 && live.length < LIVE_ITEMS_MAX)) return this.#create();
    const entry = live[this.#random.below(live.length)] as LedgerEntry;
    const current = entry.acknowledged as Content;
    if (dice < 8) {
      entry.pending = { ...current, version: current.version + 1, text: this.#text() };
      entry.last = entry.pending;
      const body = JSON.stringify(entry.pending);
      return [entry, { ...itemRequest(entry.container, current), verb: 'PUT', body }, 200];
    }
    entry.pending = null;
    return [entry, { ...itemRequest(entry.container, current), verb: 'DELETE' }, 204];
  }

  #create(): [LedgerEntry, WireRequest, number] {
    const id = `${this.#name}-${this.#made++}`;
    const pk = `k${this.#random.below(20)}`;
    const container = this.#containers[this.#random.below(this.#containers.length)] as string;
    const content = { id, pk, version: 1, text: this.#text() };
    const entry: LedgerEntry = {
      container,
      acknowledged: undefined,
      pending: content,
      last: content,
      round: 0,
    };
    this.ledger.set(id, entry);
    const { path, headers } = itemRequest(container, content);
    const body = JSON.stringify(content);
    return [entry, { verb: 'POST', path: path.slice(0, -1), headers, body }, 201];
  }

  #text(): string {
    const letter = String.fromCharCode(97 + this.#random.below(26));
    return letter.repeat(this.#random.below(TEXT_BYTES_MAX));
  }
}

/** The request that reads an item; the other verbs differ in little. */
export function itemRequest(container: string, { id, pk }: Pick<Content, 'id' | 'pk'>) {
  return {
    verb: 'GET',
    path: ['dbs', 'd', 'colls', container, 'docs', id],
    headers: { 'x-ms-documentdb-partitionkey': JSON.stringify([pk]) },
  };
}
