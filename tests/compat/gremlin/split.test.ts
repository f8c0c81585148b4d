// Goal: partitions split while 16 clients add, drop and traverse: nothing is lost and no edge leads nowhere. Method: each
// client writes its share and remembers what was acknowledged; in the end the graph is compared with all of that.
import type { Client } from 'gremlin';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DomainError, seededRandom } from '../../../src/base/index.ts';
import { type Account, ENGINES, MIMES, recordOf, startAccount } from './harness.ts';

const CLIENTS = 16;
const VERTICES = 16;
const SPLITS = 5;
const SEED = Number(process.env.MESOCOSM_SEED ?? 11);
/** Others wrote what the script read, or the element was dropped in between: nothing was applied. */
const RETRIED = new Set([404, 412]);

interface Link {
  readonly id: string;
  readonly from: string;
  readonly to: string;
}

/** What clients know to be in the graph. */
class Model {
  readonly vertices = new Set<string>();
  readonly dropped = new Set<string>();
  readonly links: Link[] = [];

  present(): string[] {
    return [...this.vertices].filter((id) => !this.dropped.has(id));
  }
}

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;

  beforeAll(async () => {
    account = await startAccount({ engine });
  });

  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  async function values(client: Client, script: string, bindings: object): Promise<unknown[]> {
    for (;;)
      try {
        return (await client.submit(script, bindings)).toArray();
      } catch (error) {
        const { statusAttributes } = error as { statusAttributes?: Record<string, unknown> };
        if (!RETRIED.has(Number(statusAttributes?.['x-ms-status-code']))) throw error;
      }
  }

  /** Adds vertices, each with an edge from it and to it, drops some, and reads what it has written. */
  async function work(name: number, model: Model): Promise<void> {
    const random = seededRandom(SEED + name);
    const client = account.client({ mimeType: MIMES.graphson2 });
    const link = async (id: string, from: string, to: string): Promise<void> => {
      const script =
        'g.V([from,from]).as("f").V([to,to]).addE("k").from("f").property("id",id).id()';
      const added = await values(client, script, { id, from, to });
      if (added.length > 0) model.links.push({ id, from, to });
      else expect(model.dropped.has(from) || model.dropped.has(to)).toBe(true);
    };
    for (let count = 0; count < VERTICES; count++) {
      const id = `v${name}-${count}`;
      await values(client, 'g.addV("t").property("id",id).property("pk",id)', { id });
      model.vertices.add(id);
      const known = model.present();
      const other = known[random.below(known.length)] as string;
      await link(`${id}-out`, id, other);
      await link(`${id}-in`, other, id);
      const seen = await values(client, 'g.V([id,id]).outE("k").id()', { id });
      if (!model.dropped.has(id) && !model.dropped.has(other)) expect(seen).toContain(`${id}-out`);
      if (count % 4 !== 3) continue;
      // From here on others may find it gone, before the drop is acknowledged.
      model.dropped.add(other);
      await values(client, 'g.V([other,other]).drop()', { other });
    }
  }

  test(`nothing is lost and no edge leads nowhere (seed ${SEED})`, async () => {
    const model = new Model();
    const random = seededRandom(SEED);
    const clients = Promise.all(Array.from({ length: CLIENTS }, (_, name) => work(name, model)));
    let isDone = false;
    const ended = clients.finally(() => {
      isDone = true;
    });
    for (let split = 1; split <= SPLITS; split++) {
      const share = (split * CLIENTS * VERTICES) / (SPLITS + 1);
      while (model.vertices.size < share && !isDone)
        await new Promise((resolve) => setImmediate(resolve));
      const { partitions } = recordOf(account.service);
      const chosen = partitions[random.below(partitions.length)]?.id as string;
      await account.service.resizer
        .split(recordOf(account.service), chosen)
        .catch((error: DomainError) => expect(error.message).toMatch(/cannot be split/));
    }
    await ended;
    expect(recordOf(account.service).partitions.length).toBeGreaterThan(3);
    const client = account.client({ mimeType: MIMES.graphson2 });
    const all = (script: string): Promise<unknown[]> => values(client, script, {});
    const vertices = new Set(model.present());
    const links = model.links.filter(({ from, to }) => vertices.has(from) && vertices.has(to));
    expect((await all('g.V().id()')).sort()).toEqual([...vertices].sort());
    const ids = links.map(({ id }) => id).sort();
    expect((await all('g.E().id()')).sort()).toEqual(ids);
    expect((await all('g.V().outE().id()')).sort()).toEqual(ids);
    expect((await all('g.V().inE().id()')).sort()).toEqual(ids);
    const ends = (side: 'from' | 'to'): string[] => links.map((link) => link[side]).sort();
    expect((await all('g.E().outV().values("id")')).sort()).toEqual(ends('from'));
    expect((await all('g.E().inV().values("id")')).sort()).toEqual(ends('to'));
  });
});
