/** The parts of the stock client that tests use; the package has no types of its own. */
declare module 'gremlin' {
  type Args = readonly unknown[];

  type StepName =
    | 'V'
    | 'E'
    | 'addV'
    | 'addE'
    | 'and'
    | 'as'
    | 'both'
    | 'bothE'
    | 'bothV'
    | 'by'
    | 'choose'
    | 'coalesce'
    | 'constant'
    | 'count'
    | 'dedup'
    | 'drop'
    | 'emit'
    | 'fold'
    | 'from_'
    | 'group'
    | 'groupCount'
    | 'has'
    | 'hasId'
    | 'hasLabel'
    | 'hasNot'
    | 'id'
    | 'in_'
    | 'inE'
    | 'inV'
    | 'inject'
    | 'is'
    | 'label'
    | 'limit'
    | 'max'
    | 'mean'
    | 'min'
    | 'not'
    | 'or'
    | 'order'
    | 'otherV'
    | 'out'
    | 'outE'
    | 'outV'
    | 'path'
    | 'project'
    | 'properties'
    | 'property'
    | 'range'
    | 'repeat'
    | 'select'
    | 'sum'
    | 'times'
    | 'to'
    | 'unfold'
    | 'union'
    | 'until'
    | 'valueMap'
    | 'values'
    | 'where'
    | 'map'
    | 'withStrategies'
    | 'with_';

  type PredicateName =
    | 'between'
    | 'containing'
    | 'eq'
    | 'gt'
    | 'gte'
    | 'inside'
    | 'lt'
    | 'lte'
    | 'neq'
    | 'not'
    | 'outside'
    | 'startingWith'
    | 'within'
    | 'without';

  type Traversal = {
    readonly [name in StepName]: (...args: Args) => Traversal;
  } & {
    readonly bytecode: object;
    getBytecode(): object;
    toList(): Promise<unknown[]>;
    next(): Promise<{ readonly value: unknown; readonly done: boolean }>;
    iterate(): Promise<void>;
  };

  type Predicates = {
    readonly [name in PredicateName]: (...args: Args) => { and(other: unknown): unknown };
  };

  interface ResultSet extends Iterable<unknown> {
    readonly length: number;
    readonly attributes: Map<string, unknown> | Readonly<Record<string, unknown>>;
    toArray(): unknown[];
    first(): unknown;
  }

  interface RequestMessage {
    readonly requestId: string;
    readonly op: string;
    readonly processor: string;
    readonly args: object;
  }

  interface Response {
    readonly requestId: string;
    readonly status: {
      readonly code: number;
      readonly message: string;
      readonly attributes: unknown;
    };
    readonly result: { readonly data: unknown[]; readonly meta: unknown };
  }

  interface Reader {
    readResponse(bytes: Uint8Array): Response;
  }

  interface Writer {
    writeRequest(request: RequestMessage): Buffer;
  }

  interface ClientOptions {
    readonly mimeType?: string;
    readonly authenticator?: unknown;
    readonly traversalSource?: string;
    readonly session?: string;
    readonly processor?: string;
    readonly enableCompression?: boolean;
    readonly rejectUnauthorized?: boolean;
  }

  class Client {
    constructor(url: string, options: ClientOptions);
    open(): Promise<void>;
    submit(message: string | object, bindings?: object, options?: object): Promise<ResultSet>;
    stream(message: string, bindings?: object, options?: object): AsyncIterable<ResultSet>;
    close(): Promise<void>;
    addListener(event: string, handler: (...args: Args) => void): void;
  }

  class DriverRemoteConnection {
    constructor(url: string, options: ClientOptions);
    close(): Promise<void>;
  }

  const gremlin: {
    readonly driver: {
      readonly Client: typeof Client;
      readonly DriverRemoteConnection: typeof DriverRemoteConnection;
      readonly auth: {
        readonly PlainTextSaslAuthenticator: new (user: string, password: string) => unknown;
      };
    };
    readonly process: {
      readonly P: Predicates;
      readonly TextP: Predicates;
      readonly order: Readonly<Record<string, unknown>>;
      readonly t: Readonly<Record<string, unknown>>;
      readonly scope: Readonly<Record<string, unknown>>;
      readonly cardinality: Readonly<Record<string, unknown>>;
      readonly statics: Traversal;
      readonly AnonymousTraversalSource: {
        readonly traversal: () => {
          with_(connection: DriverRemoteConnection): Traversal;
        };
      };
      readonly GraphTraversalSource: new (graph: unknown, strategies: unknown) => Traversal;
      readonly TraversalStrategies: new () => unknown;
    };
    readonly structure: {
      readonly io: {
        readonly GraphSON2Reader: new () => Reader;
        readonly GraphSON3Reader: new () => Reader;
        readonly GraphSON2Writer: new () => Writer;
        readonly GraphSON3Writer: new () => Writer;
      };
    };
  };

  export {
    type Client,
    type ClientOptions,
    type Reader,
    type ResultSet,
    type Traversal,
    type Writer,
  };
  // biome-ignore lint/style/noDefaultExport: the package has one.
  export default gremlin;
}

declare module 'gremlin/lib/structure/io/binary/GraphBinary.js' {
  import type { Reader, Writer } from 'gremlin';

  const codec: { readonly graphBinaryReader: Reader; readonly graphBinaryWriter: Writer };
  // biome-ignore lint/style/noDefaultExport: the package has one.
  export default codec;
}

declare module 'gremlin/lib/process/traversal-strategy.js' {
  const strategies: { readonly ReadOnlyStrategy: new () => unknown };
  // biome-ignore lint/style/noDefaultExport: the package has one.
  export default strategies;
}
