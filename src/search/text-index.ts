/**
 * The words of one path of a partition: which items contain a word and how often, and the words of every item in
 * order, for phrases. Counts and scores are exactly those of a scan of all items.
 */
import { bm25Part, type TextStatistics } from './bm25.ts';
import type { TextLanguage } from './text-libraries.ts';
import { countContentWords, tokenize } from './words.ts';

interface PostingList {
  /** Document numbers, ascending, and how often each document contains the word. */
  readonly documents: number[];
  readonly counts: number[];
  /** Documents of the list that were not removed. */
  liveCount: number;
}

interface TextDocument {
  readonly rid: number;
  /** The numbers of its words, in order. */
  readonly words: Uint32Array;
  /** The length of the text for its score: words that are not stop words. */
  readonly length: number;
}

/** Items by rid, best first. */
interface ScoredTexts {
  readonly rids: readonly number[];
  readonly scores: readonly number[];
}

/**
 * Removed documents leave gaps. The index is packed when there are more gaps than documents, and at least this many.
 */
const GAPS_MIN = 1000;
/** Results kept beyond the wanted ones before the rest is dropped, so that sorting is rare. */
const EXTRA_RESULTS = 256;

export class TextIndex {
  readonly path: string;
  readonly #language: TextLanguage;
  readonly #wordNumbers = new Map<string, number>();
  #postingLists: PostingList[] = [];
  #documents: (TextDocument | undefined)[] = [];
  readonly #byRid = new Map<number, number>();
  #wordCount = 0;
  #storedWords = 0;

  constructor(path: string, language: TextLanguage = 'en') {
    this.path = path;
    this.#language = language;
  }

  /** Documents that have a text. */
  get count(): number {
    return this.#byRid.size;
  }

  /** The lengths of all documents together. */
  get wordCount(): number {
    return this.#wordCount;
  }

  get bytes(): number {
    return this.#storedWords * 24 + this.#wordNumbers.size * 150 + this.#documents.length * 200;
  }

