/** The item of the bench: about 1 KB of JSON with the mix of leaves that documents of applications have. */

const ITEM_BYTES = 1024;
const KEYS = 100;

/** Ids have a fixed width, so that every request of a workload has the same length. */
export function itemId(number: number): string {
  return `item-${String(number).padStart(9, '0')}`;
}

/** One of a hundred logical partitions, from the id alone. */
export function partitionKeyOf(number: number): string {
  return `key-${String(number % KEYS).padStart(2, '0')}`;
}

/** Everything after id and key, made once. */
const REST = restText();

export function itemText(id: string, partitionKey: string): string {
  return `{"id":"${id}","pk":"${partitionKey}",${REST}`;
}

function restText(): string {
  const rest = {
    name: 'Oresund bridge, southern pylon',
    isActive: true,
    rank: 1724,
    score: 0.7351,
    created: '2026-11-15T12:00:00Z',
    position: { type: 'Point', coordinates: [12.8273, 55.5699] },
    owner: { name: 'Ada', team: 'structures', level: 3 },
    tags: ['bridge', 'steel', 'inspected', 'summer'],
    readings: [12.5, 12.75, 13, 12.25, 11.5],
    note: '',
  };
  const before = `{"id":"${itemId(0)}","pk":"${partitionKeyOf(0)}",`.length;
  const missing = ITEM_BYTES - before - (JSON.stringify(rest).length - 1);
  const note = 'lorem ipsum '.repeat(80).slice(0, missing);
  return JSON.stringify({ ...rest, note }).slice(1);
}
