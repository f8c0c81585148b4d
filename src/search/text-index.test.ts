// Goal: counts, phrases and scores of the text index equal those of a scan of all texts, over changes and packing.
// Method: seeded random texts against the functions that queries use.
import { expect, test } from 'vitest';
import { seededRandom } from '../base/index.ts';
import { bm25 } from './bm25.ts';
import { TextIndex } from './text-index.ts';
import { countContentWords, tokenize } from './words.ts';

const SEED = Number(process.env.SEED ?? 20261115);
const WORDS = 'river stone light the amber cloud meadow of silver thunder'.split(' ');

function frequency(text: string, phrase: string): number {
  const words = tokenize(text);
  const wanted = tokenize(phrase);
  let count = 0;
  for (let at = 0; at + wanted.length <= words.length; at++)
    if (wanted.every((word, offset) => words[at + offset] === word)) count++;
  return count;
}

test(`counts and scores equal a scan of all texts (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  const index = new TextIndex('/text');
  const texts = new Map<number, string>();
  const word = () => WORDS[random.below(WORDS.length)] as string;
  for (let step = 0; step < 6000; step++) {
    const rid = 1 + random.below(300);
    if (random.below(5) === 0) {
      index.remove(rid);
      texts.delete(rid);
    } else {
      const text = Array.from({ length: random.below(12) }, word).join(' ');
      index.put(rid, text);
      texts.set(rid, text);
    }
  }
  index.put(999, 17);
  expect(index.count).toBe(texts.size);
  const lengths = [...texts.values()].map((text) => countContentWords(text));
  expect(index.wordCount).toBe(lengths.reduce((sum, length) => sum + length, 0));
  for (let round = 0; round < 30; round++) {
    const phrases = [word(), `${word()} ${word()}`, word()].slice(random.below(3));
    const holding = (phrase: string) =>
      [...texts].filter(([, text]) => frequency(text, phrase) > 0).map(([rid]) => rid);
    expect(phrases.map((phrase) => index.hitCount(phrase))).toEqual(
      phrases.map((phrase) => holding(phrase).length),
    );
    const sets = phrases.map((phrase) => new Set(holding(phrase)));
    const all = [...texts.keys()].filter((rid) => sets.every((set) => set.has(rid)));
    const any = [...texts.keys()].filter((rid) => sets.some((set) => set.has(rid)));
    expect([...index.containing(phrases, 'all')].sort()).toEqual(all.sort());
    expect([...index.containing(phrases, 'any')].sort()).toEqual(any.sort());
    const statistics = {
      documentCount: texts.size,
      wordCount: index.wordCount,
      hitCounts: sets.map((set) => set.size),
    };
    const expected = [...texts]
      .map(([rid, text]) => {
        const frequencies = phrases.map((phrase) => frequency(text, phrase));
        return { rid, score: bm25(frequencies, countContentWords(text), statistics) };
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || a.rid - b.rid)
      .slice(0, 20);
    const { rids, scores } = index.best(phrases, statistics, 20);
    expect(rids).toEqual(expected.map(({ rid }) => rid));
    expect(scores).toEqual(expected.map(({ score }) => score));
  }
});
