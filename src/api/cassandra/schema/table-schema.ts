/** The schema of a table: what CREATE TABLE says, as it is kept with the container. */
import type { Bytes } from '../../../base/index.ts';
import { isList, isMap, type Value, type ValueMap } from '../../../value/index.ts';
import { GC_GRACE_SEC_DEFAULT } from '../cells/row.ts';
import type { IndexedPart } from '../cql/ast.ts';
import { type CqlType, isNative, partsOfType, typeText, type UserType } from '../types/cql-type.ts';
import { parseType, type UserTypes } from '../types/parse-type.ts';

export type ColumnKind = 'partition_key' | 'clustering' | 'static' | 'regular';

export interface ColumnSchema {
  readonly name: string;
  readonly type: CqlType;
  readonly kind: ColumnKind;
  /** Among the columns of its kind for keys; -1 for others. */
  readonly position: number;
  readonly isDescending: boolean;
}

/** Options by name: texts, and maps of texts such as `compaction`. */
export type TableOptions = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** What makes a table a materialized view. */
interface ViewPart {
  /** The name of the table that it is made from. */
  readonly base: string;
  readonly baseId: string;
  /** The relations of WHERE, as written. */
  readonly where: string;
  readonly includesAll: boolean;
  /** True until it has all rows that its base table had before. */
  readonly isBuilding?: boolean;
}

/** An index that a client has declared on a column, as system_schema.indexes has it. */
export interface IndexSchema {
  readonly name: string;
  readonly kind: 'COMPOSITES' | 'CUSTOM' | 'KEYS';
  readonly column: string;
  readonly part: IndexedPart;
  readonly options: Readonly<Record<string, string>>;
}

/** A column that is gone: what was written to it until then stays hidden, also where it is added again. */
export interface DroppedColumn {
  readonly name: string;
  readonly type: CqlType;
  readonly kind: ColumnKind;
  /** Microseconds. */
  readonly droppedAt: bigint;
}

export interface TableParts {
  readonly keyspace: string;
  readonly name: string;
  /** A uuid. */
  readonly id: string;
  readonly columns: readonly ColumnSchema[];
  readonly options: TableOptions;
  readonly view?: ViewPart | undefined;
  /** Names of the views of this table. */
  readonly views?: readonly string[];
  readonly indexes?: readonly IndexSchema[];
  readonly dropped?: readonly DroppedColumn[];
  /** Made WITH COMPACT STORAGE. */
  readonly isCompact?: boolean;
}

export class TableSchema {
  readonly keyspace: string;
  readonly name: string;
  readonly id: string;
  readonly options: TableOptions;
  readonly partitionKey: readonly ColumnSchema[];
  readonly clustering: readonly ColumnSchema[];
  readonly statics: readonly ColumnSchema[];
  readonly regulars: readonly ColumnSchema[];
  /** In the order of SELECT *: keys, then static and other columns by name. */
  readonly columns: readonly ColumnSchema[];
  readonly view: ViewPart | undefined;
  readonly views: readonly string[];
  readonly indexes: readonly IndexSchema[];
  readonly dropped: readonly DroppedColumn[];
  /** By name, when columns were dropped; undefined where none was. */
  readonly droppedAt: ReadonlyMap<string, bigint> | undefined;
  readonly isCompact: boolean;
  readonly isCounter: boolean;
  readonly graceSec: number;
  readonly defaultTtlSec: number;
  readonly #byName: ReadonlyMap<string, ColumnSchema>;

  constructor(parts: TableParts) {
    const { keyspace, name, id, columns, options } = parts;
    this.keyspace = keyspace;
    this.name = name;
    this.id = id;
    this.options = options;
    const ofKind = (kind: ColumnKind) => columns.filter((column) => column.kind === kind);
    this.partitionKey = ofKind('partition_key').sort(byPosition);
    this.clustering = ofKind('clustering').sort(byPosition);
    this.statics = ofKind('static').sort(byName);
    this.regulars = ofKind('regular').sort(byName);
    this.columns = [...this.partitionKey, ...this.clustering, ...this.statics, ...this.regulars];
    this.view = parts.view;
    this.views = parts.views ?? [];
    this.indexes = parts.indexes ?? [];
    this.dropped = parts.dropped ?? [];
    this.droppedAt =
      this.dropped.length === 0
        ? undefined
        : new Map(this.dropped.map((column) => [column.name, column.droppedAt]));
    this.isCompact = parts.isCompact === true;
    this.isCounter = columns.some(({ type }) => isNative(type, 'counter'));
    this.graceSec = numberOption(options, 'gc_grace_seconds', GC_GRACE_SEC_DEFAULT);
    this.defaultTtlSec = numberOption(options, 'default_time_to_live', 0);
    this.#byName = new Map(columns.map((column) => [column.name, column]));
  }