  /** Indexes the text of an item; any other value removes the item. */
  put(rid: number, value: unknown): void {
    this.remove(rid);
    if (typeof value !== 'string') return;
    const words = Uint32Array.from(tokenize(value, this.#language), (word) =>
      this.#numberOfWord(word),
    );
    const document = this.#documents.length;
    const length = countContentWords(value, this.#language);
    this.#documents.push({ rid, words, length });
    this.#byRid.set(rid, document);
    this.#wordCount += length;
    this.#storedWords += words.length;
    for (const [word, count] of countsOf(words)) {
      const posting = this.#postingLists[word] as PostingList;
      posting.documents.push(document);
      posting.counts.push(count);
      posting.liveCount++;
    }
  }

  remove(rid: number): void {
    const number = this.#byRid.get(rid);
    const document = number === undefined ? undefined : this.#documents[number];
    if (number === undefined || document === undefined) return;
    this.#byRid.delete(rid);
    this.#documents[number] = undefined;
    this.#wordCount -= document.length;
    this.#storedWords -= document.words.length;
    for (const word of new Set(document.words))
      (this.#postingLists[word] as PostingList).liveCount--;
    const gaps = this.#documents.length - this.#byRid.size;
    if (gaps > Math.max(GAPS_MIN, this.#byRid.size)) this.#pack();
  }

  /** How many items contain the phrase. */
  hitCount(phrase: string): number {
    const words = tokenize(phrase, this.#language);
    if (words.length === 1) return this.#postingOf(words[0] as string)?.liveCount ?? 0;
    let count = 0;
    this.#visitMatches(words, () => count++);
    return count;
  }

  /** Items that contain all of the phrases, or any. */
  containing(phrases: readonly string[], needs: 'all' | 'any'): ReadonlySet<number> {
    const sets = phrases.map((phrase) => {
      const rids = new Set<number>();
      this.#visitMatches(tokenize(phrase, this.#language), (document) => rids.add(document.rid));
      return rids;
    });
    const [first = new Set<number>(), ...others] = sets;
    if (needs === 'any') {
      for (const set of others) for (const rid of set) first.add(rid);
      return first;
    }
    const all = new Set<number>();
    for (const rid of first) if (others.every((set) => set.has(rid))) all.add(rid);
    return all;
  }

  /** The first items by score, with equal scores by rid; items without any of the phrases are left out. */
  best(phrases: readonly string[], statistics: TextStatistics, count: number): ScoredTexts {
    const totals = new Float64Array(this.#documents.length);
    const scored: number[] = [];
    for (const [at, phrase] of phrases.entries()) {
      const part = bm25Part(statistics, at);
      this.#visitMatches(tokenize(phrase, this.#language), ({ length }, frequency, number) => {
        if (totals[number] === 0) scored.push(number);
        totals[number] = (totals[number] as number) + part(frequency, length);
      });
    }
    return this.#firstOf(scored, totals, count);
  }

  #firstOf(numbers: readonly number[], totals: Float64Array, count: number): ScoredTexts {
    const ridOf = (number: number) => (this.#documents[number] as TextDocument).rid;
    const compare = (a: number, b: number) =>
      (totals[b] as number) - (totals[a] as number) || ridOf(a) - ridOf(b);
    let first: number[] = [];
    let least = 0;
    for (const number of numbers) {
      const score = totals[number] as number;
      if (score <= 0 || score < least) continue;
      first.push(number);
      if (first.length < 2 * count + EXTRA_RESULTS) continue;
      first = first.sort(compare).slice(0, count);
      least = totals[first.at(-1) as number] as number;
    }
    first = first.sort(compare).slice(0, count);
    return { rids: first.map(ridOf), scores: first.map((number) => totals[number] as number) };
  }

  /** Visits every document that contains the words one after the other, with its frequency. */
  #visitMatches(
    words: readonly string[],
    visit: (document: TextDocument, frequency: number, number: number) => void,
  ): void {
    const postings = words.map((word) => this.#postingOf(word));
    const [rarest] = [...postings].sort((a, b) => (a?.liveCount ?? 0) - (b?.liveCount ?? 0));
    if (rarest === undefined || postings.includes(undefined)) return;
    const numbers = words.map((word) => this.#wordNumbers.get(word) as number);
    for (let at = 0; at < rarest.documents.length; at++) {
      const number = rarest.documents[at] as number;
      const document = this.#documents[number];
      if (document === undefined) continue;
      const frequency =
        words.length === 1 ? (rarest.counts[at] as number) : countPhrase(document.words, numbers);
      if (frequency > 0) visit(document, frequency, number);
    }
  }

  #postingOf(word: string): PostingList | undefined {
    const number = this.#wordNumbers.get(word);
    return number === undefined ? undefined : this.#postingLists[number];
  }

  #numberOfWord(word: string): number {
    const existing = this.#wordNumbers.get(word);
    if (existing !== undefined) return existing;
    const number = this.#postingLists.push({ documents: [], counts: [], liveCount: 0 }) - 1;
    this.#wordNumbers.set(word, number);
    return number;
  }

  /** Renumbers the remaining documents. */
  #pack(): void {
    const kept = this.#documents.filter((document) => document !== undefined);
    this.#postingLists = this.#postingLists.map(() => ({
      documents: [],
      counts: [],
      liveCount: 0,
    }));
    this.#documents = kept;
    for (const [number, { rid, words }] of kept.entries()) {
      this.#byRid.set(rid, number);
      for (const [word, count] of countsOf(words)) {
        const posting = this.#postingLists[word] as PostingList;
        posting.documents.push(number);
        posting.counts.push(count);
        posting.liveCount++;
      }
    }
  }
}

function countsOf(words: Uint32Array): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function countPhrase(words: Uint32Array, phrase: readonly number[]): number {
  const [first] = phrase;
  const last = words.length - phrase.length;
  let count = 0;
  for (let at = 0; at <= last; at++) {
    if (words[at] !== first) continue;
    let length = 1;
    while (length < phrase.length && words[at + length] === phrase[length]) length++;
    if (length === phrase.length) count++;
  }
  return count;
}
