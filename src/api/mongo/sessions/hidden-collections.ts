/** Collections that a transaction makes: nobody lists them before the commit, and an abort drops them. */
import type { Service } from '../../../service/index.ts';
import type { Bson } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import {
  type Collection,
  changeOptions,
  createCollection,
  ensureCollection,
  findCollection,
} from '../collections/collection.ts';
import { type Namespace, parseNamespace } from '../collections/namespace.ts';

/** The option that hides a collection. */
const HIDDEN = 'temp';

/** Makes the collection of the command, where it does not exist. */
export async function makeHidden({ context, body, name, database }: Call): Promise<void> {
  const target = body.get(name);
  if (typeof target === 'string')
    await ensureHidden({ context, body }, parseNamespace(database, target));
}

/** The collection, made where it does not exist: hidden within a transaction. */
export async function ensureHidden(
  { context, body }: Pick<Call, 'context' | 'body'>,
  namespace: Namespace,
): Promise<Collection> {
  const { service, transactions } = context;
  if (body.get('autocommit') !== false) return ensureCollection(service, namespace);
  const existing = findCollection(service, namespace);
  if (existing !== undefined) return existing;
  const options = new Map<string, Bson>([[HIDDEN, true]]);
  const made = await createCollection(service, namespace, { options });
  transactions.made(body, namespace);
  return made;
}

/** Hides the collection that `create` has just made. */
export async function hideMade({ context, body, name, database }: Call): Promise<void> {
  const namespace = parseNamespace(database, String(body.get(name)));
  const collection = findCollection(context.service, namespace);
  if (collection === undefined) return;
  await changeOptions(context.service, collection, new Map(collection.options).set(HIDDEN, true));
  context.transactions.made(body, namespace);
}

/** True where an open transaction has made the collection. */
export function isHidden({ options }: Pick<Collection, 'options'>): boolean {
  return options.get(HIDDEN) === true;
}

/** True for the collections of other transactions, and of this one from outside. */
export function isHiddenFrom({ body }: Call, collection: Collection): boolean {
  return isHidden(collection) && body.get('autocommit') !== false;
}

export async function showCollections(service: Service, made: readonly Namespace[]): Promise<void> {
  for (const namespace of made) {
    const collection = findCollection(service, namespace);
    if (collection?.options.get(HIDDEN) !== true) continue;
    const options = new Map(collection.options);
    options.delete(HIDDEN);
    await changeOptions(service, collection, options);
  }
}

export async function dropHidden(service: Service, made: readonly Namespace[]): Promise<void> {
  for (const namespace of made) {
    const collection = findCollection(service, namespace);
    if (collection?.options.get(HIDDEN) === true)
      await service.containers.delete(collection.container);
  }
}
