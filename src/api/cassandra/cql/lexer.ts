/** Splits the text of a statement into tokens. */
import { syntaxError } from '../errors.ts';

type TokenKind =
  | 'word'
  | 'quoted'
  | 'string'
  | 'integer'
  | 'float'
  | 'uuid'
  | 'blob'
  | 'duration'
  | 'symbol'
  | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** Words in lower case, quoted names and strings without their quotes. */
  readonly text: string;
  /** Place in the statement, from and behind. */
  readonly from: number;
  readonly end: number;
}

const RULES: readonly (readonly [TokenKind | 'blank', RegExp])[] = [
  ['blank', /\s+|--[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\//y],
  ['uuid', /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/iy],
  ['blob', /0x[0-9a-f]*/iy],
  [
    'duration',
    /(?:\d+(?:mo|ms|us|µs|ns|[ywdhms]))+(?![\w.])|P\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|P(?=\d|T\d)(?:\d+[YMDW])*(?:T(?:\d+[HMS])*)?(?![\w.])/iy,
  ],
  ['float', /\d+\.(?!\.(?!\.))\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+/iy],
  ['integer', /\d+/y],
  ['word', /[a-z]\w*/iy],
  ['symbol', /<=|>=|!=|<>|\+=|-=|\.\.|[-+*/%=<>()[\]{},;:.?]/y],
];

/** The last token is `end`. Throws CqlError for a character that begins none. */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const match = longest(text, at);
    if (match === undefined)
      throw syntaxError(`${position(text, at)} no viable alternative at character '${text[at]}'`);
    if (match.kind !== 'blank')
      tokens.push({
        kind: match.kind,
        text: plain(match.kind, match.text),
        from: at,
        end: at + match.text.length,
      });
    at += match.text.length;
  }
  tokens.push({ kind: 'end', text: '<EOF>', from: at, end: at });
  return tokens;
}

/** The first rule that matches: they are in the order of their precedence. */
function longest(
  text: string,
  at: number,
): { kind: TokenKind | 'blank'; text: string } | undefined {
  const quotes = QUOTES.find(([, quote]) => text.startsWith(quote, at));
  if (quotes !== undefined) {
    const [kind, quote] = quotes;
    const end = endOfQuoted(text, at, quote);
    const isEmptyName = kind === 'quoted' && end === at + 2;
    return end === undefined || isEmptyName ? undefined : { kind, text: text.slice(at, end) };
  }
  for (const [kind, rule] of RULES) {
    rule.lastIndex = at;
    const found = rule.exec(text);
    if (found !== null) return { kind, text: found[0] };
  }
  return undefined;
}

/** Texts may have megabytes, which a pattern with alternatives has no memory for. */
const QUOTES = [
  ['string', "'"],
  ['quoted', '"'],
  ['string', '$$'],
] as const;

/** The place behind the quote that ends a text; two quotes stand for one, except where they are `$$`. */
function endOfQuoted(text: string, at: number, quote: string): number | undefined {
  for (let from = at + quote.length; ; ) {
    const found = text.indexOf(quote, from);
    if (found < 0) return undefined;
    const end = found + quote.length;
    if (quote === '$$' || !text.startsWith(quote, end)) return end;
    from = end + quote.length;
  }
}

function plain(kind: TokenKind, text: string): string {
  switch (kind) {
    case 'word':
      return text.toLowerCase();
    case 'quoted':
      return text.slice(1, -1).replaceAll('""', '"');
    case 'string':
      return text.startsWith('$$') ? text.slice(2, -2) : text.slice(1, -1).replaceAll("''", "'");
    default:
      return text;
  }
}

/** Line and column of a place, as Cassandra writes them. */
export function position(text: string, at: number): string {
  const before = text.slice(0, at).split('\n');
  return `line ${before.length}:${before.at(-1)?.length ?? 0}`;
}
