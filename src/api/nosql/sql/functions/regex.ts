/** Regular expressions. The service has Perl's dialect; what JavaScript reads differently is translated or undefined. */
import { BoundedRegex, draw, spend } from '../../../../base/index.ts';
import type { Value } from '../../../../value/index.ts';
import { define, type SystemFunction } from './function.ts';

/** New functions for each call in a query: they cache the last pattern, which is mostly the same for every row. */
export function regexFunctions(): readonly SystemFunction[] {
  let lastKey: string | undefined;
  let lastPattern: BoundedRegex | undefined;
  const patternOf = (pattern: Value, modifiers: Value): BoundedRegex | undefined => {
    if (typeof pattern !== 'string' || typeof modifiers !== 'string') return undefined;
    const key = `${modifiers}/${pattern}`;
    if (key !== lastKey) {
      spend(20 * pattern.length);
      lastPattern = compilePattern(pattern, modifiers);
      lastKey = key;
    }
    return lastPattern;
  };
  const match = (text: Value, pattern: Value, modifiers: Value = ''): Value => {
    const compiled = patternOf(pattern, modifiers);
    return typeof text === 'string' && compiled ? compiled.test(text) : undefined;
  };
  return [
    define('REGEXMATCH', [2, 3], match),
    define('_REGEX_MATCH', [2, 3], match),
    define('RegexExtract', [2, 4], (text, pattern, modifiers = '', group = 0) => {
      const compiled = patternOf(pattern, modifiers);
      if (typeof text !== 'string' || !compiled || !isGroupNumber(group)) return undefined;
      return compiled.exec(text)?.[group];
    }),
    define('RegexExtractAll', [2, 4], (text, pattern, modifiers = '', group = 0) => {
      const compiled = patternOf(pattern, modifiers);
      if (typeof text !== 'string' || !compiled || !isGroupNumber(group)) return undefined;
      // Every letter may be a match, which is an object with its groups.
      draw(64 * text.length);
      return compiled
        .matchAll(text)
        .map((found) => found[group])
        .filter((found) => found !== undefined);
    }),
  ];
}

function isGroupNumber(group: Value): group is number {
  return typeof group === 'number' && Number.isInteger(group) && group >= 0;
}

/** Modifiers: i ignore case, m multi-line, s dot matches all, x ignores white space and comments in the pattern. */
function compilePattern(pattern: string, modifiers: string): BoundedRegex | undefined {
  if (!/^[imsx]*$/.test(modifiers)) return undefined;
  const source = modifiers.includes('x') ? withoutSpace(pattern) : pattern;
  const flags = [...new Set(modifiers.replaceAll('x', ''))].join('');
  try {
    return new BoundedRegex(source, flags);
  } catch {
    // An invalid pattern makes the function undefined.
    return undefined;
  }
}

/** Escaped characters and classes keep their spaces. */
function withoutSpace(pattern: string): string {
  return pattern.replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\s+|#[^\n]*/g, (part) =>
    /^[\s#]/.test(part) ? '' : part,
  );
}
