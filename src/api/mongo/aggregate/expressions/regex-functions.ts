/** `$regexMatch`, `$regexFind` and `$regexFindAll`, over patterns of PCRE that are rewritten for JavaScript. */
import { BoundedRegex, draw } from '../../../../base/index.ts';
import { type Bson, type BsonDocument, Extended } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import {
  type CompileOperator,
  compileOption,
  folded,
  isNullish,
  type OperatorTable,
  parseOptions,
} from './define.ts';
import { constantOf, type Evaluate, type Frame } from './scope.ts';
import { checkedText, codePoints } from './text.ts';

type Value = Bson | undefined;

export const REGEX: OperatorTable = {
  $regexMatch: regexOperator((text, regex) =>
    text === undefined || regex === undefined ? false : regex.test(text),
  ),
  $regexFind: regexOperator((text, regex) => {
    if (text === undefined || regex === undefined) return null;
    const found = regex.exec(text);
    return found === null ? null : shown(found, codePoints(text.slice(0, found.index)));
  }),
  $regexFindAll: regexOperator(findAll),
};

function findAll(text: string | undefined, regex: BoundedRegex | undefined): Value {
  if (text === undefined || regex === undefined) return [];
  const made: Bson[] = [];
  let at = 0;
  let points = 0;
  for (const found of regex.matchAll(text)) {
    // PCRE does not look behind the last character.
    if (found[0] === '' && found.index === text.length && text !== '') continue;
    points += codePoints(text.slice(at, found.index));
    at = found.index;
    draw(64 + found[0].length * 2);
    made.push(shown(found, points));
  }
  return made;
}

function shown(found: RegExpExecArray, index: number): BsonDocument {
  return new Map<string, Bson>([
    ['match', found[0]],
    ['idx', index],
    ['captures', found.slice(1).map((part) => part ?? null)],
  ]);
}

function regexOperator(
  run: (text: string | undefined, regex: BoundedRegex | undefined) => Value,
): CompileOperator {
  return (argument, scope, name) => {
    const options = parseOptions(argument, name, {
      notObject: 'Location51103',
      unknown: 'Location31024',
      required: { input: 'Location31022', regex: 'Location31023' },
      optional: ['options'],
    });
    const input = scope.compile(options.get('input') as Bson);
    const pattern = scope.compile(options.get('regex') as Bson);
    const flags = compileOption(options, 'options', scope);
    const isFixed =
      constantOf(pattern) !== undefined && (flags === undefined || constantOf(flags) !== undefined);
    const regexOf = (frame: Frame): BoundedRegex | undefined =>
      regexFrom(pattern(frame), flags?.(frame), name);
    let fixed: { readonly regex: BoundedRegex | undefined } | undefined;
    const evaluate: Evaluate = (frame) => {
      const text = input(frame);
      checkPattern(pattern(frame), name);
      checkFlags(pattern(frame), flags?.(frame), name);
      if (!isNullish(text) && typeof text !== 'string')
        throw new MongoError('Location51104', `${name} needs 'input' to be of type string`);
      if (isFixed) fixed ??= { regex: regexOf(frame) };
      const regex = fixed === undefined ? regexOf(frame) : fixed.regex;
      return run(isNullish(text) ? undefined : checkedText(text as string), regex);
    };
    return folded(evaluate, [input, pattern, flags]);
  };
}

function checkPattern(pattern: Value, name: string): void {
  const isRegex = pattern instanceof Extended && pattern.payload.kind === 'regex';
  if (isNullish(pattern) || typeof pattern === 'string' || isRegex) return;
  throw new MongoError('Location51105', `${name} needs 'regex' to be of type string or regex`);
}

/** Flags come with the pattern or beside it. */
function checkFlags(pattern: Value, flags: Value, name: string): void {
  const isFlagged =
    pattern instanceof Extended &&
    pattern.payload.kind === 'regex' &&
    pattern.payload.flags !== '' &&
    typeof flags === 'string';
  if (isFlagged)
    throw new MongoError(
      'Location51107',
      `${name}: found regex option(s) specified in both 'regex' and 'option' fields`,
    );
}

