/**
 * Server certificates: one for the names known at the start, kept and renewed, and one for every further name that
 * clients ask for (SNI), made on request. A client that uses an alias of the server, such as a container's name, needs no
 * flag.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/index.ts';
import { type Authority, expiresMs, type Leaf, makeKey, RENEW_BEFORE_MS } from './authority.ts';
import type { TlsFiles } from './tls-files.ts';

/** The most names made on request; the least recently used is dropped. A name costs some kilobytes and a millisecond or two. */
const NAMES_MAX = 256;

const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*$/;

interface CertificatesOptions {
  readonly authority: Authority;
  readonly files: TlsFiles;
  readonly clock: Clock;
  /** Host names in lower case, and addresses. */
  readonly names: readonly string[];
  /** Receives the error of a failed renewal; the old certificate stays in use. */
  readonly onFailure: (error: unknown) => void;
}

interface DatedContext {
  readonly context: SecureContext;
  readonly renewMs: number;
}

export class Certificates {
  readonly #options: CertificatesOptions;
  readonly #names: ReadonlySet<string>;
  readonly #further = new LRUCache<string, Promise<DatedContext>>({ max: NAMES_MAX });
  #first: Leaf;
  #renewMs: number;
  #isRenewing = false;

  private constructor(options: CertificatesOptions, leaf: Leaf) {
    this.#options = options;
    this.#names = new Set(options.names);
    this.#first = leaf;
    this.#renewMs = renewalMs(leaf);
  }

  /** Uses the stored certificate where it is still good, so that a start signs nothing. */
  static async open(options: CertificatesOptions): Promise<Certificates> {
    const stored = readLeaf(options);
    return new Certificates(options, stored ?? (await makeLeaf(options)));
  }

  /** The authority's certificate, PEM. */
  get authorityPem(): string {
    return this.#options.authority.pem;
  }

  /** The certificate for clients that send no name, and for names known from the start. Renewed in the background. */
  get first(): Leaf {
    if (this.#options.clock.nowMs() >= this.#renewMs) this.#renew();
    return this.#first;
  }

  /** For a further name that a client asks for; undefined where the first certificate is the one to show. */
  async forName(requested: string): Promise<SecureContext | undefined> {
    const name = requested.toLowerCase();
    if (this.#names.has(name) || !HOST_NAME.test(name)) return undefined;
    const cached = this.#further.get(name);
    if (cached !== undefined) {
      const { context, renewMs } = await cached;
      if (this.#options.clock.nowMs() < renewMs) return context;
    }
    const making = this.#options.authority.issue([name], this.#first.key).then(dated);
    this.#further.set(name, making);
    // A failure is not cached; the caller below receives it.
    making.catch(() => this.#further.delete(name));
    return (await making).context;
  }

  #renew(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    makeLeaf(this.#options)
      .then((leaf) => {
        this.#first = leaf;
        this.#renewMs = renewalMs(leaf);
      }, this.#options.onFailure)
      .finally(() => {
        this.#isRenewing = false;
      });
  }
}

function dated(leaf: Leaf): DatedContext {
  const { certificate, key } = leaf;
  return {
    context: createSecureContext({ cert: certificate, key }),
    renewMs: renewalMs(leaf),
  };
}

function renewalMs({ certificate }: Leaf): number {
  return expiresMs(certificate) - RENEW_BEFORE_MS;
}

async function makeLeaf({ authority, files, names }: CertificatesOptions): Promise<Leaf> {
  const leaf = await authority.issue(names, makeKey());
  files.write('server-key.pem', leaf.key);
  files.write('server.pem', leaf.certificate);
  return leaf;
}

function readLeaf({ authority, files, clock, names }: CertificatesOptions): Leaf | undefined {
  const certificate = files.read('server.pem');
  const key = files.read('server-key.pem');
  if (certificate === undefined || key === undefined) return undefined;
  return isGood({ certificate, key }, { authority, names, nowMs: clock.nowMs() })
    ? { certificate, key }
    : undefined;
}

interface LeafRequirements {
  readonly authority: Authority;
  readonly names: readonly string[];
  readonly nowMs: number;
}

function isGood(
  { certificate, key }: Leaf,
  { authority, names, nowMs }: LeafRequirements,
): boolean {
  if (nowMs >= renewalMs({ certificate, key })) return false;
  const leaf = new X509Certificate(certificate);
  const issuer = new X509Certificate(authority.pem);
  return (
    leaf.checkIssued(issuer) &&
    leaf.verify(issuer.publicKey) &&
    leaf.checkPrivateKey(createPrivateKey(key)) &&
    names.every((name) =>
      isIP(name) === 0 ? leaf.checkHost(name) !== undefined : leaf.checkIP(name) !== undefined,
    )
  );
}
