/** Copies all stores of one engine to another and compares the copies. The catalog comes last: without it a copy is none. */
import { createHash, type Hash } from 'node:crypto';
import { type Bytes, keyAfter } from '../../base/index.ts';
import type { Engine, Entry, ReadView, Store } from '../../engine/index.ts';
import { CATALOG_STORE } from '../../service/index.ts';
import { ExitError } from '../exit-error.ts';
import { SERVER_STORE } from './server-store.ts';

const PAGE = { limit: 1000, bytesMax: 4 * 1024 * 1024 };
const START: Bytes = new Uint8Array(0);

export interface CopyProgress {
  readonly stores: number;
  readonly storesTotal: number;
  readonly entries: number;
  readonly bytes: number;
  readonly step: 'copying' | 'verifying';
}

interface Checked {
  readonly entries: number;
  readonly bytes: number;
  /** Over all keys and values in order. */
  readonly checksum: string;
}

/** Throws ExitError where the target has data, or a copy differs. */
export async function copyStores(
  from: Engine,
  to: Engine,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyProgress> {
  await prepareTarget(to);
  const names = (await from.list()).filter((name) => name !== SERVER_STORE);
  if (!names.includes(CATALOG_STORE)) throw new ExitError(1, 'the source has no catalog.');
  names.sort((one, other) => Number(one === CATALOG_STORE) - Number(other === CATALOG_STORE));
  let progress: CopyProgress = {
    stores: 0,
    storesTotal: names.length,
    entries: 0,
    bytes: 0,
    step: 'copying',
  };
  for (const name of names) {
    const report = ({ entries, bytes }: Entries, step: CopyProgress['step']) =>
      onProgress({
        ...progress,
        entries: progress.entries + entries,
        bytes: progress.bytes + bytes,
        step,
      });
    const { entries, bytes } = await copyStore(from, to, name, report);
    progress = {
      ...progress,
      stores: progress.stores + 1,
      entries: progress.entries + entries,
      bytes: progress.bytes + bytes,
    };
    onProgress(progress);
  }
  return progress;
}

type Entries = Pick<Checked, 'entries' | 'bytes'>;
type Report = (entries: Entries, step: CopyProgress['step']) => void;

/** Stores without a catalog are what an interrupted copy left. */
async function prepareTarget(to: Engine): Promise<void> {
  const names = (await to.list()).filter((name) => name !== SERVER_STORE);
  if (names.includes(CATALOG_STORE))
    throw new ExitError(1, 'the target has data already. Give an empty one.');
  for (const name of names) await to.drop(name);
}

async function copyStore(from: Engine, to: Engine, name: string, report: Report): Promise<Checked> {
  const [source, target] = [await from.open(name), await to.open(name)];
  try {
    const written = await walk(source, async (entries, soFar) => {
      await target.commit({ puts: entries });
      report(soFar, 'copying');
    });
    const found = await walk(target, async () => report(written, 'verifying'));
    if (written.entries !== found.entries || written.checksum !== found.checksum)
      throw new ExitError(
        1,
        `store ${name} differs after the copy: ${written.entries} entries with checksum ${written.checksum}, found ${found.entries} with ${found.checksum}.`,
      );
    return written;
  } finally {
    await source.close();
    await target.close();
  }
}

/** All entries of one state, page by page. */
async function walk(
  store: Store,
  visit: (entries: readonly Entry[], soFar: Entries) => Promise<void>,
): Promise<Checked> {
  const snapshot = await store.snapshot();
  try {
    return await walkView(snapshot, visit);
  } finally {
    snapshot.release();
  }
}

async function walkView(
  view: ReadView,
  visit: (entries: readonly Entry[], soFar: Entries) => Promise<void>,
): Promise<Checked> {
  const hash = createHash('sha256');
  let [entries, bytes] = [0, 0];
  for (let start: Bytes = START, more = true; more; ) {
    const page = await view.scan({ start, end: undefined }, PAGE);
    for (const entry of page.entries) {
      addTo(hash, entry);
      bytes += entry.key.length + entry.value.length;
    }
    entries += page.entries.length;
    if (page.entries.length > 0) await visit(page.entries, { entries, bytes });
    const last = page.entries.at(-1);
    if (last !== undefined) start = keyAfter(last.key);
    more = page.more;
  }
  return { entries, bytes, checksum: hash.digest('hex').slice(0, 16) };
}

function addTo(hash: Hash, { key, value }: Entry): void {
  const lengths = Buffer.allocUnsafe(8);
  lengths.writeUInt32BE(key.length, 0);
  lengths.writeUInt32BE(value.length, 4);
  hash.update(lengths).update(key).update(value);
}
