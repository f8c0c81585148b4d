// Goal: lightweight transactions are linearizable, and kill -9 loses no acknowledged write. Method: clients compare and
// set registers to values that are written once, while the server is killed twice; the history is checked afterwards.
import cassandra, { type Client } from 'cassandra-driver';
import { expect, test } from 'vitest';
import { ChildServer } from '../server/child-server.ts';
import { newStorage, TIMEOUT_MS } from './storage.ts';

const WORKERS = 8;
const REGISTERS = 3;
/** Acknowledged operations after which the server is killed, or the last round ends. */
const OPERATIONS = process.env.MESOCOSM_LONG === '1' ? 2000 : 200;

/** One compare and set. Places in time are numbers that grow with every beginning and end. */
interface Attempt {
  readonly register: number;
  readonly from: number;
  readonly to: number;
  readonly begin: number;
  end: number;
  /** seen: it was not applied, and this was the value. unknown: no reply came. */
  outcome: 'applied' | 'unknown' | { readonly seen: number };
}

test('compare and set under concurrency and kill -9', { timeout: TIMEOUT_MS }, async () => {
  const flags = [...newStorage(), '--cassandra-port', '0'];
  const history: Attempt[] = [];
  const world = { time: 0, nextValue: 1, history };
  let final: readonly number[] = [];
  for (let round = 0; round < 3; round++) {
    const server = await ChildServer.start([...flags, '--throughput', 'report']);
    const client = await connect(server);
    if (round === 0) await createRegisters(client);
    const isLast = round === 2;
    let acknowledged = 0;
    let isOver = false;
    const stop = async (): Promise<void> => {
      isOver = true;
      if (!isLast) await server.stop('SIGKILL');
    };
    const onReply = (): void => {
      if (++acknowledged === OPERATIONS) void stop();
    };
    await Promise.all(
      Array.from({ length: WORKERS }, (_, at) => work(client, at, world, () => isOver, onReply)),
    );
    if (isLast) final = await readRegisters(client);
    await client.shutdown().catch(() => undefined);
    await server.stop('SIGKILL');
  }
  for (let register = 0; register < REGISTERS; register++)
    check(
      history.filter((attempt) => attempt.register === register),
      final[register] as number,
    );
});

async function connect(server: ChildServer): Promise<Client> {
  const { host } = new URL(
    `tcp://${String(server.ready.endpoints.cassandra).replace(/^\w+:\/\//, '')}`,
  );
  const client = new cassandra.Client({
    contactPoints: [host],
    localDataCenter: 'datacenter1',
    credentials: { username: 'localhost', password: server.ready.key },
    socketOptions: { readTimeout: 20_000 },
  });
  await client.connect();
  return client;
}

async function createRegisters(client: Client): Promise<void> {
  await client.execute(
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
  );
  await client.execute('CREATE TABLE k.registers (id int PRIMARY KEY, v int)');
  for (let id = 0; id < REGISTERS; id++)
    await client.execute('INSERT INTO k.registers (id, v) VALUES (?, 0) IF NOT EXISTS', [id], {
      prepare: true,
    });
}

async function readRegisters(client: Client): Promise<readonly number[]> {
  const { rows } = await client.execute('SELECT id, v FROM k.registers');
  return rows.toSorted((a, b) => a.id - b.id).map((row) => row.v);
}

async function work(
  client: Client,
  worker: number,
  world: { time: number; nextValue: number; readonly history: Attempt[] },
  isOver: () => boolean,
  onReply: () => void,
): Promise<void> {
  const last = new Map<number, number>();
  for (let step = worker; !isOver(); step++) {
    const register = step % REGISTERS;
    const attempt: Attempt = {
      register,
      from: last.get(register) ?? 0,
      to: world.nextValue++,
      begin: world.time++,
      end: Number.POSITIVE_INFINITY,
      outcome: 'unknown',
    };
    world.history.push(attempt);
    try {
      const { rows } = await client.execute(
        'UPDATE k.registers SET v = ? WHERE id = ? IF v = ?',
        [attempt.to, register, attempt.from],
        { prepare: true, isIdempotent: false },
      );
      const seen = rows[0]?.['[applied]'] ? undefined : (rows[0]?.v as number);
      attempt.end = world.time++;
      attempt.outcome = seen === undefined ? 'applied' : { seen };
      last.set(register, seen ?? attempt.to);
      onReply();
    } catch {
      if (isOver()) return;
      last.delete(register);
    }
  }
}

/** The values of a register are a chain: each attempt that was applied followed the value that it expected. */
function check(attempts: readonly Attempt[], final: number): void {
  const byTarget = new Map(attempts.map((attempt) => [attempt.to, attempt]));
  const chain: Attempt[] = [];
  for (let value = final; value !== 0; ) {
    const attempt = byTarget.get(value);
    expect(attempt, `value ${value} was written`).toBeDefined();
    if (attempt === undefined) return;
    expect(attempt.outcome === 'applied' || attempt.outcome === 'unknown').toBe(true);
    chain.unshift(attempt);
    value = attempt.from;
  }
  const place = new Map(chain.map((attempt, at) => [attempt.to, at + 1]));
  place.set(0, 0);
  // Nothing that was acknowledged is missing, and no value was replaced twice.
  for (const { outcome, to } of attempts)
    if (outcome === 'applied') expect(place.has(to)).toBe(true);
  for (const attempt of attempts) {
    if (attempt.outcome === 'unknown') continue;
    const at = place.get(typeof attempt.outcome === 'object' ? attempt.outcome.seen : attempt.to);
    expect(at, 'what was seen was there').toBeDefined();
    for (const other of chain) {
      const otherAt = place.get(other.to) as number;
      if (other.end < attempt.begin) expect(otherAt).toBeLessThanOrEqual(at as number);
      if (attempt.end < other.begin) expect(otherAt).toBeGreaterThan(at as number);
    }
  }
}
