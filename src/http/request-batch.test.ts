// Goal: what arrives in one turn goes its way together, stage by stage, and leaves together at its end; a long turn is not
// waited for. Method: plain streams, requests that only tell their stage.

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

function answer(turn: RequestBatch, stream: Writable, text: string): void {
  turn.hold(stream);
  stream.write(text);
}

test('answers leave when the turn ends, those of a stream in order', async () => {
  const sent: string[] = [];
  const turn = new RequestBatch();
  const [a, b] = streams(2, sent) as [Writable, Writable];
  answer(turn, a, 'x');
  answer(turn, b, 'y');
  answer(turn, a, 'z');
  expect(sent).toEqual([]);
  await endOfTurn();
  expect(sent).toEqual(['0:x', '0:z', '1:y']);
  answer(turn, a, 'next');
  await endOfTurn();
  expect(sent.at(-1)).toBe('0:next');
});

test('a stream that ends does not wait', () => {
  const sent: string[] = [];
  const turn = new RequestBatch();
  const [a] = streams(1, sent) as [Writable];
  answer(turn, a, 'last');
  a.end();
  expect(sent).toEqual(['0:last']);
});

test('many do not wait for all', async () => {
  const sent: string[] = [];
  const turn = new RequestBatch();
  const all = streams(100, sent);
  for (const stream of all) answer(turn, stream, 'x');
  expect(sent).toHaveLength(96);
  await endOfTurn();
  expect(sent).toHaveLength(100);
});

test('after a turn that took long answers leave as they come, for a while', async () => {
  const sent: string[] = [];
  const turn = new RequestBatch();
  const [a] = streams(1, sent) as [Writable];
  answer(turn, a, 'held');
  for (const endMs = performance.now() + 5; performance.now() < endMs; );
  await endOfTurn();
  expect(sent).toEqual(['0:held']);
  for (let count = 0; count < 200; count++) answer(turn, a, 'x');
  expect(sent).toHaveLength(201);
  answer(turn, a, 'held again');
  expect(sent).toHaveLength(201);
  await endOfTurn();
  expect(sent).toHaveLength(202);
});

/** Goes from its first stage to the last and tells each. */
class Told implements BatchStep {
  readonly #turn: RequestBatch;
  readonly #name: string;
  readonly #told: string[];
  readonly #onSent: () => void;
  #stage: Stage = STAGES.admit;

  constructor(
    turn: RequestBatch,
    name: string,
    told: string[],
    onSent: () => void = () => undefined,
  ) {
    this.#turn = turn;
    this.#name = name;
    this.#told = told;
    this.#onSent = onSent;
    turn.await(this.#stage, this);
  }

  proceed(): void {
    this.#told.push(`${this.#name}${this.#stage}`);
    if (this.#stage === STAGES.send) this.#onSent();
    else {
      this.#stage = this.#stage === STAGES.admit ? STAGES.answer : STAGES.send;
      this.#turn.await(this.#stage, this);
    }
  }
}

test('requests of one turn pass each stage together, those of later turns after them', async () => {
  const told: string[] = [];
  const turn = new RequestBatch();
  for (const name of ['a', 'b', 'c']) new Told(turn, name, told);
  expect(told).toEqual([]);
  await endOfTurn();
  expect(told.join(' ')).toBe('a0 b0 c0 a1 b1 c1 a2 b2 c2');
});

test('the next request of a connection that has just been answered waits for the next turn', async () => {
  const told: string[] = [];
  const turn = new RequestBatch();
  new Told(turn, 'a', told, () => new Told(turn, 'next', told));
  new Told(turn, 'b', told);
  await endOfTurn();
  expect(told.join(' ')).toBe('a0 b0 a1 b1 a2 b2');
  await endOfTurn();
  expect(told.slice(6).join(' ')).toBe('next0 next1 next2');
});

test('many requests do not wait for all', async () => {
  const told: string[] = [];
  const turn = new RequestBatch();
  for (let count = 0; count < 40; count++) new Told(turn, 'x', told);
  expect(told).toHaveLength(32 * 3);
  await endOfTurn();
  expect(told).toHaveLength(40 * 3);
});

test('after a turn that took long requests go their way as they come', async () => {
  const told: string[] = [];
  const turn = new RequestBatch();
  new Told(turn, 'a', told);
  for (const endMs = performance.now() + 5; performance.now() < endMs; );
  await endOfTurn();
  new Told(turn, 'b', told);
  expect(told.join(' ')).toBe('a0 a1 a2 b0 b1 b2');
});
