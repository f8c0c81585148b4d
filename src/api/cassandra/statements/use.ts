/** USE: the keyspace of the connection. */
import { invalid } from '../errors.ts';
import type { Plan } from './plan.ts';
import type { Scope } from './scope.ts';

export function usePlan(keyspace: string, { environment }: Scope): Plan {
  return {
    operation: 'use',
    variables: [],
    keyIndexes: [],
    columns: undefined,
    isCurrent: () => true,
    async run() {
      const { keyspaces, system } = environment;
      if (keyspaces.find(keyspace) === undefined && !system.has(keyspace))
        throw invalid(`Keyspace '${keyspace}' does not exist`);
      return { kind: 'keyspace', name: keyspace };
    },
  };
}
