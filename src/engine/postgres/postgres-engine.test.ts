// Goal: the PostgreSQL engine keeps the engine contract. Method: the contract suite on a real member, started from the
// npm package, or on the server of MESOCOSM_TEST_POSTGRES.
import { engineContractSuite } from '../contract-suite.ts';
import { testAddress } from './local/test-member.ts';
import { openPostgresEngine } from './postgres-engine.ts';

const member = await testAddress();

if (member.isMissing) member.report();
else
  engineContractSuite('postgres', async () => {
    const address = member.address();
    const open = () => openPostgresEngine({ address, checksQuorum: false });
    // The suite goes on with its engine after it has opened a second one, which takes the stores for good.
    let current = await open();
    const reopen = async () => {
      current = await open();
      return current;
    };
    const engine = {
      open: (name: string) => current.open(name),
      list: () => current.list(),
      drop: (name: string) => current.drop(name),
      close: () => current.close(),
    };
    return { engine, reopen, dispose: () => member.dispose() };
  });
