/** One connection of a client: from bytes to requests and back. Requests run concurrently, by their stream ids. */
import { performance } from 'node:perf_hooks';
import { type Bytes, DomainError } from '../../base/index.ts';
import {
  type ByteConnection,
  type ByteSocket,
  type ConnectionInfo,
  FrameError,
} from '../../net/index.ts';
import { TransactionError } from '../../partition/index.ts';
import type { OperationReport } from '../../service/index.ts';
import { CqlError, cqlErrorOf, protocolError } from './errors.ts';
import { CONCURRENT_REQUESTS_MAX } from './limits.ts';
import type { ServerParts } from './protocol.ts';
import type { HandledRequest, ReceivedRequest, Session } from './request-handler.ts';
import { NOBODY } from './roles/caller.ts';
import { CQL_VERSION } from './system/system-rows.ts';
import { BodyReader } from './wire/body-reader.ts';
import { COMPRESSIONS } from './wire/compression.ts';
import {
  type EnvelopeHeader,
  FLAGS,
  OPCODES,
  type Response,
  VERSION_MAX,
  VERSION_NAMES,
} from './wire/envelope.ts';
import { EnvelopeStream, VersionRefused } from './wire/envelope-stream.ts';
import {
  AUTH_SUCCESS,
  authenticateResponse,
  errorResponse,
  READY,
  statusChangeEvent,
  supportedResponse,
} from './wire/responses.ts';

const AUTHENTICATOR = 'org.apache.cassandra.auth.PasswordAuthenticator';
const EVENT_STREAM = -1;
const NO_PAYLOAD: ReadonlyMap<string, Bytes | null> = new Map();

/** What clients may register for. */
type EventKind = 'SCHEMA_CHANGE' | 'STATUS_CHANGE' | 'TOPOLOGY_CHANGE';
const EVENT_KINDS: readonly string[] = ['SCHEMA_CHANGE', 'STATUS_CHANGE', 'TOPOLOGY_CHANGE'];

type Phase = 'new' | 'authenticating' | 'checking' | 'ready' | 'ended';

/** A connection as other clients may see it. */
export interface ClientDescription {
  readonly address: string;
  readonly id: number;
  readonly isTls: boolean;
  readonly version: number;
  readonly phase: Phase;
  readonly role: string;
  /** What STARTUP says: name and version of the driver. */
  readonly options: ReadonlyMap<string, string>;
  readonly requestCount: number;
}

export class CassandraConnection implements ByteConnection {
  readonly #socket: ByteSocket;
  readonly #info: ConnectionInfo;
  readonly #server: ServerParts;
  readonly #envelopes = new EnvelopeStream();
  readonly #session: Session & { version: number };
  #phase: Phase = 'new';
  #underWay = 0;
  #isStopping = false;
  readonly #events = new Set<string>();
  #client: ReadonlyMap<string, string> = new Map();
  #requestCount = 0;

