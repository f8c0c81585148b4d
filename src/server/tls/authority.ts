/**
 * The certificate authority: an elliptic key and a certificate that says it may sign for servers, made once and kept.
 * P-256 with SHA-256, because every client of the last ten years accepts it.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  X509Certificate as ReadCertificate,
  webcrypto,
} from 'node:crypto';
import { isIP } from 'node:net';
import type { Clock } from '../../base/index.ts';
import type { TlsFiles } from './tls-files.ts';
import { loadX509, type X509 } from './x509.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 24 * 3600 * 1000;
const AUTHORITY_DAYS = 3650;
/** The longest lifetime that browsers accept. */
const LEAF_DAYS = 397;
/** Certificates are valid from a day ago, because clocks of containers and virtual machines lag. */
const BACKDATED_MS = DAY_MS;
/** A certificate that expires within this time is replaced. */
export const RENEW_BEFORE_MS = 30 * DAY_MS;

/** Both as PEM. */
export interface Leaf {
  readonly certificate: string;
  readonly key: string;
}

export interface Authority {
  /** The certificate that clients must trust, PEM. */
  readonly pem: string;
  /** A server certificate for these names and addresses, for a private key in PEM. */
  issue(names: readonly string[], key: string): Promise<Leaf>;
}

/** Reads the authority, or makes one where there is none or its time is over. Throws where the files are damaged. */
export async function openAuthority(files: TlsFiles, clock: Clock): Promise<Authority> {
  const pem = files.read('ca.pem');
  const key = files.read('ca-key.pem');
  if (pem !== undefined && key !== undefined && !isExpiring(pem, clock))
    return authorityOf(pem, key, clock);
  const made = await makeAuthority(clock);
  // The key is written first: a certificate without its key would count as damage.
  files.write('ca-key.pem', made.key);
  files.write('ca.pem', made.certificate);
  return authorityOf(made.certificate, made.key, clock);
}

export function makeKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: ALGORITHM.namedCurve });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export function expiresMs(certificate: string): number {
  return Date.parse(new ReadCertificate(certificate).validTo);
}

function isExpiring(certificate: string, clock: Clock): boolean {
  return expiresMs(certificate) - clock.nowMs() < RENEW_BEFORE_MS;
}

async function makeAuthority(clock: Clock): Promise<Leaf> {
  const x509 = await loadX509();
  const key = makeKey();
  const keys = await importKeys(key);
  const nowMs = clock.nowMs();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=Mesocosm local authority ${new Date(nowMs).toISOString().slice(0, 10)}`,
    keys,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(nowMs - BACKDATED_MS),
    notAfter: new Date(nowMs + AUTHORITY_DAYS * DAY_MS),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key };
}

function authorityOf(pem: string, key: string, clock: Clock): Authority {
  const own = new ReadCertificate(pem);
  if (!own.checkPrivateKey(createPrivateKey(key)))
    throw new Error('ca.pem and ca-key.pem do not belong together');
  return {
    pem,
    async issue(names, leafKey) {
      const x509 = await loadX509();
      const issuer = new x509.X509Certificate(pem);
      const signer = await importKeys(key);
      const { publicKey } = await importKeys(leafKey);
      const nowMs = clock.nowMs();
      const endMs = Math.min(nowMs + LEAF_DAYS * DAY_MS, expiresMs(pem));
      const certificate = await x509.X509CertificateGenerator.create({
        subject: 'CN=Mesocosm server',
        issuer: issuer.subject,
        publicKey,
        signingKey: signer.privateKey,
        signingAlgorithm: ALGORITHM,
        notBefore: new Date(nowMs - BACKDATED_MS),
        notAfter: new Date(endMs),
        extensions: await leafExtensions(x509, { names, publicKey, signer }),
      });
      return { certificate: `${certificate.toString('pem')}\n`, key: leafKey };
    },
  };
}

interface LeafParts {
  readonly names: readonly string[];
  readonly publicKey: webcrypto.CryptoKey;
  readonly signer: webcrypto.CryptoKeyPair;
}

async function leafExtensions(x509: X509, { names, publicKey, signer }: LeafParts) {
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(
      names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
    ),
    await x509.SubjectKeyIdentifierExtension.create(publicKey),
    await x509.AuthorityKeyIdentifierExtension.create(signer.publicKey),
  ];
}

async function importKeys(pem: string): Promise<webcrypto.CryptoKeyPair> {
  const { subtle } = webcrypto;
  const privateKey = createPrivateKey(pem);
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  return {
    privateKey: await subtle.importKey('pkcs8', pkcs8, ALGORITHM, true, ['sign']),
    publicKey: await subtle.importKey('spki', spki, ALGORITHM, true, ['verify']),
  };
}
