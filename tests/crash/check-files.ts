/** Reads what a killed server has stored, without a server and compares them with the books, item by item, byte by byte. */
import { expect } from 'vitest';
import type { ContainerRecord } from '../../src/catalog/index.ts';
import { itemChecksum } from '../../src/partition/item/record.ts';
import type { Service } from '../../src/service/index.ts';
import { openStored, type StorageFlags } from './storage.ts';
import type { Writer } from './writer.ts';

export async function checkFiles(
  storage: StorageFlags,
  writers: readonly Writer[],
  seededItems: number,
): Promise<void> {
  const { service, close } = await openStored(storage);
  try {
    const database = service.databases.find('d');
    const containers = database === undefined ? [] : service.containers.list(database);
    expect(containers.map(({ id }) => id).sort()).toEqual(['big', 'small']);
    for (const container of containers)
      await checkContainer(service, container, writers, seededItems);
  } finally {
    await close();
  }
}

async function checkContainer(
  service: Service,
  container: ContainerRecord,
  writers: readonly Writer[],
  seededItems: number,
): Promise<void> {
  const written = new Map<string, unknown>();
  let seeded = 0;
  for (const route of service.containers.routes(container)) {
    const found = { itemCount: 0, itemBytes: 0, checksum: 0 };
    let continuation: string | undefined;
    do {
      const page = await service.items.feed(container, {
        scope: { kind: 'partition', id: route.partition.id },
        continuation,
        limit: 5000,
        bytesMax: 4 * 1024 * 1024,
        sessionToken: undefined,
      });
      for (const item of page.items) {
        found.itemCount++;
        found.itemBytes += item.record.length;
        found.checksum = (found.checksum ^ itemChecksum(item)) >>> 0;
        const { id, pk, version, text } = JSON.parse(Buffer.from(item.body).toString());
        if (version === undefined) seeded++;
        else written.set(id, { id, pk, version, text });
      }
      continuation = page.continuation;
    } while (continuation !== undefined);
    const { itemCount, itemBytes, checksum } = await service.containers.statistics(route);
    expect({ itemCount, itemBytes, checksum: checksum >>> 0 }).toEqual(found);
  }
  expect(seeded).toBe(container.id === 'big' ? seededItems : 0);
  checkLedgers(container.id, writers, written);
}

function checkLedgers(
  container: string,
  writers: readonly Writer[],
  written: Map<string, unknown>,
): void {
  for (const { ledger } of writers)
    for (const [id, entry] of ledger) {
      if (entry.container !== container) continue;
      const { acknowledged, pending } = entry;
      const states = pending === undefined ? [acknowledged] : [acknowledged, pending ?? undefined];
      expect(states, `${container}/${id}`).toContainEqual(written.get(id));
      written.delete(id);
    }
  // No item exists that was never written.
  expect([...written.keys()]).toEqual([]);
}
