/**
 * A server process that splits and merges its partitions while it serves, and kills itself with SIGKILL when a move comes to the step
 * named in MESOCOSM_TEST_KILL_STEP for the time in MESOCOSM_TEST_KILL_AT. The program itself knows no such variables.
 */
import { systemClock } from '../../src/base/index.ts';
import { compose } from '../../src/server/compose.ts';
import { parseConfig } from '../../src/server/config.ts';
import { ANY_PORTS } from '../server/child-server.ts';

const { MESOCOSM_TEST_FLAGS, MESOCOSM_TEST_KILL_STEP, MESOCOSM_TEST_KILL_AT } = process.env;
const storageLimit = process.env.MESOCOSM_TEST_STORAGE_LIMIT ?? '60k';
const flags = [...JSON.parse(MESOCOSM_TEST_FLAGS ?? ''), '--throughput', 'report'];
const limits = ['--partition-storage-limit', storageLimit, '--logical-partition-limit', '1g'];
const config = parseConfig([...flags, ...limits], ANY_PORTS);
if (config === 'help') throw new Error('no help wanted');

let count = 0;
/** One member without standbys is what the tests want. */
const complain = (event: string, fields?: object) => {
  if (event !== 'fewerReplicas') console.error(event, fields);
};
const server = await compose(config, {
  version: 'test',
  clock: systemClock,
  log: { info: () => undefined, error: complain },
  onMoveStep: (step) => {
    if (step === MESOCOSM_TEST_KILL_STEP && ++count === Number(MESOCOSM_TEST_KILL_AT))
      process.kill(process.pid, 'SIGKILL');
  },
});
console.log(server.listeners[0]?.port);
