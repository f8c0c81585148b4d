/** A client of the Cassandra API of this process: native protocol, version 4. */
import type { ByteProtocol } from '../../net/index.ts';
import { RunError } from '../run/run-error.ts';
import { BytePipe } from './byte-pipe.ts';
import { CqlReader, type CqlType, cqlValue } from './cql-values.ts';

const VERSION = 4;
const HEADER_BYTES = 9;
const OPCODES = { error: 0, startup: 1, query: 7, result: 8, authResponse: 15 } as const;
const FLAG = { customPayload: 0x04, warning: 0x08 } as const;
const RESULT_ROWS = 2;
const ERRORS: Readonly<Record<number, string>> = {
  0: 'ServerError',
  256: 'BadCredentials',
  4097: 'Overloaded',
  8192: 'SyntaxError',
  8448: 'Unauthorized',
  8704: 'InvalidRequest',
  8960: 'ConfigurationError',
  9216: 'AlreadyExists',
};

interface CqlPage {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Base64; undefined at the end. */
  readonly pagingState: string | undefined;
  readonly charge: number;
  readonly warnings: readonly string[];
}

export class CqlClient implements Disposable {
  readonly #pipe: BytePipe;

  private constructor(protocol: ByteProtocol) {
    this.#pipe = new BytePipe(protocol, (bytes) =>
      bytes.length < HEADER_BYTES ? undefined : HEADER_BYTES + bytes.readInt32BE(5),
    );
  }

  static async open(protocol: ByteProtocol, key: string): Promise<CqlClient> {
    const client = new CqlClient(protocol);
    try {
      await client.#ask(
        OPCODES.startup,
        Buffer.concat([short(1), string('CQL_VERSION'), string('3.0.0')]),
      );
      const token = Buffer.from(`\0localhost\0${key}`);
      await client.#ask(OPCODES.authResponse, Buffer.concat([int(token.length), token]));
      return client;
    } catch (error) {
      client[Symbol.dispose]();
      throw error;
    }
  }

  /** Throws RunError with the message of the API. */
  async query(
    text: string,
    {
      pageSize,
      pagingState,
    }: { readonly pageSize: number; readonly pagingState?: string | undefined },
  ): Promise<CqlPage> {
    const statement = Buffer.from(text);
    const state = pagingState === undefined ? undefined : Buffer.from(pagingState, 'base64');
    const flags = 0x04 | (state === undefined ? 0 : 0x08);
    const body = Buffer.concat([
      int(statement.length),
      statement,
      short(1),
      Buffer.of(flags),
      int(pageSize),
      ...(state === undefined ? [] : [int(state.length), state]),
    ]);
    return pageOf(await this.#ask(OPCODES.query, body));
  }

  [Symbol.dispose](): void {
    this.#pipe[Symbol.dispose]();
  }

  async #ask(opcode: number, body: Buffer): Promise<Response> {
    const header = Buffer.from([VERSION, 0, 0, 0, opcode, 0, 0, 0, 0]);
    header.writeInt32BE(body.length, 5);
    const frame = await this.#pipe.ask(Buffer.concat([header, body]));
    const reader = new CqlReader(frame.subarray(HEADER_BYTES));
    const flags = frame[1] as number;
    const warnings = (flags & FLAG.warning) === 0 ? [] : reader.stringList();
    const payload = (flags & FLAG.customPayload) === 0 ? new Map() : reader.bytesMap();
    if (frame[4] !== OPCODES.error)
      return { isResult: frame[4] === OPCODES.result, reader, warnings, payload };
    const code = reader.int();
    throw new RunError(ERRORS[code] ?? `0x${code.toString(16)}`, reader.string());
  }
}

interface Response {
  readonly isResult: boolean;
  readonly reader: CqlReader;
  readonly warnings: readonly string[];
  readonly payload: ReadonlyMap<string, Buffer | null>;
}

function pageOf({ isResult, reader, warnings, payload }: Response): CqlPage {
  const charge = payload.get('RequestCharge')?.readDoubleBE(0) ?? 0;
  const none = { columns: [], rows: [], pagingState: undefined, charge, warnings };
  if (!isResult || reader.int() !== RESULT_ROWS) return none;
  const flags = reader.int();
  const count = reader.int();
  const pagingState =
    (flags & 0x02) === 0 ? undefined : (reader.bytes()?.toString('base64') ?? undefined);
  const isGlobal = (flags & 0x01) !== 0;
  if (isGlobal) reader.skipStrings(2);
  const types: CqlType[] = [];
  const columns = Array.from({ length: count }, () => {
    if (!isGlobal) reader.skipStrings(2);
    const name = reader.string();
    const type = reader.type();
    types.push(type);
    return { name, type: type.name };
  });
  const rows = Array.from({ length: reader.int() }, () =>
    Object.fromEntries(
      columns.map(({ name }, at) => [name, cqlValue(types[at] as CqlType, reader.bytes())]),
    ),
  );
  return { columns, rows, pagingState, charge, warnings };
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function short(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff);
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([short(bytes.length), bytes]);
}
