// Goal: every request has its own id, a GUID. Method: many ids from two servers.
import { expect, test } from 'vitest';
import { RequestIds } from './request-ids.ts';

test('GUIDs, all different', () => {
  const servers = [new RequestIds(), new RequestIds()];
  const ids = servers.flatMap((each) => Array.from({ length: 300 }, () => each.next()));
  expect(new Set(ids).size).toBe(600);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
