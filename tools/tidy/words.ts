/** Words and phrases that do not come in: marks of unfinished work, machine paths, and English that only we would know. */

interface Banned {
  readonly word: RegExp;
  readonly why: string;
}

/** In any file. */
const EVERYWHERE: readonly Banned[] = [
  { word: /\bTODO\b|\bFIXME\b|\bXXX\b/, why: 'finish it or file it' },
  { word: /\b(it|test|describe)\.(skip|only|todo)\b/, why: 'a test runs or does not exist' },
  { word: /\/(home|root|work)\//, why: 'no machine path' },
];

/** In comments and Markdown; docs/glossary.md has the field's words. */
const IN_PROSE: readonly Banned[] = [
  { word: /\bstands? (once|twice|again)\b/i, why: 'say "is defined once"' },
  { word: /\bby turns\b/i, why: 'say "alternating"' },
  { word: /\btold\b/i, why: 'say who sends or reports what' },
  { word: /\b(goes|go|went|going) (its|their) ways?\b/i, why: 'say "is processed"' },
  { word: /\banew\b/i, why: 'say "again"' },
  { word: /\bdear(er|est)?\b/i, why: 'say "expensive"' },
  { word: /\b(in|at) the place of\b/i, why: 'say "instead of"' },
  { word: /\bsole key\b/i, why: 'say "only key"' },
  { word: /(\/\*\*|^\s*\/\/|^\s*\*) Of\b/m, why: 'begin with the subject' },
];

/** The comments of a TypeScript source, as one text. */
export function commentsOf(source: string): string {
  return (source.match(/\/\*[\s\S]*?\*\/|(?<=^|[\s;{}()])\/\/.*$/gm) ?? []).join('\n');
}

/** Complaints about the words of one file. */
export function wordComplaints(path: string, text: string): string[] {
  const prose = path.endsWith('.md') ? text : commentsOf(text);
  const found = (within: string) => (banned: Banned) => {
    const hit = banned.word.exec(within)?.[0].trim();
    return hit === undefined ? [] : [`${path}: "${hit}": ${banned.why}`];
  };
  return [...EVERYWHERE.flatMap(found(text)), ...IN_PROSE.flatMap(found(prose))];
}
