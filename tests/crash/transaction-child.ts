/**
 * A process that commits transactions over the partitions of two containers and kills itself with SIGKILL when a commit
 * comes to the step in MESOCOSM_TEST_KILL_STEP for the time in MESOCOSM_TEST_KILL_AT, after so many milliseconds as in
 * MESOCOSM_TEST_KILL_AFTER_MS. It prints one line for each transfer that is acknowledged.
 */
import { seededRandom } from '../../src/base/index.ts';
import { DEFAULT_SETTINGS } from '../../src/service/index.ts';
import { Bank } from './bank.ts';
import { openStored } from './storage.ts';

const { env } = process;
let count = 0;
const kill = () => process.kill(process.pid, 'SIGKILL');
const { service } = await openStored(JSON.parse(env.MESOCOSM_TEST_FLAGS ?? ''), {
  settings: { ...DEFAULT_SETTINGS, throughputMode: 'report', partitionThroughputLimit: 1000 },
  homes: [],
  onTransactionStep: (step) => {
    if (step !== env.MESOCOSM_TEST_KILL_STEP || ++count !== Number(env.MESOCOSM_TEST_KILL_AT))
      return;
    const afterMs = Number(env.MESOCOSM_TEST_KILL_AFTER_MS);
    if (afterMs === 0) kill();
    else setTimeout(kill, afterMs);
  },
});

const bank = await Bank.open(service);
const random = seededRandom(Number(env.MESOCOSM_SEED));
if (env.MESOCOSM_TEST_WORK === 'drop') {
  count = Number.NEGATIVE_INFINITY;
  await bank.fill();
  count = 0;
  console.log('filled');
  await bank.drop();
  console.log('dropped');
} else {
  const client = async (number: number): Promise<never> => {
    for (let round = 0; ; round++) {
      const name = `${env.MESOCOSM_TEST_ROUND}-${number}-${round}`;
      if (await bank.transfer(name, random)) console.log(name);
    }
  };
  await Promise.all([0, 1, 2, 3].map(client));
}
