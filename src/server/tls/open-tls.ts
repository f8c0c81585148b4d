/** Opens TLS for the listeners: files, authority, certificates. */
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/index.ts';
import { ExitError } from '../exit-error.ts';
import type { TlsOptions } from './accept-tls.ts';
import { openAuthority } from './authority.ts';
import { Certificates } from './certificates.ts';
import { type TlsFiles, tlsFilesIn, tlsFilesInMemory } from './tls-files.ts';

export interface TlsSettings {
  /** Names and addresses clients use, beside those the server knows by itself. */
  readonly names: readonly string[];
  readonly isPlainServed: boolean;
}

interface OpenTls {
  readonly settings: TlsSettings;
  /** The data directory; undefined: a new authority for this run. */
  readonly dataPath: string | undefined;
  /** Where the files are kept instead. */
  readonly files?: TlsFiles | undefined;
  /** The listen address. */
  readonly host: string;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}

/** Throws ExitError 1 where the stored files cannot be used. */
export async function openTls(options: OpenTls): Promise<TlsOptions> {
  const { settings, dataPath, clock, onFailure } = options;
  try {
    const own = () =>
      dataPath === undefined ? tlsFilesInMemory() : tlsFilesIn(join(dataPath, 'tls'));
    const files = options.files ?? own();
    const authority = await openAuthority(files, clock);
    const names = namesOf(options);
    const certificates = await Certificates.open({ authority, files, clock, names, onFailure });
    return { certificates, isPlainServed: settings.isPlainServed };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const where = dataPath === undefined ? '' : ` in ${join(dataPath, 'tls')}`;
    throw new ExitError(
      1,
      `cannot use the certificates${where} (--tls): ${reason}. Restore the files from a copy, or remove them all to have new ones made.`,
    );
  }
}

/** A server that listens on all addresses gets a certificate for each of them. */
function namesOf({ settings, host }: OpenTls): readonly string[] {
  const isAny = host === '0.0.0.0' || host === '::';
  const own = isAny ? [hostname(), ...interfaceAddresses()] : [host];
  const names = ['localhost', '127.0.0.1', '::1', ...own, ...settings.names];
  return [...new Set(names.map((name) => name.toLowerCase()))];
}

/** Addresses without the link-local ones, whose zone cannot be written in a certificate. */
function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => address)
    .filter((address) => !address.startsWith('fe80:') && !address.includes('%'));
}
