/** Test suites let every time limit be over. */
import type { MongoContext } from '../call.ts';
import { MongoError } from '../errors.ts';

/** Throws MaxTimeMSExpired where a fail point says so; called where a command has a limit. */
export function refuseTime({ failPoints }: Pick<MongoContext, 'failPoints'>): void {
  if (failPoints?.isOn('maxTimeAlwaysTimeOut') === true)
    throw new MongoError('MaxTimeMSExpired', 'operation exceeded time limit');
}
