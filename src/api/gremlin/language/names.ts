/** Names that a script may use without a prefix. */

/** Predicates: P and TextP. `not` is also a step: its argument decides. */
export const PREDICATES: ReadonlySet<string> = new Set([
  'eq',
  'neq',
  'lt',
  'lte',
  'gt',
  'gte',
  'inside',
  'outside',
  'between',
  'within',
  'without',
  'startingWith',
  'endingWith',
  'containing',
  'notStartingWith',
  'notEndingWith',
  'notContaining',
  'regex',
  'notRegex',
  'typeOf',
]);

/** The names of enumerations, by their type. */
const ENUMERATIONS: Readonly<Record<string, readonly string[]>> = {
  T: ['id', 'label', 'key', 'value'],
  Order: ['asc', 'desc', 'shuffle', 'incr', 'decr'],
  Scope: ['local', 'global'],
  Pop: ['first', 'last', 'all', 'mixed'],
  Column: ['keys', 'values'],
  Cardinality: ['single', 'list', 'set'],
  Direction: ['OUT', 'IN', 'BOTH', 'from', 'to'],
  Pick: ['any', 'none', 'unproductive'],
  Merge: ['onCreate', 'onMatch', 'outV', 'inV'],
  Operator: [
    'sum',
    'minus',
    'mult',
    'div',
    'min',
    'max',
    'assign',
    'and',
    'or',
    'addAll',
    'sumLong',
  ],
  Barrier: ['normSack'],
  DT: ['second', 'minute', 'hour', 'day'],
  GType: [
    'BIGDECIMAL',
    'BIGINT',
    'BINARY',
    'BOOLEAN',
    'BYTE',
    'CHAR',
    'DATETIME',
    'DOUBLE',
    'DURATION',
    'EDGE',
    'FLOAT',
    'GRAPH',
    'INT',
    'LIST',
    'LONG',
    'MAP',
    'NULL',
    'NUMBER',
    'PATH',
    'PROPERTY',
    'SET',
    'SHORT',
    'STRING',
    'TREE',
    'UUID',
    'VERTEX',
    'VPROPERTY',
  ],
};

const TYPE_OF_NAME: ReadonlyMap<string, string> = new Map(
  // Where two enumerations share a name, the first one above has it.
  Object.entries(ENUMERATIONS)
    .reverse()
    .flatMap(([type, names]) => names.map((name): [string, string] => [name, type])),
);

/** The enumeration of a name without a prefix; undefined where none has it. */
export function enumerationOf(name: string): string | undefined {
  return TYPE_OF_NAME.get(name);
}

/** Whether `type.name` is a name of an enumeration. VertexProperty.Cardinality is one of two names of its type. */
export function isEnumeration(type: string, name: string): boolean {
  return ENUMERATIONS[type]?.includes(name) === true;
}

/** Names of options: what `WithOptions.tokens` and the like stand for. */
const OPTIONS: Readonly<Record<string, string | number>> = {
  'WithOptions.tokens': '~tinkerpop.valueMap.tokens',
  'WithOptions.none': 0,
  'WithOptions.ids': 1,
  'WithOptions.labels': 2,
  'WithOptions.keys': 4,
  'WithOptions.values': 8,
  'WithOptions.all': 15,
  'WithOptions.indexer': '~tinkerpop.index.indexer',
  'WithOptions.list': 0,
  'WithOptions.map': 1,
  'PageRank.edges': '~tinkerpop.pageRank.edges',
  'PageRank.times': '~tinkerpop.pageRank.times',
  'PageRank.propertyName': '~tinkerpop.pageRank.propertyName',
  'PeerPressure.edges': '~tinkerpop.peerPressure.edges',
  'PeerPressure.times': '~tinkerpop.peerPressure.times',
  'PeerPressure.propertyName': '~tinkerpop.peerPressure.propertyName',
  'ConnectedComponent.edges': '~tinkerpop.connectedComponent.edges',
  'ConnectedComponent.propertyName': '~tinkerpop.connectedComponent.propertyName',
  'ConnectedComponent.component': 'gremlin.connectedComponentVertexProgram.component',
  'ShortestPath.target': '~tinkerpop.shortestPath.target',
  'ShortestPath.edges': '~tinkerpop.shortestPath.edges',
  'ShortestPath.distance': '~tinkerpop.shortestPath.distance',
  'ShortestPath.maxDistance': '~tinkerpop.shortestPath.maxDistance',
  'ShortestPath.includeEdges': '~tinkerpop.shortestPath.includeEdges',
  'IO.reader': '~tinkerpop.io.reader',
  'IO.writer': '~tinkerpop.io.writer',
  'IO.graphml': 'graphml',
  'IO.graphson': 'graphson',
  'IO.gryo': 'gryo',
};

export function optionConstant(type: string, name: string): string | number | undefined {
  return OPTIONS[`${type}.${name}`];
}
