// Goal: SCRAM-SHA-256 as RFC 7677 has it, and refusals that tell nothing. Method: the exchange of the RFC.
import { createHmac, hash, pbkdf2Sync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { MASTER, type ScramSecret } from '../../../service/index.ts';
import { ScramExchange } from './scram.ts';

const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
const salted = pbkdf2Sync('pencil', salt, 4096, 32, 'sha256');
const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const secret: ScramSecret = {
  salt,
  iterations: 4096,
  storedKey: hash('sha256', hmac(salted, 'Client Key'), 'buffer'),
  serverKey: hmac(salted, 'Server Key'),
  principal: MASTER,
};
/** The nonce of the server in the RFC, behind the client's; it is no base64 of bytes, so it is put in afterwards. */
const CLIENT_NONCE = 'rOprNGfwEbeRWgbNEkqO';

function finalMessage(serverFirst: string, password = salted): string {
  const nonce = /r=([^,]*)/.exec(serverFirst)?.[1];
  const withoutProof = `c=biws,r=${nonce}`;
  const message = `n=user,r=${CLIENT_NONCE},${serverFirst},${withoutProof}`;
  const clientKey = hmac(password, 'Client Key');
  const signature = hmac(hash('sha256', clientKey, 'buffer'), message);
  const proof = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] as number)));
  return `${withoutProof},p=${proof.toString('base64')}`;
}

describe('the exchange', () => {
  const begin = () =>
    new ScramExchange(
      `n,,n=user,r=${CLIENT_NONCE}`,
      () => [secret],
      'SCRAM-SHA-256',
      (bytes) => new Uint8Array(bytes),
    );

  it('proves both sides', () => {
    const exchange = begin();
    const nonce = `${CLIENT_NONCE}${Buffer.alloc(24).toString('base64')}`;
    expect(exchange.firstReply).toBe(`r=${nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`);
    const { principal, reply } = exchange.finish(finalMessage(exchange.firstReply));
    expect(principal).toBe(MASTER);
    const message = `n=user,r=${CLIENT_NONCE},${exchange.firstReply},c=biws,r=${nonce}`;
    expect(reply).toBe(`v=${hmac(Buffer.from(secret.serverKey), message).toString('base64')}`);
  });

  it.each<readonly [string, (first: string) => string]>([
    ['a wrong password', (first) => finalMessage(first, Buffer.alloc(32))],
    ['another nonce', (first) => finalMessage(first).replace(/r=[^,]*/, 'r=x')],
    ['another binding', (first) => finalMessage(first).replace('c=biws', 'c=eSws')],
    ['no proof', () => 'c=biws'],
    ['a short proof', (first) => finalMessage(first).replace(/p=.*/, 'p=AAAA')],
  ])('%s fails in the same words', (_, final) => {
    const exchange = begin();
    expect(() => exchange.finish(final(exchange.firstReply))).toThrow(
      expect.objectContaining({ number: 18, message: 'Authentication failed.' }),
    );
  });

  it('a secret of nobody opens nothing', () => {
    const exchange = new ScramExchange(`n,,n=user,r=${CLIENT_NONCE}`, () => [
      { ...secret, principal: undefined },
    ]);
    expect(() => exchange.finish(finalMessage(exchange.firstReply))).toThrow(
      'Authentication failed.',
    );
  });

  it.each(['', 'n,,r=x', 'p=tls-unique,,n=user,r=x', 'n,,n=user,r='])(
    '%j is no first message',
    (payload) => {
      expect(() => new ScramExchange(payload, () => [secret])).toThrow(
        expect.objectContaining({ number: 18 }),
      );
    },
  );
});
