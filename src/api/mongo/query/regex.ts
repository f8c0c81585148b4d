/** Regular expressions of filters: PCRE as MongoDB has it, written in JavaScript's syntax and bounded in time. */
import { BoundedRegex } from '../../../base/index.ts';
import { MongoError } from '../errors.ts';

/** Throws Location51108 for unknown options and Location51091 for patterns that cannot be compiled. */
export function compileRegex(source: string, flags: string): BoundedRegex {
  if (source.includes('\0'))
    throw new MongoError('BadValue', 'Regular expression cannot contain an embedded null byte');
  if (flags.includes('\0'))
    throw new MongoError(
      'Location51108',
      'Regular expression options string cannot contain an embedded null byte',
    );
  const wrong = /[^imsxu]/.exec(flags);
  if (wrong !== null)
    throw new MongoError('Location51108', `invalid flag in regex options: ${wrong[0]}`);
  if (source.length > SOURCE_LENGTH_MAX)
    throw new MongoError(
      'Location51091',
      'Regular expression is invalid: regular expression is too large',
    );
  const pattern = translate(source, flags.includes('x'));
  const options = [...new Set(flags)].filter((flag) => 'ims'.includes(flag)).join('');
  return compiled(pattern, `${options}u`) ?? compiled(pattern, options) ?? invalid(source);
}

/** MongoDB's bound. */
const SOURCE_LENGTH_MAX = 32_764;