  column(name: string): ColumnSchema | undefined {
    return this.#byName.get(name);
  }
}

function byPosition(a: ColumnSchema, b: ColumnSchema): number {
  return a.position - b.position;
}

function byName(a: ColumnSchema, b: ColumnSchema): number {
  return a.name < b.name ? -1 : 1;
}

function numberOption(options: TableOptions, name: string, fallback: number): number {
  const value = Number(options[name] ?? fallback);
  return Number.isSafeInteger(value) && value >= 0 ? value : fallback;
}

/** The schema as a policy of its container. The types of clients are in it, so that it can be read alone. */
export function policyOf(parts: TableParts): ValueMap {
  const {
    id,
    columns,
    options,
    indexes = [],
    dropped = [],
    isCompact = false,
    view,
    views = [],
  } = parts;
  const types = new Map<string, UserType>();
  for (const { type } of [...columns, ...dropped])
    for (const part of partsOfType(type)) if (part.kind === 'user') types.set(part.name, part);
  return {
    cassandra: {
      id,
      columns: columns.map(({ name, type, kind, position, isDescending }) => ({
        name,
        type: typeText(type),
        kind,
        position,
        isDescending,
      })),
      options,
      types: [...types.values()].map(typeValue),
      indexes: indexes.map((index) => ({ ...index })),
      dropped: dropped.map(({ name, type, kind, droppedAt }) => ({
        name,
        type: typeText(type),
        kind,
        droppedAt: droppedAt.toString(),
      })),
      isCompact,
      ...(view === undefined ? {} : { view: { ...view } }),
      ...(views.length === 0 ? {} : { views }),
    },
  };
}

/** A type of a client as it is kept. */
export function typeValue({ name, fields }: UserType): ValueMap {
  return {
    name,
    fields: fields.map((field) => ({ name: field.name, type: typeText(field.type) })),
  };
}

/** The types of clients as they are kept, each made when it is first looked for. */
export function typesOfValue(keyspace: string, value: Value): UserTypes & Iterable<UserType> {
  const kept = new Map(
    (isList(value) ? value : []).map((type) => [String((type as ValueMap).name), type as ValueMap]),
  );
  const made = new Map<string, UserType>();
  const types: UserTypes & Iterable<UserType> = {
    keyspace,
    find(name) {
      const known = made.get(name);
      if (known !== undefined) return known;
      const { fields } = kept.get(name) ?? {};
      if (!isList(fields)) return undefined;
      const type: UserType = {
        kind: 'user',
        keyspace,
        name,
        isFrozen: false,
        fields: fields.map((field) => ({
          name: String((field as ValueMap).name),
          type: parseType(String((field as ValueMap).type), types),
        })),
      };
      made.set(name, type);
      return type;
    },
    *[Symbol.iterator]() {
      for (const name of kept.keys()) yield types.find(name) as UserType;
    },
  };
  return types;
}

/** The schema of a container of this API. */
export function schemaOfPolicy(keyspace: string, name: string, policies: ValueMap): TableSchema {
  const policy = policies.cassandra as ValueMap;
  const types = typesOfValue(keyspace, policy.types);
  const listOf = (value: Value): readonly ValueMap[] =>
    (isList(value) ? value : []) as readonly ValueMap[];
  return new TableSchema({
    keyspace,
    name,
    id: String(policy.id),
    columns: listOf(policy.columns).map((column) => columnOf(column, types)),
    options: (isMap(policy.options) ? policy.options : {}) as TableOptions,
    indexes: listOf(policy.indexes) as unknown as readonly IndexSchema[],
    dropped: listOf(policy.dropped).map((column) => ({
      name: String(column.name),
      type: parseType(String(column.type), types),
      kind: column.kind as ColumnKind,
      droppedAt: BigInt(String(column.droppedAt)),
    })),
    isCompact: policy.isCompact === true,
    view: isMap(policy.view) ? (policy.view as unknown as ViewPart) : undefined,
    views: (isList(policy.views) ? policy.views : []) as readonly string[],
  });
}

function columnOf(value: ValueMap, types: UserTypes): ColumnSchema {
  const { name, type, kind, position, isDescending } = value;
  return {
    name: String(name),
    type: parseType(String(type), types),
    kind: kind as ColumnKind,
    position: Number(position),
    isDescending: isDescending === true,
  };
}

/** A row of bytes by column name; null columns are absent. */
export type PlainRow = ReadonlyMap<string, Bytes>;