  constructor(socket: ByteSocket, info: ConnectionInfo, server: ServerParts) {
    this.#socket = socket;
    this.#info = info;
    this.#server = server;
    this.#session = {
      version: VERSION_MAX,
      node: server.nodeOf(info),
      clientAddress: info.remoteAddress,
      keyspace: undefined,
      caller: NOBODY,
    };
  }

  get isIdle(): boolean {
    return this.#underWay === 0 && this.#envelopes.partialSinceMs === undefined;
  }

  get partialSinceMs(): number | undefined {
    return this.#envelopes.partialSinceMs;
  }

  /** The row of this connection in system_views.clients. */
  get description(): ClientDescription {
    const { remoteAddress, id, isTls } = this.#info;
    return {
      address: remoteAddress,
      id,
      isTls,
      version: this.#session.version,
      phase: this.#phase,
      role: this.#session.caller.role,
      options: this.#client,
      requestCount: this.#requestCount,
    };
  }

  onData(chunk: Buffer): void {
    if (this.#phase === 'ended' || this.#isStopping) return;
    try {
      this.#envelopes.push(chunk);
      for (let next = this.#envelopes.next(); next !== undefined; next = this.#envelopes.next()) {
        this.#envelope(next.header, next.body);
        if (this.#hasEnded()) return;
      }
    } catch (error) {
      this.#refuseStream(error);
    }
  }

  onDrain(): void {}

  onEnd(): void {
    this.#phase = 'ended';
    this.#server.closed(this);
  }

  stop(): void {
    this.sendEvent('STATUS_CHANGE', statusChangeEvent('DOWN', this.#session.node));
    this.#isStopping = true;
  }

  /** Sends an event to a client that has registered for it. */
  sendEvent(kind: EventKind, event: Response): void {
    if (this.#phase === 'ready' && this.#events.has(kind)) this.#send(EVENT_STREAM, event);
  }

  #hasEnded(): boolean {
    return this.#phase === 'ended';
  }

  /** Bytes that are no envelope: the protocol's error, and the end of the connection. */
  #refuseStream(error: unknown): void {
    const refusal = error instanceof FrameError ? protocolError(error.message) : cqlErrorOf(error);
    if (refusal === undefined) throw error;
    if (error instanceof VersionRefused) this.#session.version = VERSION_MAX;
    const stream = error instanceof VersionRefused ? error.header.stream : 0;
    this.#end(stream, errorResponse(refusal, this.#session.version));
  }

  #envelope({ stream, version, flags, opcode }: EnvelopeHeader, body: Buffer): void {
    if (this.#phase === 'new') this.#session.version = version;
    else if (version !== this.#session.version) {
      const message = `Invalid message version. Got ${version} but previous messages on this connection had version ${this.#session.version}`;
      this.#end(stream, errorResponse(protocolError(message), version));
      return;
    }
    const reader = new BodyReader(body);
    try {
      const payload = (flags & FLAGS.customPayload) !== 0 ? reader.bytesMap() : NO_PAYLOAD;
      const isTraced = (flags & FLAGS.tracing) !== 0;
      this.#dispatch(opcode, stream, { reader, payload, isTraced });
    } catch (error) {
      this.#refuse(stream, error, 'none');
    }
  }

  #dispatch(opcode: number, stream: number, request: ReceivedRequest): void {
    const { reader } = request;
    switch (opcode) {
      case OPCODES.options:
        this.#send(stream, SUPPORTED);
        return;
      case OPCODES.startup:
        this.#startup(stream, reader);
        return;
      case OPCODES.authResponse:
        void this.#authenticate(stream, reader);
        return;
      case OPCODES.register:
        this.#requireReady();
        this.#register(reader.stringList());
        this.#send(stream, READY);
        return;
      case OPCODES.query:
      case OPCODES.prepare:
      case OPCODES.execute:
      case OPCODES.batch:
        this.#requireReady();
        void this.#serve(opcode, stream, request);
        return;
      default:
        throw protocolError(`Unknown opcode ${opcode}`);
    }
  }

  #register(kinds: readonly string[]): void {
    const unknown = kinds.find((kind) => !EVENT_KINDS.includes(kind));
    if (unknown !== undefined) throw protocolError(`Invalid value '${unknown}' for Type`);
    for (const kind of kinds) this.#events.add(kind);
  }

  #requireReady(): void {
    if (this.#phase === 'ready') return;
    throw protocolError(
      this.#phase === 'new'
        ? 'Unexpected message: STARTUP must come first'
        : 'Unexpected message: the client has to authenticate first',
    );
  }

  #startup(stream: number, reader: BodyReader): void {
    if (this.#phase !== 'new') throw protocolError('Unexpected message STARTUP');
    const options = reader.stringMap();
    if (!options.has('CQL_VERSION'))
      throw protocolError('Missing value CQL_VERSION in STARTUP message');
    const name = options.get('COMPRESSION')?.toLowerCase();
    const compression = name === undefined ? undefined : COMPRESSIONS.get(name);
    const { version } = this.#session;
    if (name !== undefined && compression === undefined)
      throw protocolError(`Unknown compression algorithm: ${name}`);
    if (version >= 5 && compression?.name === 'snappy')
      throw protocolError('Snappy compression is not supported in protocol V5');
    this.#client = options;
    const { logins } = this.#server;
    if (logins.isOpen) {
      this.#session.caller = logins.everyone;
      this.#phase = 'ready';
      this.#send(stream, READY);
    } else {
      this.#phase = 'authenticating';
      this.#send(stream, authenticateResponse(AUTHENTICATOR));
    }
    // This response had no segment and no compression yet.
    this.#envelopes.begin(version, compression);
  }

  async #authenticate(stream: number, reader: BodyReader): Promise<void> {
    try {
      if (this.#phase !== 'authenticating') throw protocolError('Unexpected message AUTH_RESPONSE');
      this.#phase = 'checking';
      this.#underWay++;
      const outcome = await this.#server.logins.check(reader.bytes());
      if (outcome.kind === 'refused') {
        const { onRefusal } = this.#server;
        onRefusal?.({ from: this.#info.remoteAddress, reason: outcome.message });
        throw new CqlError('badCredentials', outcome.message);
      }
      this.#session.caller = outcome.caller;
      if (this.#isChecking()) this.#phase = 'ready';
      this.#send(stream, AUTH_SUCCESS);
    } catch (error) {
      if (this.#isChecking()) this.#phase = 'authenticating';
      this.#refuse(stream, error, 'none');
    } finally {
      if (this.#underWay > 0) this.#underWay--;
    }
  }

  #isChecking(): boolean {
    return this.#phase === 'checking';
  }

  async #serve(opcode: number, stream: number, request: ReceivedRequest): Promise<void> {
    if (this.#underWay >= CONCURRENT_REQUESTS_MAX) {
      const refusal = `Too many requests in flight on this connection (${this.#underWay})`;
      this.#refuse(stream, new CqlError('overloaded', refusal), 'none');
      return;
    }
    const startMs = performance.now();
    this.#underWay++;
    this.#requestCount++;
    let handled: HandledRequest;
    try {
      handled = await this.#server.requests.handle(opcode, request, this.#session);
    } catch (error) {
      this.#underWay--;
      this.#refuse(stream, error, NAMES[opcode] ?? 'none', performance.now() - startMs);
      return;
    }
    this.#underWay--;
    const { response, operation, charge } = handled;
    this.#send(stream, response);
    const durationMs = performance.now() - startMs;
    this.#server.onRequest?.({ operation, outcome: 'ok', charge, durationMs });
  }

  #refuse(stream: number, error: unknown, operation: string, durationMs = 0): void {
    const refusal = cqlErrorOf(error);
    const { outcome, charge } = factsOf(error);
    this.#server.onRequest?.({ operation, outcome, charge, durationMs });
    if (refusal === undefined) this.#server.onFailure?.({ operation, error });
    this.#send(
      stream,
      errorResponse(
        refusal ?? new CqlError('serverError', 'Internal server error'),
        this.#session.version,
      ),
    );
  }

  #send(stream: number, response: Response): void {
    this.#socket.write(this.#bytesOf(stream, response));
  }

  #end(stream: number, response: Response): void {
    this.#phase = 'ended';
    this.#socket.end(this.#bytesOf(stream, response));
  }

  #bytesOf(stream: number, response: Response): Buffer {
    return this.#envelopes.bytesOf(this.#session.version, stream, response);
  }
}

/** Code and charge of a refusal, for metrics. */
function factsOf(error: unknown): Pick<OperationReport, 'outcome' | 'charge'> {
  if (error instanceof TransactionError) return factsOf(error.refusal);
  if (!(error instanceof DomainError)) return { outcome: 'failed', charge: 0 };
  return { outcome: error.code, charge: error.responseInfo?.charge ?? 0 };
}

const NAMES: Readonly<Record<number, string>> = {
  [OPCODES.query]: 'query',
  [OPCODES.prepare]: 'prepare',
  [OPCODES.execute]: 'execute',
  [OPCODES.batch]: 'batch',
};

const SUPPORTED = supportedResponse({
  CQL_VERSION: [CQL_VERSION],
  COMPRESSION: ['snappy', 'lz4'],
  PROTOCOL_VERSIONS: VERSION_NAMES,
});
