/**
 * The path to a property. As text, steps follow slashes: /a/"b c"/[]/d. A step that is not a plain word is in
 * quotation marks (either kind), within which a backslash escapes the mark or a backslash; [] means every element of
 * an array. Indexing policies end a path with /? (this value) or /* (all below).
 */
import { assert, DomainError } from '../base/index.ts';
import { isMap, type Value } from './value.ts';

/** The step into every element of an array. */
export const ARRAY_ELEMENT: unique symbol = Symbol('array element');

/** The step from a geometry to its index cells (geo/cell.ts). It is in no path text and in no item. */
export const CELLS: unique symbol = Symbol('cells');

/** The step to the entries of a declared index; its id follows. It is in no path text and in no item. */
export const DECLARED: unique symbol = Symbol('declared');

export type Path = readonly (string | typeof ARRAY_ELEMENT | typeof CELLS | typeof DECLARED)[];

/** Whether the path of an indexing policy means the value itself or everything below. */
type PathScope = 'value' | 'subtree';

interface ScopedPath {
  readonly path: Path;
  readonly scope: PathScope;
}

/**
 * Steps that may be printed without quotation marks. This pattern matches nearly all of them without the tables of
 * Unicode.
 */
const ASCII_STEP = /^[\w$@-][\w$@.-]*$/;
const PLAIN_STEP = /^[\p{L}\p{N}_$@-][\p{L}\p{N}_$@.-]*$/u;
/** Steps that may be read without quotation marks: those that are not ambiguous. */
const READABLE_STEP = /^[^\s/"'\\*?[\]]+$/;
/** A partition key path names its properties by words; other characters need quotation marks. */
const PARTITION_KEY_STEP = /^[\p{L}\p{N}_.-]+$/u;

/** The steps of a path; a final /? or /* is skipped. Throws a DomainError if the text is not a path. */
export function parsePath(text: string): Path {
  return parseScopedPath(text).path;
}

/** Also returns the scope of the path: `/a/*` is the subtree, `/a/?` and `/a` are the value. */
export function parseScopedPath(text: string): ScopedPath {
  const steps = splitSteps(text, READABLE_STEP);
  if (steps === undefined) throw new DomainError('invalidInput', 'the path is not valid');
  const last = steps.at(-1);
  const isScoped = last === WILDCARD || last === VALUE;
  const path = isScoped ? steps.slice(0, -1) : steps;
  if (path.some((step) => step === WILDCARD || step === VALUE))
    throw new DomainError('invalidInput', 'the path is not valid');
  return { path: path as Path, scope: last === WILDCARD ? 'subtree' : 'value' };
}

/** A path to exactly one property; undefined if the text is none: wildcard, [] step, trailing slash, bad character. */
export function parsePartitionKeyPath(text: string): Path | undefined {
  const steps = splitSteps(text, PARTITION_KEY_STEP);
  if (steps === undefined || steps.length === 0) return undefined;
  return steps.every((step) => typeof step === 'string') ? steps : undefined;
}

export function printPath(path: Path): string {
  let text = '';
  for (const step of path) text += `/${printStep(step)}`;
  return text;
}

/** The value at the path, undefined if the path ends early. The path has no ARRAY_ELEMENT; arrays are not entered. */
export function readPath(value: Value, path: Path): Value {
  let at = value;
  for (const step of path) {
    assert(typeof step === 'string', 'a path to one value has no ARRAY_ELEMENT');
    if (!isMap(at) || !Object.hasOwn(at, step)) return undefined;
    at = at[step];
  }
  return at;
}

const WILDCARD: unique symbol = Symbol('*');
const VALUE: unique symbol = Symbol('?');
type Step = string | typeof ARRAY_ELEMENT | typeof WILDCARD | typeof VALUE;

const SIGNS: Readonly<Record<string, Step>> = { '[]': ARRAY_ELEMENT, '*': WILDCARD, '?': VALUE };

/** Undefined if the text is not a path. The empty text and a single slash are the root. */
function splitSteps(text: string, plain: RegExp): Step[] | undefined {
  const steps: Step[] = [];
  if (text === '/') return steps;
  let at = 0;
  while (at < text.length) {
    if (text[at] !== '/') return undefined;
    const end = endOfStep(text, at + 1);
    const raw = text.slice(at + 1, end);
    const step = readStep(raw, plain);
    if (step === undefined) return undefined;
    steps.push(step);
    at = end;
  }
  return steps;
}

function endOfStep(text: string, start: number): number {
  const mark = text[start];
  let at = start;
  if (mark === '"' || mark === "'") {
    at++;
    while (at < text.length && text[at] !== mark) at += text[at] === '\\' ? 2 : 1;
  }
  const slash = text.indexOf('/', at);
  return slash < 0 ? text.length : slash;
}

function readStep(raw: string, plain: RegExp): Step | undefined {
  if (Object.hasOwn(SIGNS, raw)) return SIGNS[raw];
  if (plain.test(raw)) return raw;
  const quoted = /^(["'])((?:\\.|(?!\1)[^\\])*)\1$/s.exec(raw);
  return quoted === null ? undefined : (quoted[2] as string).replace(/\\(.)/gs, '$1');
}

function printStep(step: Path[number]): string {
  if (step === ARRAY_ELEMENT) return '[]';
  if (step === CELLS) return '<cells>';
  if (step === DECLARED) return '<index>';
  return ASCII_STEP.test(step) || PLAIN_STEP.test(step)
    ? step
    : `"${step.replace(/["\\]/g, '\\$&')}"`;
}
