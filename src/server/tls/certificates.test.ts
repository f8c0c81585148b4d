/** Goal: trust given once holds. Method: open, reopen and age the kept files under a fake clock; read what was signed. */
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openAuthority } from './authority.ts';
import { Certificates } from './certificates.ts';
import { type TlsFiles, tlsFilesIn, tlsFilesInMemory } from './tls-files.ts';

const DAY_MS = 24 * 3600 * 1000;
const START_MS = Date.UTC(2026, 0, 1);
const NAMES = ['localhost', '127.0.0.1', '::1', 'db.internal'];

const directory = mkdtempSync(join(tmpdir(), 'mesocosm-tls-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const failures: unknown[] = [];

async function open(files: TlsFiles, clock: { nowMs(): number }, names = NAMES) {
  const authority = await openAuthority(files, clock);
  const certificates = await Certificates.open({
    authority,
    files,
    clock,
    names,
    onFailure: (error) => failures.push(error),
  });
  return { authority, certificates, leaf: new X509Certificate(certificates.first.certificate) };
}

const at = (days: number) => ({ nowMs: () => START_MS + days * DAY_MS });

describe('certificates', () => {
  it('are signed by an authority for servers only, for the names given', async () => {
    const { authority, leaf } = await open(tlsFilesInMemory(), at(0));
    const issuer = new X509Certificate(authority.pem);
    expect(issuer.ca).toBe(true);
    expect(leaf.ca).toBe(false);
    expect(leaf.verify(issuer.publicKey)).toBe(true);
    expect(leaf.subjectAltName).toBe(
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:db.internal',
    );
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  });

  it('are the same after a restart, keys readable by the owner only', async () => {
    const first = await open(tlsFilesIn(directory), at(0));
    const second = await open(tlsFilesIn(directory), at(100));
    expect(second.authority.pem).toBe(first.authority.pem);
    expect(second.leaf.fingerprint256).toBe(first.leaf.fingerprint256);
    const mode = (name: string) => statSync(join(directory, name)).mode & 0o777;
    expect(mode('ca-key.pem')).toBe(0o600);
    expect(mode('server-key.pem')).toBe(0o600);
    expect(mode('ca.pem')).toBe(0o600);
  });

  it('are made again for a new name and before they expire, by the same authority', async () => {
    const files = tlsFilesInMemory();
    const first = await open(files, at(0));
    const named = await open(files, at(1), [...NAMES, '10.0.0.7']);
    const aged = await open(files, at(368));
    expect(named.leaf.checkIP('10.0.0.7')).toBe('10.0.0.7');
    expect(aged.authority.pem).toBe(first.authority.pem);
    expect(aged.leaf.fingerprint256).not.toBe(named.leaf.fingerprint256);
    expect(Date.parse(aged.leaf.validTo)).toBe(START_MS + (368 + 397) * DAY_MS);
  });

  it('renew in a server that runs on', async () => {
    let nowMs = START_MS;
    const { authority, certificates } = await open(tlsFilesInMemory(), { nowMs: () => nowMs });
    const before = certificates.first;
    nowMs += 370 * DAY_MS;
    expect(certificates.first).toBe(before);
    await expect.poll(() => certificates.first === before).toBe(false);
    const renewed = new X509Certificate(certificates.first.certificate);
    expect(renewed.verify(new X509Certificate(authority.pem).publicKey)).toBe(true);
    expect(failures).toEqual([]);
  });

  it('an authority at its end is replaced', async () => {
    const files = tlsFilesInMemory();
    const first = await openAuthority(files, at(0));
    expect((await openAuthority(files, at(3600))).pem).toBe(first.pem);
    expect((await openAuthority(files, at(3640))).pem).not.toBe(first.pem);
  });

  it('further names get one each, what is no name gets none', async () => {
    const { certificates } = await open(tlsFilesInMemory(), at(0));
    const context = await certificates.forName('Cosmos.Example');
    expect(context).toBeDefined();
    expect(await certificates.forName('cosmos.example')).toBe(context);
    expect(await certificates.forName('localhost')).toBeUndefined();
    expect(await certificates.forName('a b')).toBeUndefined();
    expect(await certificates.forName(`${'a'.repeat(64)}.example`)).toBeUndefined();
  });
});
