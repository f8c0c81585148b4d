/**
 * Goal: account names and keys log in, nothing else does. Method: a client's side of SCRAM written from RFC 5802, and the
 * example of RFC 7677.
 */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/index.ts';
import { type AccessControl, memoryAccessStore, openAccessControl } from './access.ts';
import { KEY_NAMES, type KeyName } from './account-keys.ts';
import type { ScramSecret } from './passwords.ts';
import { type ScramMechanism, ScramSecrets } from './scram-secrets.ts';

function open(store = memoryAccessStore()): AccessControl {
  const settings = { keys: {}, hostNames: ['shop.mongo.example', '*.example', '10.0.0.1'] };
  return openAccessControl(settings, store, new FakeClock());
}

const PRINCIPALS: Readonly<Record<KeyName, object>> = {
  primary: { kind: 'master' },
  secondary: { kind: 'master' },
  primaryReadonly: { kind: 'reader' },
  secondaryReadonly: { kind: 'reader' },
};

describe('a name and a key', () => {
  it.each(KEY_NAMES)('the %s key counts, also after a rotation of another', (name) => {
    const { passwords, keys } = open();
    expect(passwords.check('localhost', keys.get(name))).toEqual(PRINCIPALS[name]);
    const old = keys.get('primary');
    void keys.rotate('primary');
    expect(passwords.check('localhost', old)).toBeUndefined();
    expect(passwords.check('localhost', keys.get(name))).toEqual(PRINCIPALS[name]);
  });

  it.each([
    ['localhost', true],
    ['LocalHost', true],
    ['devstoreaccount1', true],
    ['shop', true],
    ['shop.mongo.example', true],
    ['*', false],
    ['10', false],
    ['', false],
    ['other', false],
  ])('account %s: %s', (user, isAccount) => {
    const { passwords, keys } = open();
    expect(passwords.check(user, keys.get('primary')) !== undefined).toBe(isAccount);
    expect(passwords.check(user, `${keys.get('primary')} `)).toBeUndefined();
    expect(passwords.check(user, '')).toBeUndefined();
    expect(passwords.checkKey(keys.get('primary'))).toEqual({ kind: 'master' });
  });
});

const DIGESTS = {
  'SCRAM-SHA-256': ['sha256', 32],
  'SCRAM-SHA-1': ['sha1', 20],
} as const;

/** What a client knows: the proof of its password for these parameters. */
function clientKeys(
  mechanism: ScramMechanism,
  { user, password }: { user: string; password: string },
  { salt, iterations }: { salt: Uint8Array; iterations: number },
): { storedKey: Buffer; serverKey: Buffer } {
  const [digest, bytes] = DIGESTS[mechanism];
  const text =
    mechanism === 'SCRAM-SHA-256'
      ? password
      : createHash('md5').update(`${user}:mongo:${password}`).digest('hex');
  const salted = pbkdf2Sync(text, salt, iterations, bytes, digest);
  const clientKey = createHmac(digest, salted).update('Client Key').digest();
  return {
    storedKey: createHash(digest).update(clientKey).digest(),
    serverKey: createHmac(digest, salted).update('Server Key').digest(),
  };
}

describe.each(['SCRAM-SHA-256', 'SCRAM-SHA-1'] as const)('%s', (mechanism) => {
  it('has one secret for each key, with one salt', () => {
    const { passwords, keys } = open();
    const secrets = passwords.scram('shop', mechanism);
    expect(secrets).toEqual(
      KEY_NAMES.map((name) => ({
        ...clientKeys(
          mechanism,
          { user: 'shop', password: keys.get(name) },
          secrets[0] as ScramSecret,
        ),
        salt: secrets[0]?.salt,
        iterations: mechanism === 'SCRAM-SHA-256' ? 15_000 : 10_000,
        principal: PRINCIPALS[name],
      })),
    );
    expect(secrets[0]?.salt.length).toBe(mechanism === 'SCRAM-SHA-256' ? 28 : 16);
    expect(passwords.scram('localhost', mechanism)[0]?.salt).not.toEqual(secrets[0]?.salt);
  });

  it('shows the same to a stranger, again after a restart, and no key fits', () => {
    const store = memoryAccessStore();
    const { passwords, keys } = open(store);
    const secrets = passwords.scram('nobody', mechanism);
    expect(open(store).passwords.scram('nobody', mechanism)).toEqual(secrets);
    expect(open().passwords.scram('nobody', mechanism)).not.toEqual(secrets);
    expect(secrets.map(({ principal }) => principal)).toEqual(KEY_NAMES.map(() => undefined));
    const known = passwords.scram('localhost', mechanism);
    const shape = secrets.map(({ salt, iterations, storedKey, serverKey }) => [
      salt.length,
      iterations,
      storedKey.length,
      serverKey.length,
    ]);
    expect(
      known.map(({ salt, iterations, storedKey, serverKey }) => [
        salt.length,
        iterations,
        storedKey.length,
        serverKey.length,
      ]),
    ).toEqual(shape);
    for (const name of KEY_NAMES) {
      const password = { user: 'nobody', password: keys.get(name) };
      const { storedKey } = clientKeys(mechanism, password, secrets[0] as ScramSecret);
      for (const secret of secrets) expect(Buffer.from(secret.storedKey)).not.toEqual(storedKey);
    }
  });

  it('follows a rotation', () => {
    const { passwords, keys } = open();
    const before = passwords.scram('localhost', mechanism);
    void keys.rotate('secondary');
    const after = passwords.scram('localhost', mechanism);
    expect(after.map((secret, at) => secret.storedKey === before[at]?.storedKey)).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });
});

it('finds what it has prepared', async () => {
  const { passwords } = open();
  await passwords.prepare();
  const first = passwords.scram('localhost', 'SCRAM-SHA-256');
  expect(passwords.scram('localhost', 'SCRAM-SHA-256')).toEqual(first);
});

/** The base64 of `n,,`: no channel binding. */
const NO_BINDING = Buffer.from('n,,').toString('base64');

// RFC 7677, section 3, has 4,096 iterations; ours are fixed, so the derivation is compared at its ends.
it('signs as RFC 7677 shows', () => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
  const { storedKey, serverKey } = clientKeys(
    'SCRAM-SHA-256',
    { user: 'user', password: 'pencil' },
    { salt, iterations: 4096 },
  );
  const message = `n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=${NO_BINDING},r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0`;
  const signature = createHmac('sha256', serverKey).update(message).digest('base64');
  expect(signature).toBe('6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=');
  const proof = Buffer.from('dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=', 'base64');
  const mask = createHmac('sha256', storedKey).update(message).digest();
  const clientKey = proof.map((byte, at) => byte ^ (mask[at] as number));
  expect(createHash('sha256').update(clientKey).digest()).toEqual(storedKey);
});

it('derives once', () => {
  const secrets = new ScramSecrets();
  const password = {
    mechanism: 'SCRAM-SHA-256' as const,
    user: 'u',
    password: 'p',
    salt: Buffer.alloc(28),
  };
  expect(secrets.derive({ ...password })).toBe(secrets.derive({ ...password }));
});