function compiled(pattern: string, flags: string): BoundedRegex | undefined {
  try {
    return new BoundedRegex(pattern, flags);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function invalid(source: string): never {
  throw new MongoError('Location51091', `Regular expression is invalid: ${source}`);
}

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alpha: 'a-zA-Z',
  digit: '0-9',
  alnum: 'a-zA-Z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`{-~',
  cntrl: '\\x00-\\x1f\\x7f',
  xdigit: '0-9A-Fa-f',
  word: '\\w',
  print: ' -~',
  graph: '!-~',
};

/** What PCRE writes otherwise than JavaScript, construct by construct. */
function translate(source: string, isExtended: boolean): string {
  return new Translation(source, isExtended).run();
}

class Translation {
  readonly #source: string;
  #isExtended: boolean;
  #at = 0;
  #out = '';
  /** Ends that options in the middle of a group need, by depth. */
  readonly #closings: string[] = [''];
  /** Whether words and digits are those of all scripts. */
  #isUnicode = false;

  constructor(source: string, isExtended: boolean) {
    this.#source = source;
    this.#isExtended = isExtended;
  }

  run(): string {
    for (let verb = VERB.exec(this.#rest()); verb !== null; verb = VERB.exec(this.#rest())) {
      this.#at += verb[0].length;
      if (verb[1] === 'UCP') this.#isUnicode = true;
    }
    while (this.#at < this.#source.length) this.#step();
    return this.#out + this.#closings.reverse().join('');
  }

  #step(): void {
    const char = this.#source[this.#at] as string;
    if (char === '\\') this.#escape();
    else if (char === '[') this.#characterClass();
    else if (char === '(') this.#open();
    else if (char === ')') this.#close();
    else if (this.#isExtended && /\s/.test(char)) this.#at += 1;
    else if (this.#isExtended && char === '#') this.#comment();
    else if (this.#isPossessive(char)) this.#at += 1;
    else {
      this.#out += char === '{' && !/^\{\d+(,\d*)?\}/.test(this.#rest()) ? '\\{' : char;
      this.#at += 1;
    }
  }

  #rest(): string {
    return this.#source.slice(this.#at);
  }

  /** A plus behind a quantifier: it only forbids to look again. */
  #isPossessive(char: string): boolean {
    return char === '+' && QUANTIFIED.test(this.#out) && !/\\[*+?}]$/.test(this.#out);
  }

  #comment(): void {
    const end = this.#source.indexOf('\n', this.#at);
    this.#at = end < 0 ? this.#source.length : end + 1;
  }

  #escape(): void {
    const property = /^\\([pP])\{(\^?)([\w&]+)\}/.exec(this.#rest());
    if (property !== null) {
      this.#at += property[0].length;
      this.#out += propertyOf(property[1] as string, property[3] as string);
      return;
    }
    const code = /^\\x\{([0-9a-fA-F]+)\}/.exec(this.#rest());
    if (code !== null) {
      this.#at += code[0].length;
      this.#out += `\\u{${code[1]}}`;
      return;
    }
    const next = this.#source[this.#at + 1];
    this.#at += 2;
    if (next === 'Q') {
      const end = this.#source.indexOf('\\E', this.#at);
      const text = this.#source.slice(this.#at, end < 0 ? undefined : end);
      this.#out += text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
      this.#at = end < 0 ? this.#source.length : end + 2;
    } else if (this.#isUnicode && next !== undefined && Object.hasOwn(UNICODE_ESCAPES, next))
      this.#out += UNICODE_ESCAPES[next];
    else if (next !== undefined && Object.hasOwn(ESCAPES, next)) this.#out += ESCAPES[next];
    else if (next !== undefined && /[^\w\s^$.*+?()[\]{}|\\/]/u.test(next)) this.#out += next;
    else this.#out += `\\${next ?? ''}`;
  }

  #characterClass(): void {
    const match = /^\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*\]/.exec(this.#rest());
    if (match === null) {
      this.#out += this.#source[this.#at++];
      return;
    }
    const [text] = match;
    this.#at += text.length;
    const inner = text
      .slice(1, -1)
      .replace(/\[:(\w+):\]/g, (whole, name: string) => POSIX_CLASSES[name] ?? whole);
    const isNegated = inner.startsWith('^');
    const body = (isNegated ? inner.slice(1) : inner)
      .replace(/^\]/, '\\]')
      .replace(/(?<!\\)\[/g, '\\[');
    this.#out += `[${isNegated ? '^' : ''}${body.replaceAll('\\h', ' \\t')}]`;
  }

  #open(): void {
    const options = /^\(\?([imsxU]*)(?:-([imsx]+))?\)/.exec(this.#rest());
    if (options !== null) {
      this.#at += options[0].length;
      if (options[1]?.includes('x')) this.#isExtended = true;
      const added = (options[1] ?? '').replace(/[xU]/g, '');
      const removed = (options[2] ?? '').replace('x', '');
      if (added === '' && removed === '') return;
      this.#out += `(?${added}${removed === '' ? '' : `-${removed}`}:`;
      this.#closings[this.#closings.length - 1] += ')';
      return;
    }
    const rest = this.#rest();
    const comment = /^\(\?#[^)]*\)/.exec(rest);
    if (comment !== null) {
      this.#at += comment[0].length;
      return;
    }
    const reference = /^\(\?P=(\w+)\)/.exec(rest);
    if (reference !== null) {
      this.#take(reference[0].length, `\\k<${reference[1]}>`);
      return;
    }
    this.#closings.push('');
    if (rest.startsWith('(?P<')) this.#take(4, '(?<');
    else if (rest.startsWith('(?>')) this.#take(3, '(?:');
    else if (rest.startsWith('(?')) this.#take(2, '(?');
    else this.#take(1, '(');
  }

  #take(length: number, written: string): void {
    this.#at += length;
    this.#out += written;
  }

  #close(): void {
    this.#at += 1;
    this.#out += `${this.#closings.length > 1 ? this.#closings.pop() : ''})`;
  }
}

/** A quantifier at the end; the braces of `\p{L}` and of code points are none. */
const QUANTIFIED = /(?:[*+?]|(?<!\\u)\{\d+(?:,\d*)?\})$/;

/** Settings in front of a pattern. */
const VERB = /^\(\*([A-Z0-9_]+)(?:=\w+)?\)/;

/** Categories have one or two letters; longer names are scripts. */
function propertyOf(letter: string, name: string): string {
  return name.length <= 2
    ? `\\${letter}{${name.replace('&', 'C')}}`
    : `\\${letter}{Script=${name}}`;
}

const UNICODE_ESCAPES: Readonly<Record<string, string>> = {
  w: '[\\p{L}\\p{N}_]',
  W: '[^\\p{L}\\p{N}_]',
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  b: '(?:(?<=[\\p{L}\\p{N}_])(?![\\p{L}\\p{N}_])|(?<![\\p{L}\\p{N}_])(?=[\\p{L}\\p{N}_]))',
};

const ESCAPES: Readonly<Record<string, string>> = {
  A: '(?<![\\s\\S])',
  z: '(?![\\s\\S])',
  Z: '(?=\\n?(?![\\s\\S]))',
  h: '[ \\t]',
  H: '[^ \\t]',
  R: '(?:\\r\\n|\\n|\\r)',
  a: '\\x07',
  e: '\\x1b',
  N: '[^\\n]',
  E: '',
  K: '',
  '-': '\\x2d',
};
