/** Inside the sandbox: the collection of a script, which is also `__`. */
import type { GuestCalls } from './guest-calls.ts';

export interface GuestCollection {
  getSelfLink(): string;
  getAltLink(): string;
  readonly [name: string]: unknown;
}

export interface CollectionLinks {
  readonly selfLink: string;
  readonly altLink: string;
}

export function makeCollection(calls: GuestCalls, links: CollectionLinks): GuestCollection {
  type Options = Readonly<Record<string, unknown>>;
  const requireLink = (link: unknown): string => {
    if (typeof link === 'string' && link !== '') return link;
    throw Object.assign(new Error('The link of a resource is expected.'), { number: 400 });
  };
  const requireDocument = (document: unknown): unknown => {
    if (typeof document === 'object' && document !== null && !Array.isArray(document))
      return document;
    throw Object.assign(new Error('A document is expected.'), { number: 400 });
  };
  /** Options are optional before the callback. */
  const tail = (options: unknown, callback: unknown): { options: Options; callback: unknown } =>
    typeof options === 'function'
      ? { options: {}, callback: options }
      : { options: (options ?? {}) as Options, callback };
  const withDocument =
    (kind: string) => (link: unknown, document: unknown, options?: unknown, callback?: unknown) => {
      const rest = tail(options, callback);
      const { etag } = rest.options;
      const call = { kind, link: requireLink(link), document: requireDocument(document), etag };
      return calls.add(call, rest.callback);
    };
  const withLink = (kind: string) => (link: unknown, options?: unknown, callback?: unknown) => {
    const rest = tail(options, callback);
    const { etag } = rest.options as { etag?: unknown };
    return calls.add({ kind, link: requireLink(link), etag }, rest.callback);
  };
  const query = (link: unknown, text: unknown, options: Options, callback: unknown) => {
    const { pageSize, continuation } = options as { pageSize?: unknown; continuation?: unknown };
    const body = typeof text === 'string' ? { query: text } : text;
    const call = { kind: 'query', link: requireLink(link), query: body, pageSize, continuation };
    return calls.add(call, callback);
  };
  return {
    getSelfLink: () => links.selfLink,
    getAltLink: () => links.altLink,
    createDocument: withDocument('create'),
    upsertDocument: withDocument('upsert'),
    replaceDocument: withDocument('replace'),
    readDocument: withLink('read'),
    deleteDocument: withLink('delete'),
    queryDocuments(link: unknown, text: unknown, options?: unknown, callback?: unknown) {
      const rest = tail(options, callback);
      return query(link, text, rest.options, rest.callback);
    },
    readDocuments(link: unknown, options?: unknown, callback?: unknown) {
      const rest = tail(options, callback);
      return query(link, 'SELECT * FROM root', rest.options, rest.callback);
    },
  };
}
