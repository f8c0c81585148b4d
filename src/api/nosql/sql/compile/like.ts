/** LIKE patterns → matchers in time proportional to text × pattern at worst, whatever the pattern. */
import { draw, spend } from '../../../../base/index.ts';

/** Represents `%`; a symbol, so that an escaped percent sign is not mistaken for it. */
const ANY_RUN = Symbol('any run of characters');

/** A plain character, a test of one character, or any run of them. */
type Element = typeof ANY_RUN | ((character: string) => boolean) | string;

export type Matcher = (text: string) => boolean;

/** `%` any run, `_` any character, `[a-z]` and `[^a-z]` classes; the escape character makes the next one plain. */
export function likeMatcher(pattern: string, escapeCharacter?: string): Matcher {
  draw(32 * pattern.length);
  const elements = parsePattern([...pattern], escapeCharacter);
  const simple = simpleMatcher(elements);
  if (simple !== undefined)
    return (text) => {
      spend(1 + (text.length / 16) * (1 + pattern.length / 256));
      return simple(text);
    };
  return (text) => {
    draw(16 * text.length);
    return matches([...text], elements);
  };
}

/** The plain text that a pattern begins with, and what may follow: nothing, anything, or a part that needs the matcher. */
export function likeStart(
  pattern: string,
  escapeCharacter?: string,
): { readonly plain: string; readonly next: 'end' | 'anything' | 'more' } {
  const elements = parsePattern([...pattern], escapeCharacter);
  const count = elements.findIndex((element) => typeof element !== 'string');
  const plain = elements.slice(0, count < 0 ? undefined : count).join('');
  const isOpen = count === elements.length - 1 && elements[count] === ANY_RUN;
  return { plain, next: count < 0 ? 'end' : isOpen ? 'anything' : 'more' };
}

function parsePattern(pattern: readonly string[], escapeCharacter: string | undefined): Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string;
    if (character === escapeCharacter && at + 1 < pattern.length)
      elements.push(pattern[++at] as string);
    else if (character === '%') {
      if (elements.at(-1) !== ANY_RUN) elements.push(ANY_RUN);
    } else if (character === '_') elements.push(() => true);
    else if (character === '[') {
      const end = pattern.indexOf(']', at + 2);
      if (end < 0) elements.push(character);
      else {
        elements.push(characterClass(pattern.slice(at + 1, end)));
        at = end;
      }
    } else elements.push(character);
  }
  return elements;
}

function characterClass(body: readonly string[]): (character: string) => boolean {
  const isNegated = body[0] === '^';
  const members = isNegated ? body.slice(1) : body;
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < members.length; at++) {
    const first = members[at] as string;
    const isRange = members[at + 1] === '-' && at + 2 < members.length;
    ranges.push([first, isRange ? (members[at + 2] as string) : first]);
    if (isRange) at += 2;
  }
  return (character) =>
    ranges.some(([low, high]) => character >= low && character <= high) !== isNegated;
}

/** Uses string methods for plain text with `%` only at its ends. */
function simpleMatcher(elements: readonly Element[]): Matcher | undefined {
  const isOpenStart = elements[0] === ANY_RUN;
  const isOpenEnd = elements.length > 1 && elements.at(-1) === ANY_RUN;
  const middle = elements.slice(isOpenStart ? 1 : 0, isOpenEnd ? -1 : undefined);
  if (!middle.every((element) => typeof element === 'string')) return undefined;
  const plain = middle.join('');
  if (isOpenStart && isOpenEnd) return (text) => text.includes(plain);
  if (isOpenStart) return (text) => text.endsWith(plain);
  if (isOpenEnd) return (text) => text.startsWith(plain);
  return (text) => text === plain;
}

/** On a mismatch only the last `%` takes one character more; earlier ones never need to be tried again. */
function matches(text: readonly string[], elements: readonly Element[]): boolean {
  let at = 0;
  let element = 0;
  let retryElement = -1;
  let retryAt = 0;
  while (at < text.length) {
    spend(1);
    const wanted = elements[element];
    if (wanted === ANY_RUN) {
      retryElement = ++element;
      retryAt = at;
    } else if (wanted !== undefined && matchesOne(text[at] as string, wanted)) {
      at++;
      element++;
    } else if (retryElement >= 0) {
      element = retryElement;
      at = ++retryAt;
    } else return false;
  }
  while (elements[element] === ANY_RUN) element++;
  return element === elements.length;
}

function matchesOne(character: string, element: Exclude<Element, typeof ANY_RUN>): boolean {
  return typeof element === 'string' ? character === element : element(character);
}
