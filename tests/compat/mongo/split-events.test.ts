// Goal: $changeStreamSplitLargeEvent splits events that no document can hold, and a stream resumes between the parts.
// Method: images before and after of a document of 10 MB, read by the stock driver.
import type { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';

const LARGE = 10 * 1024 * 1024;

let account: Account;
let client: MongoClient;

beforeAll(async () => {
  account = await startAccount();
  client = await account.connect();
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

interface Doc {
  _id: number;
  text: string;
}

const split = [{ $changeStreamSplitLargeEvent: {} }];
const images = { fullDocument: 'required', fullDocumentBeforeChange: 'required' };

test('an event of two images is split, and each fragment has a token', async () => {
  const db = client.db('events');
  const collection = await db.createCollection<Doc>('large', {
    changeStreamPreAndPostImages: { enabled: true },
  });
  await collection.insertOne({ _id: 1, text: 'a'.repeat(LARGE) });
  const stream = collection.watch<never>(split, images);
  await stream.tryNext();
  await collection.updateOne({ _id: 1 }, { $set: { text: 'b'.repeat(LARGE) } });
  await collection.updateOne({ _id: 1 }, { $set: { text: 'small' } });
  await collection.updateOne({ _id: 1 }, { $set: { text: 'smaller' } });
  interface Fragment {
    readonly _id: object;
    readonly splitEvent?: { readonly fragment: number; readonly of: number };
    readonly operationType?: string;
    readonly fullDocument?: Doc;
    readonly fullDocumentBeforeChange?: Doc;
    readonly updateDescription?: { readonly updatedFields: Partial<Doc> };
  }
  const next = async (): Promise<Fragment> => (await stream.next()) as Fragment;
  const first: Fragment[] = [await next()];
  while (first.length < (first[0]?.splitEvent?.of ?? 1)) first.push(await next());
  expect(first.map(({ splitEvent }) => splitEvent)).toEqual(
    first.map((_, at) => ({ fragment: at + 1, of: first.length })),
  );
  expect(first.length).toBe(3);
  const { _id, splitEvent, ...whole } = Object.assign({}, ...first) as Fragment;
  expect(whole.operationType).toBe('update');
  expect(whole.fullDocumentBeforeChange?.text[0]).toBe('a');
  expect(whole.fullDocument?.text[0]).toBe('b');
  expect(whole.updateDescription?.updatedFields.text?.length).toBe(LARGE);
  const small = await next();
  expect(small.splitEvent).toBeUndefined();
  expect(small.fullDocument).toEqual({ _id: 1, text: 'small' });
  await stream.close();

  for (const [at, { _id: resumeAfter }] of first.entries()) {
    const resumed = collection.watch<never>(split, { ...images, resumeAfter });
    const following = (await resumed.next()) as Fragment;
    const wanted = first[at + 1]?.splitEvent;
    expect(following.splitEvent).toEqual(wanted);
    expect(Object.keys(following)).toEqual(Object.keys(first[at + 1] ?? small));
    await resumed.close();
  }
  const unsplit = collection.watch([], { ...images, resumeAfter: first[0]?._id });
  await expect(unsplit.next()).rejects.toMatchObject({ code: 280 });
  const misplaced = collection.watch([...split, { $match: {} }]);
  await expect(misplaced.next()).rejects.toMatchObject({ code: 7182802 });
});
