/** Collections that a transaction makes: nobody lists them before the commit, and an abort drops them. */
import type { Service } from '../../../service/index.ts';
import type { Bson } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import { changeOptions, createCollection, findCollection } from '../collections/collection.ts';
import { type Namespace, parseNamespace } from '../collections/namespace.ts';

/** The option that hides a collection. */
const HIDDEN = 'temp';

/** Makes the collection of the command, where it does not exist. */
export async function makeHidden({ context, body, name, database }: Call): Promise<void> {
  const target = body.get(name);
  if (typeof target !== 'string') return;
  const namespace = parseNamespace(database, target);
  if (findCollection(context.service, namespace) !== undefined) return;
  const options = new Map<string, Bson>([[HIDDEN, true]]);
  await createCollection(context.service, namespace, { options });
  context.transactions.made(body, namespace);
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
