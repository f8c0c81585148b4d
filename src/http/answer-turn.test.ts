// Goal: what is answered in one turn leaves together at its end, and a long turn is not waited for. Method: plain streams.

import { Writable } from 'node:stream';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AnswerTurn } from './answer-turn.ts';

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

function answer(turn: AnswerTurn, stream: Writable, text: string): void {
  turn.hold(stream);
  stream.write(text);
}

test('answers leave when the turn ends, those of a stream in order', async () => {
  const sent: string[] = [];
  const turn = new AnswerTurn();
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
  const turn = new AnswerTurn();
  const [a] = streams(1, sent) as [Writable];
  answer(turn, a, 'last');
  a.end();
  expect(sent).toEqual(['0:last']);
});

test('many do not wait for all', async () => {
  const sent: string[] = [];
  const turn = new AnswerTurn();
  const all = streams(100, sent);
  for (const stream of all) answer(turn, stream, 'x');
  expect(sent).toHaveLength(96);
  await endOfTurn();
  expect(sent).toHaveLength(100);
});

test('after a turn that took long answers leave as they come, for a while', async () => {
  const sent: string[] = [];
  const turn = new AnswerTurn();
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
