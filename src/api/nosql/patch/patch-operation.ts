/** The operations of a patch, applied to a document. Messages are the service's; operations count from one. */
import { DomainError } from '../../../base/index.ts';
import { type JsonNode, type JsonObject, type JsonParent, setProperty } from './json-node.ts';
import {
  childOf,
  findLocation,
  type PatchLocation,
  type PatchPath,
  toIndex,
} from './patch-path.ts';

export type PatchOperation =
  | { readonly kind: 'add' | 'set'; readonly path: PatchPath; readonly value: JsonNode }
  | { readonly kind: 'replace'; readonly path: PatchPath; readonly value: JsonNode }
  | { readonly kind: 'remove'; readonly path: PatchPath }
  | { readonly kind: 'incr'; readonly path: PatchPath; readonly value: number }
  | { readonly kind: 'move'; readonly path: PatchPath; readonly from: PatchPath };

/** @param number - position of the operation in its patch, from one. */
export function applyOperation(root: JsonObject, op: PatchOperation, number: number): void {
  switch (op.kind) {
    case 'add':
    case 'set':
      put(locationOf(root, op, number), { ...op, value: clone(op.value) }, number);
      return;
    case 'replace':
      replace(root, op.path, clone(op.value), number);
      return;
    case 'remove':
      take(root, op.path, number);
      return;
    case 'incr':
      increment(root, op, number);
      return;
    case 'move': {
      const value = take(root, op.from, number);
      put(locationOf(root, op, number), { kind: 'add', path: op.path, value }, number);
      return;
    }
  }
}

interface PutOperation {
  readonly kind: 'add' | 'set' | 'incr';
  readonly path: PatchPath;
  readonly value: JsonNode;
}

/** In an array `add` inserts and `set` overwrites; both append right after the end. */
function put(
  { parent, step }: PatchLocation,
  { kind, path, value }: PutOperation,
  number: number,
): void {
  if (!Array.isArray(parent)) {
    setProperty(parent, step, value);
    return;
  }
  const index = step === '-' ? parent.length : toIndex(step);
  if (index === undefined || index > parent.length) throw outOfBounds(path, number);
  if (kind === 'add') parent.splice(index, 0, value);
  else parent[index] = value;
}

function replace(root: JsonObject, path: PatchPath, value: JsonNode, number: number): void {
  const { parent, step } = existing(root, path, number, 'replaced');
  if (Array.isArray(parent)) parent[Number(step)] = value;
  else setProperty(parent, step, value);
}

function take(root: JsonObject, path: PatchPath, number: number): JsonNode {
  const { parent, step } = existing(root, path, number, 'removed');
  const value = childOf(parent, step) as JsonNode;
  if (Array.isArray(parent)) parent.splice(Number(step), 1);
  else delete parent[step];
  return value;
}

function increment(
  root: JsonObject,
  op: PatchOperation & { readonly kind: 'incr' },
  number: number,
): void {
  const location = locationOf(root, op, number);
  const current = childOf(location.parent, location.step) ?? 0;
  if (typeof current !== 'number') throw refuse(number, `Node(${op.path.text}) is not a number.`);
  const value = current + op.value;
  if (!Number.isFinite(value))
    throw refuse(number, `Node(${op.path.text}) would exceed the range of numbers.`);
  put(location, { kind: 'incr', path: op.path, value }, number);
}

const VERBS = { add: 'Add', set: 'Set', incr: 'Increment', move: 'Move' } as const;

function locationOf(
  root: JsonObject,
  { kind, path }: { readonly kind: keyof typeof VERBS; readonly path: PatchPath },
  number: number,
): PatchLocation {
  const location = findLocation(root, path);
  if (typeof location !== 'string') return location;
  throw refuse(
    number,
    `${VERBS[kind]} Operation can only create a child object of an existing node(array or object) and cannot create path recursively, no path found beyond: '${location}'.`,
  );
}

function existing(root: JsonObject, path: PatchPath, number: number, how: string): PatchLocation {
  const location = findLocation(root, path);
  if (typeof location !== 'string') {
    if (childOf(location.parent, location.step) !== undefined) return location;
    if (isBeyond(location.parent, location.step)) throw outOfBounds(path, number);
  }
  throw refuse(
    number,
    `Node(${path.text}) to be ${how} is absent. Note: it may also have been removed earlier in the transaction.`,
  );
}

function isBeyond(parent: JsonParent, step: string): boolean {
  return Array.isArray(parent) && (step === '-' || toIndex(step) !== undefined);
}

function outOfBounds({ steps }: PatchPath, number: number): DomainError {
  return refuse(number, `Index(${steps.at(-1)}) to operate on is out of array bounds.`);
}

function refuse(number: number, what: string): DomainError {
  return new DomainError('invalidInput', `For Operation(${number}): ${what}`);
}

/** The value is cloned: a later operation may change it, and the patch itself must not change. */
function clone(value: JsonNode): JsonNode {
  return typeof value === 'object' && value !== null ? structuredClone(value) : value;
}