/** Undefined where the pattern is null. */
function regexFrom(pattern: Value, sentFlags: Value, name: string): BoundedRegex | undefined {
  let source: string | undefined;
  let flags = '';
  if (pattern instanceof Extended && pattern.payload.kind === 'regex') {
    source = pattern.payload.source;
    flags = pattern.payload.flags;
  } else if (typeof pattern === 'string') source = pattern;
  else if (!isNullish(pattern))
    throw new MongoError('Location51105', `${name} needs 'regex' to be of type string or regex`);
  if (!isNullish(sentFlags)) {
    if (typeof sentFlags !== 'string')
      throw new MongoError('Location51106', `${name} needs 'options' to be of type string`);
    flags = sentFlags;
  }
  if (source?.includes('\0') === true)
    throw new MongoError(
      'Location51109',
      `${name}: regular expression cannot contain an embedded null byte`,
    );
  if (flags.includes('\0'))
    throw new MongoError(
      'Location51110',
      `${name}: regular expression options cannot contain an embedded null byte`,
    );
  if (source === undefined) return undefined;
  const wrong = /[^imsxu]/.exec(flags);
  if (wrong !== null)
    throw new MongoError('Location51108', `${name} invalid flag in regex options: ${wrong[0]}`);
  const compiled =
    Buffer.byteLength(source) > PATTERN_BYTES_MAX ? undefined : compilePattern(source, flags);
  if (compiled === undefined)
    throw new MongoError('Location51111', `Invalid Regex in ${name}: the pattern is not valid`);
  return compiled;
}

/** The longest pattern that the server takes (documented). */
const PATTERN_BYTES_MAX = 16_384;

/** Undefined where the pattern is not valid. */
export function compilePattern(source: string, sentFlags: string): BoundedRegex | undefined {
  let pattern = source;
  const flags = new Set([...sentFlags].filter((flag) => 'imsx'.includes(flag)));
  for (;;) {
    const leading = /^\(\?([imsx]+)\)|^\(\*(?:UTF8|UTF|UCP)\)/.exec(pattern);
    if (leading === null) break;
    pattern = pattern.slice(leading[0].length);
    for (const flag of leading[1] ?? '') flags.add(flag);
  }
  if (/\(\?<[=!][^)]*(?<!\\)[*+]/.test(pattern)) return undefined;
  if (flags.delete('x')) pattern = withoutSpaces(pattern);
  pattern = rewritten(pattern, flags.has('m'));
  const own = [...flags].join('');
  for (const mode of ['u', ''])
    try {
      return new BoundedRegex(pattern, own + mode);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  return undefined;
}

/** The flag x: spaces and comments outside of classes do not count. */
function withoutSpaces(pattern: string): string {
  return pattern.replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\s+|#.*$/gm, (part) =>
    /^[\s#]/.test(part) ? '' : part,
  );
}

const CLASSES: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: ' \\t',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '\\x21-\\x7e',
  lower: 'a-z',
  print: '\\x20-\\x7e',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\s',
  upper: 'A-Z',
  word: '\\w',
  xdigit: 'A-Fa-f0-9',
};

/** What PCRE writes otherwise than JavaScript. */
function rewritten(pattern: string, isMultiline: boolean): string {
  return pattern
    .replace(/\\Q([\s\S]*?)(?:\\E|$)/g, (_, text: string) =>
      text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'),
    )
    .replace(
      /\\[\s\S]|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|\(\?P?<(?![=!])|\(\?P=(\w+)\)|\(\?#[^)]*\)|[*+?}]\+|[\s\S]/g,
      (part, name?: string) => {
        if (part === '\\A') return isMultiline ? '(?<![\\s\\S])' : '^';
        if (part === '\\z') return isMultiline ? '(?![\\s\\S])' : '$';
        if (part === '\\Z') return '(?=\\n?(?![\\s\\S]))';
        if (part === '\\s') return '[ \\t\\n\\v\\f\\r]';
        if (part === '\\S') return '[^ \\t\\n\\v\\f\\r]';
        if (part === '\\h') return '[ \\t]';
        if (part === '\\H') return '[^ \\t]';
        if (part === '\\R') return '(?:\\r\\n|[\\n\\v\\f\\r\\u0085\\u2028\\u2029])';
        if (part === '\\a') return '\\x07';
        if (part === '\\e') return '\\x1b';
        if (part.length > 2 && part.startsWith('[')) return rewrittenClass(part);
        if (part.startsWith('(?P<')) return '(?<';
        if (part.startsWith('(?P=')) return `\\k<${name}>`;
        if (part.startsWith('(?#')) return '';
        if (/^[*+?}]\+$/.test(part)) return part.slice(0, 1);
        if (/^\\[^\w\s]$/.test(part))
          return /^\\[\^$\\.*+?()[\]{}|/-]$/.test(part)
            ? part === '\\-'
              ? '-'
              : part
            : part.slice(1);
        return part;
      },
    );
}

function rewrittenClass(part: string): string {
  return part
    .replace(/\[:(\^?)(\w+):\]/g, (whole, negation: string, name: string) =>
      negation === '' ? (CLASSES[name] ?? whole) : whole,
    )
    .replace(/(?<!\\)\\h/g, ' \\t')
    .replace(/^(\[\^?)\]/, '$1\\]')
    .replace(/(?<=^\[[^\]]*)(?<!\\)\[/g, (open, at: number) => (at === 0 ? open : '\\['));
}
