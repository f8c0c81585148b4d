/** Procedures, triggers and functions as resources; method: the stock client against a server in memory. */
import {
  type Container,
  type TriggerDefinition,
  TriggerOperation,
  TriggerType,
} from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

let account: Account;
let container: Container;

beforeAll(async () => {
  account = await startAccount();
  const { database } = await account.client().databases.create({ id: 'scripts' });
  ({ container } = await database.containers.create({ id: 'c', partitionKey: { paths: ['/pk'] } }));
});
afterAll(async () => {
  await account.close();
  expect(account.failures).toEqual([]);
});

const BODY = 'function () { return 1; }';

describe('resources', () => {
  test('a procedure is made, read, listed, queried, replaced, deleted', async () => {
    const { storedProcedures } = container.scripts;
    const { resource: made } = await storedProcedures.create({ id: 'p', body: BODY });
    expect(made).toMatchObject({ id: 'p', body: BODY });
    const procedure = container.scripts.storedProcedure('p');
    expect((await procedure.read()).resource).toEqual(made);
    expect((await storedProcedures.readAll().fetchAll()).resources).toEqual([made]);
    const query = { query: 'SELECT VALUE r.body FROM root r WHERE r.id = "p"' };
    expect((await storedProcedures.query(query).fetchAll()).resources).toEqual([BODY]);
    const replaced = await procedure.replace({ id: 'p', body: '() => 2' });
    expect(replaced.resource).toMatchObject({ body: '() => 2', _rid: made?._rid });
    await procedure.delete();
    await expect(procedure.read()).rejects.toMatchObject({ code: 404 });
  });

  test.each([
    ['no body', { id: 'x' }],
    ['an empty body', { id: 'x', body: ' ' }],
    ['no id', { body: BODY }],
  ])('a function is refused: %s', async (_, definition) => {
    const { userDefinedFunctions } = container.scripts;
    const made = userDefinedFunctions.create(definition as { id: string; body: string });
    await expect(made).rejects.toMatchObject({ code: 400 });
  });

  test('a trigger says when it runs', async () => {
    const { triggers } = container.scripts;
    const definition: TriggerDefinition = {
      id: 't',
      body: BODY,
      triggerType: TriggerType.Pre,
      triggerOperation: TriggerOperation.All,
    };
    const { resource } = await triggers.create(definition);
    expect(resource).toMatchObject({ triggerType: 'pre', triggerOperation: 'all' });
    for (const wrong of [{ triggerType: 'Now' }, { triggerOperation: 'Read' }]) {
      const made = triggers.create({ ...definition, id: 'u', ...wrong } as TriggerDefinition);
      await expect(made).rejects.toMatchObject({ code: 400 });
    }
    await expect(triggers.create(definition)).rejects.toMatchObject({ code: 409 });
  });
});
