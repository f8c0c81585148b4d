/**
 * The patch as a named updater: its arguments have all that the decision needs, since it may be made in a partition that
 * does not know the container.
 */
import { type Bytes, bytesToText, type Clock, FIXED_EVALUATION } from '../../../base/index.ts';
import type { Item, NewBody, Outcome, Updater, Updaters } from '../../../partition/index.ts';
import type { UpdateOperation } from '../../../service/index.ts';
import {
  type Encoding,
  isMap,
  parsePartitionKeyPath,
  type Value,
  type ValueMap,
} from '../../../value/index.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { parsePatch, patchUpdate } from '../patch/index.ts';
import { environmentOf } from '../query/query-environment.ts';
import { compileQuery, parseQuery, runQuery } from '../sql/index.ts';
import { checkedItem } from './item-input.ts';
import { checkJson } from './json-body.ts';
import type { KeyValues } from './partition-key-header.ts';

/** Also for containers of other APIs. */
const PATCH = 'nosql.patch';

/** As JSON. A missing key value is `{}`, as in requests. */
interface PatchArguments {
  readonly patch: Value;
  readonly id: string;
  readonly key: readonly Value[];
  readonly keyPaths: readonly string[];
  readonly encoding: Encoding;
  /** The policies that functions of a condition follow. */
  readonly policies: ValueMap;
}

interface PreparedPatch {
  update(current: Item, nowMs: number): NewBody;
}

/** Prepared when the request is checked; a decision elsewhere prepares it again from the bytes. */
const prepared = new WeakMap<Bytes, PreparedPatch>();

/** The update operation of a patch. Throws where the patch is invalid. */
export function itemPatch(
  patch: Value,
  { view, key, id }: { view: ContainerView; key: KeyValues; id: string },
): UpdateOperation {
  const { partitionKey, encoding, policies } = view.record;
  const { geospatialConfig, vectorEmbeddingPolicy, fullTextPolicy } = policies;
  const args: PatchArguments = {
    patch,
    id,
    key: key.map((value) => (value === undefined ? {} : value)),
    keyPaths: partitionKey.paths,
    encoding,
    policies: { geospatialConfig, vectorEmbeddingPolicy, fullTextPolicy },
  };
  const bytes = Buffer.from(JSON.stringify(args), 'utf8');
  prepared.set(bytes, prepare(bytes));
  return { kind: 'update', createsAbsent: false, updater: PATCH, args: bytes };
}

const patchUpdater: Updater = ([current], args, { nowMs }): Outcome => {
  const patch = prepared.get(args) ?? prepare(args);
  return { kind: 'put', ...patch.update(current as Item, nowMs) };
};

export const nosqlUpdaters: Updaters = { [PATCH]: patchUpdater };

function prepare(bytes: Bytes): PreparedPatch {
  const args = JSON.parse(bytesToText(bytes)) as PatchArguments;
  const { id, encoding, policies } = args;
  const patch = parsePatch(args.patch);
  const view = { record: { encoding }, keyPaths: args.keyPaths.map(toPath) };
  const key = args.key.map((value) => (isMap(value) ? undefined : value));
  const finisher = (item: ValueMap): NewBody => {
    checkJson(item);
    return checkedItem(item, { view, key, addressed: id });
  };
  const { condition } = patch;
  const holds = condition === undefined ? undefined : conditionOf(condition, policies);
  return {
    update: (current, nowMs) =>
      patchUpdate(patch, { holds: holds && ((item) => holds(item, nowMs)), finisher })(current),
  };
}

function toPath(text: string) {
  return parsePartitionKeyPath(text) ?? [];
}

/** A filter on one item: `from c where …`, the part of a query after SELECT. Throws SqlError. */
function conditionOf(text: string, policies: ValueMap): (item: Value, nowMs: number) => boolean {
  let now = 0;
  const clock: Clock = { nowMs: () => now };
  const environment = environmentOf(policies, clock);
  const query = compileQuery(parseQuery(`SELECT * ${text}`), { environment });
  return (item, nowMs) => {
    now = nowMs;
    return runQuery(query, [item], [], nowMs, FIXED_EVALUATION).length > 0;
  };
}
