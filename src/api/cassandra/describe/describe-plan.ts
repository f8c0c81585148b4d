/** The plan of DESCRIBE: the elements that it asks for, as rows. */
import { type Bytes, bufferOf, textToBytes } from '../../../base/index.ts';
import type { TableName } from '../cql/ast.ts';
import { invalid } from '../errors.ts';
import { signatureOf, type UserRoutine } from '../functions/user-functions.ts';
import type { Keyspace } from '../schema/keyspaces.ts';
import type { TableSchema } from '../schema/table-schema.ts';
import type { Call, Plan, Result, ResultColumn } from '../statements/plan.ts';
import type { Scope } from '../statements/scope.ts';
import { type CqlType, native } from '../types/cql-type.ts';
import { bytesOfJson } from '../types/values.ts';
import { BodyReader } from '../wire/body-reader.ts';
import { BodyWriter } from '../wire/body-writer.ts';
import type { DescribeStatement, DescribeTarget } from './describe-ast.ts';
import {
  aggregateText,
  functionText,
  indexText,
  keyspaceText,
  nameText,
  tableText,
  typeStatement,
  viewText,
} from './schema-text.ts';

interface Element {
  readonly keyspace: string;
  readonly type: string;
  readonly name: string;
  text(): string;
}

/** A keyspace of clients or of the system, with what is in it. */
interface Described {
  readonly name: string;
  readonly keyspace: Keyspace | undefined;
  readonly tables: readonly TableSchema[];
  readonly isVirtual: boolean;
}

const TEXT = native('text');
const LIST = ['keyspace_name', 'type', 'name'];
const ELEMENTS = [...LIST, 'create_statement'];

export function describePlan({ target, hasInternals }: DescribeStatement, _scope: Scope): Plan {
  return {
    operation: 'describe',
    variables: [],
    keyIndexes: [],
    columns:
      target.kind === 'cluster' ? undefined : columnsOf(target.kind === 'list' ? LIST : ELEMENTS),
    isCurrent: () => true,
    run: async (call) =>
      target.kind === 'cluster'
        ? clusterRow(call)
        : elementRows(new Elements(call, hasInternals).of(target), target.kind === 'list', call),
  };
}

function columnsOf(names: readonly string[], type: CqlType = TEXT): readonly ResultColumn[] {
  return names.map((name) => ({ keyspace: 'system', table: 'describe', name, type }));
}

/** A page of elements; the state is the schema's version and how many were sent. */
function elementRows(elements: readonly Element[], isList: boolean, call: Call): Result {
  const version = call.environment.keyspaces.version();
  const from = call.pagingState === undefined ? 0 : offsetOf(call.pagingState, version);
  const end = call.pageSize === undefined ? elements.length : from + call.pageSize;
  const rows = elements.slice(from, end).map((one) => {
    const cells = [nameText(one.keyspace), one.type, one.name];
    return (isList ? cells : [...cells, one.text()]).map(textToBytes);
  });
  return {
    kind: 'rows',
    columns: columnsOf(isList ? LIST : ELEMENTS),
    rows,
    pagingState: end < elements.length ? stateOf(end, version) : undefined,
  };
}

function stateOf(offset: number, version: string): Bytes {
  return new BodyWriter().byte(1).string(version).int(offset).finish();
}

function offsetOf(state: Bytes, version: string): number {
  const reader = new BodyReader(bufferOf(state));
  if (reader.byte() !== 1) throw invalid('Incompatible paging state');
  if (reader.string() !== version)
    throw invalid(
      'The schema has changed since the previous page of the DESCRIBE statement result. Please retry the DESCRIBE statement.',
    );
  return Math.max(0, reader.int());
}

function clusterRow(call: Call): Result {
  const columns = [...columnsOf(['cluster', 'partitioner', 'snitch'])];
  const cells: Bytes[] = ['Mesocosm', 'Murmur3Partitioner', 'SimpleSnitch'].map(textToBytes);
  if (call.keyspace !== undefined && !call.environment.system.has(call.keyspace)) {
    const type: CqlType = {
      kind: 'map',
      key: TEXT,
      value: { kind: 'list', element: TEXT, isFrozen: true },
      isFrozen: true,
    };
    columns.push(...columnsOf(['range_ownership'], type));
    cells.push(bytesOfJson(type, { '-9223372036854775808': [call.node.address] }));
  }
  return { kind: 'rows', columns, rows: [cells] };
}

class Elements {
  readonly #call: Call;
  readonly #hasInternals: boolean;

