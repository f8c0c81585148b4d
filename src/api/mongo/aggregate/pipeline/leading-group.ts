/**
 * A group that a pipeline begins with, behind its filter and stages that map each document to one or drop it. Such groups
 * are folded where the documents are stored, without a stream of rows.
 *
 * Functions of clients wait for the sandbox, so that stages with them have a stream; all other stages end the search.
 */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import type { DocumentFold } from '../../documents/folds.ts';
import { type ReadFields, type Row, type Rows, readerOf } from '../../documents/rows.ts';
import { fieldsOf } from '../../query/filter.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { fieldsRead } from '../expressions/fields-read.ts';
import { GroupFold, type Grouping, parseGrouping, sortByCountStages } from '../stages/group.ts';
import { compileMatch, splitExpressions } from '../stages/match.ts';
import { compileChange, countName } from '../stages/simple.ts';
import type { StageContext } from '../stages/stage.ts';
import { type NamedStage, nameStages } from './parse.ts';

interface LeadingGroup {
  /** The name of the stage that was sent. */
  readonly name: string;
  /** A new fold of the documents. */
  start(): FoldedGroup;
  /** True where the order of the documents changes nothing. */
  readonly isOrderFree: boolean;
  readonly rest: readonly NamedStage[];
}

/** What happens to a document before it is grouped; undefined where it is dropped. */
type Mapping = (document: BsonDocument) => BsonDocument | undefined;

interface Mapped {
  readonly map: Mapping;
  /** The fields that it reads, of the document or of what the mappings before made of it; undefined for all. */
  readonly names: ReadonlySet<string> | undefined;
}

/** Undefined where the pipeline does not begin with a group. */
export function leadingGroup(
  stages: readonly NamedStage[],
  context: StageContext,
): LeadingGroup | undefined {
  const at = stages.findIndex(({ name }) => !GROUP_MAPPINGS.has(name));
  const named = stages[at];
  const found = named && GROUPS[named.name];
  const first = stages.slice(0, at + 1);
  if (named === undefined || found === undefined) return undefined;
  if (first.some(({ argument }) => hasScripts(argument))) return undefined;
  const mapped = first.slice(0, -1).map((stage) => mappingOf(stage, context));
  const [group, ...others] = nameStages(found(named.argument), context);
  const grouping = parseGrouping((group as NamedStage).argument, context);
  return {
    name: named.name,
    start: () => new FoldedGroup(mapped, grouping),
    isOrderFree: grouping.isCount,
    rest: [...others, ...stages.slice(at + 1)],
  };
}

/** Stages with a group, as the stages that they are short for. */
const GROUPS: Readonly<Record<string, (argument: Bson) => readonly Bson[]>> = {
  $count: (argument) => [
    stage(
      '$group',
      new Map<string, Bson>([
        ['_id', null],
        [countName(argument), new Map([['$sum', 1]])],
      ]),
    ),
    stage('$unset', '_id'),
  ],
  $group: (argument) => [stage('$group', argument)],
  $sortByCount: sortByCountStages,
};

function stage(name: string, argument: Bson): Bson {
  return new Map([[name, argument]]);
}

/** Stages that may stand before such a group. */
export const GROUP_MAPPINGS: ReadonlySet<string> = new Set([
  '$addFields',
  '$match',
  '$project',
  '$replaceRoot',
  '$replaceWith',
  '$set',
  '$unset',
]);

const SCRIPTS = ['$accumulator', '$function', '$where'];

function hasScripts(sent: Bson): boolean {
  if (isArray(sent)) return sent.some(hasScripts);
  if (!isDocument(sent)) return false;
  return SCRIPTS.some((name) => sent.has(name)) || [...sent.values()].some(hasScripts);
}

function mappingOf({ name, argument }: NamedStage, context: StageContext): Mapped {
  const { expressions } = context;
  if (name !== '$match') {
    const map = compileChange(name, argument, expressions) as Mapping;
    return { map, names: unionOf(fieldsRead(argument), fieldsSet(argument)) };
  }
  const test = compileMatch(argument, expressions);
  return {
    map: (document) => (test(document) ? document : undefined),
    names: fieldsMatched(argument as BsonDocument, context),
  };
}

/** The fields that a stage changes; parts of them may stay as they are. */
function fieldsSet(argument: Bson): ReadonlySet<string> {
  const names = isDocument(argument)
    ? [...argument.keys()]
    : isArray(argument)
      ? argument.map(String)
      : [String(argument)];
  return new Set(names.map((name) => name.split('.', 1)[0] as string));
}

function fieldsMatched(
  argument: BsonDocument,
  { expressions }: StageContext,
): ReadonlySet<string> | undefined {
  const { filter, expressions: parts } = splitExpressions(argument);
  const names = fieldsOf(parseFilter(filter, { expression: expressions }));
  return unionOf(names, ...parts.map(fieldsRead));
}

function unionOf(
  ...sets: readonly (ReadonlySet<string> | undefined)[]
): ReadonlySet<string> | undefined {
  const all = new Set<string>();
  for (const set of sets) {
    if (set === undefined) return undefined;
    for (const name of set) all.add(name);
  }
  return all;
}

/** A group of mapped documents. */
class FoldedGroup implements DocumentFold {
  readonly #maps: readonly Mapping[];
  readonly #group: GroupFold;
  readonly #read: ReadFields;
  readonly addMatching: DocumentFold['addMatching'];

  constructor(mapped: readonly Mapped[], grouping: Grouping) {
    this.#maps = mapped.map(({ map }) => map);
    this.#group = new GroupFold(grouping);
    this.#read = readerOf(unionOf(grouping.names, ...mapped.map(({ names }) => names)));
    this.addMatching = mapped.length === 0 ? this.#group.addMatching : undefined;
  }

  add(row: Row): boolean {
    let document: BsonDocument | undefined = this.#read(row);
    for (const map of this.#maps) {
      document = map(document);
      if (document === undefined) return true;
    }
    this.#group.addDocument(document);
    return true;
  }

  rows(): Rows {
    return this.#group.rows();
  }
}

/** The same from a stream. */
export async function* groupOf(rows: Rows, { start }: LeadingGroup): Rows {
  const fold = start();
  for await (const batch of rows) for (const row of batch) fold.add(row);
  yield* fold.rows();
}
