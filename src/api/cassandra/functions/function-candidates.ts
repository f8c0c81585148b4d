/** Functions and aggregates of clients as candidates of a call. */
import type { Bytes } from '../../../base/index.ts';
import type { FunctionCandidate } from '../statements/expressions/candidate.ts';
import type { UserRoutine } from './user-functions.ts';

/** @param onUse - called when the call turns out to mean this routine. */
export function candidateOf(routine: UserRoutine, onUse: () => void): FunctionCandidate {
  const common = {
    keyspace: routine.keyspace,
    name: routine.name,
    arguments: routine.argumentTypes,
    result: routine.returnType,
    onUse,
  };
  if (routine.kind === 'function')
    return {
      ...common,
      run: (values, call, row) => call.userCalls.value(routine, values, row !== undefined),
    };
  return {
    ...common,
    aggregate(call) {
      const rows: (readonly (Bytes | null)[])[] = [];
      return {
        add: (values) => void rows.push([...values]),
        result: () => call.userCalls.fold(routine, rows),
      };
    },
  };
}