  constructor(call: Call, hasInternals: boolean) {
    this.#call = call;
    this.#hasInternals = hasInternals;
  }

  of(target: Exclude<DescribeTarget, { kind: 'cluster' }>): readonly Element[] {
    switch (target.kind) {
      case 'schema':
        return this.#all()
          .filter(
            ({ keyspace, isVirtual }) => keyspace !== undefined || (target.isFull && !isVirtual),
          )
          .flatMap((one) => this.#inside(one));
      case 'list':
        return this.#list(target.of);
      case 'keyspace': {
        const name = target.name ?? this.#call.keyspace;
        if (name === undefined) throw invalid('No keyspace specified and no current keyspace');
        const found = this.#keyspace(name);
        return target.isOnly ? [this.#keyspaceElement(found)] : this.#inside(found);
      }
      case 'element':
        return this.#element(target.element, target.name);
      case 'named':
        return this.#named(target.name);
    }
  }

  #all(): readonly Described[] {
    const { keyspaces, system } = this.#call.environment;
    const own = keyspaces.list().map((keyspace) => this.#described(keyspace.name));
    const others = system.names().map((name) => this.#described(name));
    return [...own, ...others]
      .flatMap((one) => one ?? [])
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #described(name: string): Described | undefined {
    const { keyspaces, system } = this.#call.environment;
    const keyspace = keyspaces.find(name);
    if (keyspace !== undefined)
      return {
        name,
        keyspace,
        tables: sorted(keyspaces.tables(keyspace).map(({ schema }) => schema)),
        isVirtual: false,
      };
    if (!system.has(name)) return undefined;
    const tables = system.tablesOf(name);
    return {
      name,
      keyspace: undefined,
      tables: sorted(tables.map(({ schema }) => schema)),
      isVirtual: tables.some(({ isVirtual }) => isVirtual),
    };
  }

  #keyspace(name: string): Described {
    const found = this.#described(name);
    if (found === undefined) throw invalid(`'${name}' not found in keyspaces`);
    return found;
  }

  /** The keyspace of a name, or the current one. */
  #where({ keyspace }: TableName): Described {
    const name = keyspace ?? this.#call.keyspace;
    if (name === undefined) throw invalid('No keyspace specified and no current keyspace');
    return this.#keyspace(name);
  }

  #list(of: 'keyspaces' | 'tables' | 'types' | 'functions' | 'aggregates'): readonly Element[] {
    if (of === 'keyspaces') return this.#all().map((one) => this.#keyspaceElement(one));
    const current = this.#call.keyspace;
    const where = current === undefined ? this.#all() : [this.#keyspace(current)];
    return where.flatMap((one): readonly Element[] => {
      if (of === 'types') return this.#types(one);
      if (of === 'functions') return this.#routines(one, 'function');
      if (of === 'aggregates') return this.#routines(one, 'aggregate');
      return one.tables
        .filter(({ view }) => view === undefined)
        .map((schema) => this.#tableElement(schema, one));
    });
  }

  /** A keyspace with everything in it, such that what others need comes first. */
  #inside(one: Described): readonly Element[] {
    return [
      this.#keyspaceElement(one),
      ...this.#types(one),
      ...this.#routines(one, 'function'),
      ...this.#routines(one, 'aggregate'),
      ...one.tables
        .filter(({ view }) => view === undefined)
        .flatMap((schema) => this.#withParts(schema, one)),
    ];
  }

  #withParts(schema: TableSchema, one: Described): readonly Element[] {
    const views = one.tables.filter(({ view }) => view?.base === schema.name);
    return [
      this.#tableElement(schema, one),
      ...this.#indexes(schema),
      ...views.map((view) => this.#viewElement(view)),
    ];
  }

  #indexes(schema: TableSchema): readonly Element[] {
    return sorted(schema.indexes).map((index) => ({
      keyspace: schema.keyspace,
      type: 'index',
      name: nameText(index.name),
      text: () => indexText(schema, index),
    }));
  }

