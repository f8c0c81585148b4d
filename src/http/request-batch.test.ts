// Goal: requests of one turn are processed together, stage by stage, and their responses leave together; after a long turn
// nothing waits. Method: plain streams, requests that only record their stage.

import { Writable } from 'node:stream';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type BatchStep, RequestBatch, STAGES, type Stage } from './request-batch.ts';

function streams(count: number, sent: string[]): readonly Writable[] {
  return Array.from(
    { length: count },
    (_, at) =>
      new Writable({
        decodeStrings: false,
        write(text, _encoding, done) {
          sent.push(`${at}:${text}`);
          done();
        },
      }),
  );
}

function respond(batch: RequestBatch, stream: Writable, text: string): void {
  batch.hold(stream);
  stream.write(text);
}

test('responses leave when the turn ends, those of a stream in order', async () => {
  const sent: string[] = [];
  const batch = new RequestBatch();
  const [a, b] = streams(2, sent) as [Writable, Writable];
  respond(batch, a, 'x');
  respond(batch, b, 'y');
  respond(batch, a, 'z');
  expect(sent).toEqual([]);
  await endOfTurn();
  expect(sent).toEqual(['0:x', '0:z', '1:y']);
  respond(batch, a, 'next');
  await endOfTurn();
  expect(sent.at(-1)).toBe('0:next');
});

test('a stream that ends does not wait', () => {
  const sent: string[] = [];
  const batch = new RequestBatch();
  const [a] = streams(1, sent) as [Writable];
  respond(batch, a, 'last');
  a.end();
  expect(sent).toEqual(['0:last']);
});

test('many do not wait for all', async () => {
  const sent: string[] = [];
  const batch = new RequestBatch();
  const all = streams(100, sent);
  for (const stream of all) respond(batch, stream, 'x');
  expect(sent).toHaveLength(96);
  await endOfTurn();
  expect(sent).toHaveLength(100);
});

test('after a long turn responses leave at once, for a while', async () => {
  const sent: string[] = [];
  const batch = new RequestBatch();
  const [a] = streams(1, sent) as [Writable];
  respond(batch, a, 'held');
  for (const endMs = performance.now() + 5; performance.now() < endMs; );
  await endOfTurn();
  expect(sent).toEqual(['0:held']);
  for (let count = 0; count < 200; count++) respond(batch, a, 'x');
  expect(sent).toHaveLength(201);
  respond(batch, a, 'held again');
  expect(sent).toHaveLength(201);
  await endOfTurn();
  expect(sent).toHaveLength(202);
});

/** A request that records each of its stages. */
class RecordedRequest implements BatchStep {
  readonly #batch: RequestBatch;
  readonly #name: string;
  readonly #stages: string[];
  readonly #onSent: () => void;
  #stage: Stage = STAGES.admit;

  constructor(
    batch: RequestBatch,
    name: string,
    stages: string[],
    onSent: () => void = () => undefined,
  ) {
    this.#batch = batch;
    this.#name = name;
    this.#stages = stages;
    this.#onSent = onSent;
    batch.await(this.#stage, this);
  }

  proceed(): void {
    this.#stages.push(`${this.#name}${this.#stage}`);
    if (this.#stage === STAGES.send) this.#onSent();
    else {
      this.#stage = this.#stage === STAGES.admit ? STAGES.respond : STAGES.send;
      this.#batch.await(this.#stage, this);
    }
  }
}

test('requests of one turn pass each stage together, those of later turns after them', async () => {
  const stages: string[] = [];
  const batch = new RequestBatch();
  for (const name of ['a', 'b', 'c']) new RecordedRequest(batch, name, stages);
  expect(stages).toEqual([]);
  await endOfTurn();
  expect(stages.join(' ')).toBe('a0 b0 c0 a1 b1 c1 a2 b2 c2');
});

test('the next request of a connection that just got its response waits for the next turn', async () => {
  const stages: string[] = [];
  const batch = new RequestBatch();
  new RecordedRequest(batch, 'a', stages, () => new RecordedRequest(batch, 'next', stages));
  new RecordedRequest(batch, 'b', stages);
  await endOfTurn();
  expect(stages.join(' ')).toBe('a0 b0 a1 b1 a2 b2');
  await endOfTurn();
  expect(stages.slice(6).join(' ')).toBe('next0 next1 next2');
});

test('many requests do not wait for all', async () => {
  const stages: string[] = [];
  const batch = new RequestBatch();
  for (let count = 0; count < 40; count++) new RecordedRequest(batch, 'x', stages);
  expect(stages).toHaveLength(32 * 3);
  await endOfTurn();
  expect(stages).toHaveLength(40 * 3);
});

test('after a long turn requests are processed at once', async () => {
  const stages: string[] = [];
  const batch = new RequestBatch();
  new RecordedRequest(batch, 'a', stages);
  for (const endMs = performance.now() + 5; performance.now() < endMs; );
  await endOfTurn();
  new RecordedRequest(batch, 'b', stages);
  expect(stages.join(' ')).toBe('a0 a1 a2 b0 b1 b2');
});
