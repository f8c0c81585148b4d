/** A patch: parsed from the body of a request, applied to the item as it is when its write is decided. */
import { bytesToText, DomainError, PATCH_OPERATIONS_MAX } from '../../../base/index.ts';
import type { Item, NewBody } from '../../../partition/index.ts';
import { isList, isMap, type Value, type ValueMap } from '../../../value/index.ts';
import type { JsonNode, JsonObject } from './json-node.ts';
import { applyOperation, type PatchOperation } from './patch-operation.ts';
import { parsePatchPath, startsWithPath } from './patch-path.ts';

export interface Patch {
  readonly operations: readonly PatchOperation[];
  /** The part of a query after SELECT *. */
  readonly condition: string | undefined;
}

/** Properties that only the service may write. */
const SYSTEM_PROPERTIES = ['id', '_rid', '_self', '_etag', '_ts', '_attachments', '_lsn'];

/** Throws `invalidInput` for anything but a patch. */
export function parsePatch(body: Value): Patch {
  const { operations, condition } = isList(body)
    ? { operations: body, condition: undefined }
    : isMap(body)
      ? body
      : {};
  if (!isList(operations) || operations.length === 0) throw syntax();
  if (operations.length > PATCH_OPERATIONS_MAX)
    throw invalid(`The number of patch operations can't exceed '${PATCH_OPERATIONS_MAX}'.`);
  if (condition !== undefined && condition !== null && typeof condition !== 'string')
    throw syntax();
  return { operations: operations.map(parseOperation), condition: condition || undefined };
}

function parseOperation(sent: Value): PatchOperation {
  if (!isMap(sent)) throw syntax();
  const path = parsePatchPath(sent.path);
  if (path === undefined) throw syntax();
  checkOwner(path.steps[0]);
  const { op, value } = sent;
  const kind = typeof op === 'string' ? op.toLowerCase() : undefined;
  switch (kind) {
    case 'add':
    case 'set':
    case 'replace':
      if (value === undefined) throw syntax();
      return { kind, path, value: value as JsonNode };
    case 'remove':
      return { kind, path };
    case 'incr':
    case 'increment':
      if (typeof value !== 'number') throw syntax();
      return { kind: 'incr', path, value };
    case 'move': {
      const from = parsePatchPath(sent.from);
      if (from === undefined || startsWithPath(path, from)) throw syntax();
      checkOwner(from.steps[0]);
      return { kind, path, from };
    }
    default:
      throw syntax();
  }
}

function checkOwner(first: string | undefined): void {
  if (first !== undefined && SYSTEM_PROPERTIES.includes(first))
    throw invalid(`Invalid patch request: Cannot patch system property ${first}.`);
}

interface PatchContext {
  /** True where the condition holds for the item; undefined where the patch has none. */
  readonly holds: ((item: Value) => boolean) | undefined;
  /** Checks the patched item and encodes its body. */
  readonly finisher: (item: ValueMap) => NewBody;
}

/** The update function of a patch. It is pure, because a decision may be made more than once. */
export function patchUpdate(
  { operations }: Patch,
  { holds, finisher }: PatchContext,
): (current: Item | undefined) => NewBody {
  return (current) => {
    const item: JsonObject = JSON.parse(bytesToText((current as Item).body));
    if (holds !== undefined && !holds(item))
      throw new DomainError(
        'preconditionFailed',
        'Operation cannot be performed because one of the specified precondition is not met.',
      );
    operations.forEach((operation, at) => {
      applyOperation(item, operation, at + 1);
    });
    return finisher(item);
  };
}

function syntax(): DomainError {
  return invalid('Invalid patch request: check syntax of patch specification.');
}

function invalid(message: string): DomainError {
  return new DomainError('invalidInput', message);
}