  #keyspaceElement({ name, keyspace, isVirtual }: Described): Element {
    return {
      keyspace: name,
      type: 'keyspace',
      name: nameText(name),
      text: () => {
        if (keyspace !== undefined) return keyspaceText(keyspace);
        if (isVirtual)
          return `/*\nWarning: Keyspace ${name} is a virtual keyspace and cannot be recreated with CQL.\nStructure, for reference:\nVIRTUAL KEYSPACE ${name};\n*/`;
        const replication = { class: 'org.apache.cassandra.locator.LocalStrategy' };
        return keyspaceText({ name, replication, durableWrites: true });
      },
    };
  }

  #tableElement(schema: TableSchema, { isVirtual }: Described): Element {
    return {
      keyspace: schema.keyspace,
      type: 'table',
      name: nameText(schema.name),
      text: () => tableText(schema, this.#hasInternals, isVirtual),
    };
  }

  #viewElement(schema: TableSchema): Element {
    return {
      keyspace: schema.keyspace,
      type: 'materialized_view',
      name: nameText(schema.name),
      text: () => viewText(schema, this.#hasInternals),
    };
  }

  /** Types that others are made of come first. */
  #types({ keyspace }: Described): readonly Element[] {
    const left = sorted([...(keyspace?.types ?? [])]);
    const ordered: typeof left = [];
    while (left.length > 0) {
      const at = left.findIndex(({ fields }) =>
        fields.every(({ type }) => !left.some((other) => mentions(type, other.name))),
      );
      ordered.push(...left.splice(Math.max(0, at), 1));
    }
    return ordered.map((type) => ({
      keyspace: type.keyspace,
      type: 'type',
      name: nameText(type.name),
      text: () => typeStatement(type),
    }));
  }

  #routines({ keyspace }: Described, kind: UserRoutine['kind']): readonly Element[] {
    if (keyspace === undefined) return [];
    const { functions, aggregates } = this.#call.environment.functions.of(keyspace);
    const all: readonly UserRoutine[] = kind === 'function' ? functions : aggregates;
    return sorted([...all]).map((one) => ({
      keyspace: one.keyspace,
      type: kind,
      name: signatureOf({ ...one, name: nameText(one.name) }),
      text: () => (one.kind === 'function' ? functionText(one) : aggregateText(one)),
    }));
  }

  #element(
    kind: 'table' | 'type' | 'function' | 'aggregate' | 'index' | 'view',
    name: TableName,
  ): readonly Element[] {
    const one = this.#where(name);
    const found = this.#find(kind, name.name, one);
    if (found.length === 0) throw invalid(MISSING[kind](name.name, one.name));
    return found;
  }

  #find(kind: keyof typeof MISSING, name: string, one: Described): readonly Element[] {
    const quotedForm = nameText(name);
    switch (kind) {
      case 'table':
        return one.tables
          .filter((schema) => schema.name === name && schema.view === undefined)
          .flatMap((schema) => this.#withParts(schema, one));
      case 'view':
        return one.tables
          .filter((schema) => schema.name === name && schema.view !== undefined)
          .map((schema) => this.#viewElement(schema));
      case 'index':
        return one.tables
          .flatMap((schema) => this.#indexes(schema))
          .filter((element) => element.name === quotedForm);
      case 'type':
        return this.#types(one).filter((element) => element.name === quotedForm);
      default:
        return this.#routines(one, kind).filter(({ name: text }) =>
          text.startsWith(`${quotedForm}(`),
        );
    }
  }

  /** A keyspace, or a table, index or view of the current keyspace. */
  #named(name: TableName): readonly Element[] {
    const direct = name.keyspace === undefined ? this.#described(name.name) : undefined;
    if (direct !== undefined) return this.#inside(direct);
    const one = this.#keyspace(name.keyspace ?? this.#call.keyspace ?? name.name);
    for (const kind of ['table', 'index', 'view'] as const) {
      const found = this.#find(kind, name.name, one);
      if (found.length > 0) return found;
    }
    throw invalid(`'${name.name}' not found in keyspace '${one.name}'`);
  }
}

const MISSING = {
  aggregate: (name: string, where: string) =>
    `User defined aggregate '${name}' not found in '${where}'`,
  function: (name: string, where: string) =>
    `User defined function '${name}' not found in '${where}'`,
  index: (name: string, where: string) =>
    `Table for existing index '${name}' not found in '${where}'`,
  table: (name: string, where: string) => `Table '${name}' not found in keyspace '${where}'`,
  type: (name: string, where: string) => `User defined type '${name}' not found in '${where}'`,
  view: (name: string, where: string) => `Materialized view '${name}' not found in '${where}'`,
} as const;

function mentions(type: CqlType, name: string): boolean {
  switch (type.kind) {
    case 'native':
      return false;
    case 'user':
      return type.name === name;
    case 'tuple':
      return type.elements.some((element) => mentions(element, name));
    case 'map':
      return mentions(type.key, name) || mentions(type.value, name);
    default:
      return mentions(type.element, name);
  }
}

function sorted<T extends { readonly name: string }>(elements: readonly T[]): T[] {
  return [...elements].sort((a, b) => (a.name < b.name ? -1 : 1));
}
