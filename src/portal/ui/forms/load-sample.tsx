/** Sample data: orders of a shop in which one customer takes far too much. */
import { useState } from 'preact/hooks';
import { refreshAccount } from '../lib/account.ts';
import { ApiError, nosql } from '../lib/api.ts';
import { count } from '../lib/format.ts';
import { startTour } from '../parts/tour.tsx';
import { FormDialog } from './form.tsx';

const DB = 'shop';
const CONTAINER = 'orders';
const BATCH = 100;
const HOT_BATCHES = 40;
const CUSTOMERS = 200;
const ORDERS_EACH = 30;
const TOTAL = HOT_BATCHES * BATCH + CUSTOMERS * ORDERS_EACH;
const AT_ONCE = 4;

export function LoadSample() {
  const [done, setDone] = useState(0);
  const load = async (): Promise<void> => {
    await ignoreExisting(() =>
      nosql(['dbs'], { method: 'POST', body: JSON.stringify({ id: DB }) }),
    );
    await ignoreExisting(() =>
      nosql(['dbs', DB, 'colls'], {
        method: 'POST',
        headers: { 'x-ms-offer-throughput': '25000' },
        body: JSON.stringify({
          id: CONTAINER,
          partitionKey: { paths: ['/customer'], kind: 'Hash', version: 2 },
        }),
      }),
    );
    const batches = sampleBatches();
    let written = 0;
    const worker = async (): Promise<void> => {
      for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
        await write(batch);
        written += batch.length;
        setDone(written);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    await refreshAccount();
    startTour();
  };
  return (
    <FormDialog title="Load sample data" action="Load" onSubmit={load}>
      <p>
        Makes <code>shop/orders</code> with 25,000 RU/s, so three partitions, and writes{' '}
        {count(TOTAL)} orders. Customer <code>amazon</code> has 40 % of them.
      </p>
      <progress max={TOTAL} value={done} aria-label="Orders written" />
      <p class="muted">
        {count(done)} of {count(TOTAL)}
      </p>
    </FormDialog>
  );
}

interface Order {
  readonly id: string;
  readonly customer: string;
}

function sampleBatches(): (readonly Order[])[] {
  const cities = ['Berlin', 'Lagos', 'Lima', 'Osaka', 'Oslo', 'Pune', 'Quito', 'Turin'];
  const order = (customer: string, at: number): Order & Record<string, unknown> => ({
    id: `${customer}-${at}`,
    customer,
    total: Math.round((5 + ((at * 7919) % 49_000) / 100) * 100) / 100,
    city: cities[(at * 31 + customer.length) % cities.length],
    items: 1 + (at % 7),
    at: new Date(1_780_000_000_000 + at * 61_000).toISOString(),
    note: 'left at the door'.repeat(1 + (at % 5)),
  });
  const many = (customer: string, from: number, length: number) =>
    Array.from({ length }, (_, at) => order(customer, from + at));
  return [
    ...Array.from({ length: HOT_BATCHES }, (_, at) => many('amazon', at * BATCH, BATCH)),
    ...Array.from({ length: CUSTOMERS }, (_, at) => many(`c${1000 + at}`, 0, ORDERS_EACH)),
  ];
}

/** Orders of one customer in one transaction. */
async function write(orders: readonly Order[]): Promise<void> {
  const [first] = orders;
  await nosql(['dbs', DB, 'colls', CONTAINER, 'docs'], {
    method: 'POST',
    headers: {
      'x-ms-cosmos-is-batch-request': 'True',
      'x-ms-cosmos-batch-atomic': 'True',
      'x-ms-documentdb-partitionkey': JSON.stringify([first?.customer]),
    },
    body: JSON.stringify(orders.map((resourceBody) => ({ operationType: 'Upsert', resourceBody }))),
  });
}

async function ignoreExisting(create: () => Promise<unknown>): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  }
}
