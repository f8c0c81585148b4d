/** The bytes of a collection. */
import type { Command } from '../../call.ts';
import { findCollection } from '../../collections/collection.ts';
import { splitNamespace } from '../../collections/namespace.ts';
import { collectionSizes } from '../../diagnostics/sizes.ts';
import { wrongType } from '../../fields/field-table.ts';
import { ok } from '../../reply.ts';

export const dataSize: Command = {
  needs: 'read',
  fields: { keyPattern: 'object', min: 'object', max: 'object', estimate: 'flag' },
  async run({ context: { service }, args, body, name }) {
    const startedMs = performance.now();
    const sent = body.get(name) ?? null;
    if (typeof sent !== 'string') throw wrongType(`${name}.${name}`, sent, 'string');
    const collection = findCollection(service, splitNamespace(sent));
    const sizes =
      collection === undefined
        ? { dataSize: 0, count: 0 }
        : await collectionSizes(service, collection);
    return ok({
      estimate: args.flag('estimate'),
      size: BigInt(sizes.dataSize),
      numObjects: BigInt(sizes.count),
      maxReached: false,
      millis: BigInt(Math.round(performance.now() - startedMs)),
    });
  },
};
