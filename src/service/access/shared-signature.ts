/**
 * SAS tokens: a client that holds an account key signs what another may do. The form is that of the reference
 * service's clients: lines of text, base64, an HMAC of that base64 with the key.
 *
 *   user · tag · path · partition keys · start · expiry · key type · four masks of scopes, each line ended by \n
 *
 * Times are seconds in hexadecimal, masks hexadecimal.
 */
import { hasControlCharacters } from '../../base/index.ts';
import { type AccountKeys, isReadOnly, type KeyName } from './account-keys.ts';
import { type Action, isRead } from './actions.ts';
import type { ScriptType } from './resource-token.ts';

export interface SharedGrant {
  readonly user: string;
  /** Decoded segments of the path that the grant is limited to; empty: the account. */
  readonly path: readonly string[];
  readonly masks: {
    readonly controlRead: number;
    readonly controlWrite: number;
    readonly dataRead: number;
    readonly dataWrite: number;
  };
  readonly isReadOnly: boolean;
}

type SharedReading =
  | { readonly kind: 'valid'; readonly grant: SharedGrant }
  | { readonly kind: 'outOfTime' }
  | { readonly kind: 'invalid' };

const LINES = 11;
const KEY_TYPES: readonly KeyName[] = [
  'primary',
  'secondary',
  'primaryReadonly',
  'secondaryReadonly',
];
const INVALID: SharedReading = { kind: 'invalid' };

export function readSharedSignature(
  token: string,
  keys: AccountKeys,
  nowMs: number,
): SharedReading {
  const match = /^type=sas&ver=1\.0&sig=([A-Za-z0-9+/=]+);([A-Za-z0-9+/=]+);?$/.exec(token);
  if (match === null) return INVALID;
  const [, signature, payload] = match as unknown as [string, string, string];
  const signer = keys.match(payload, Buffer.from(signature, 'base64'));
  if (signer === undefined) return INVALID;
  const lines = Buffer.from(payload, 'base64').toString('utf8').split('\n');
  // A line end inside a field would let its writer choose the fields behind it.
  if (lines.length !== LINES + 1 || lines.some(hasControlCharacters) || lines[LINES] !== '')
    return INVALID;
  const [user, , path, partitionKeys, start, expiry, keyType] = lines as [string, ...string[]];
  const [controlRead, controlWrite, dataRead, dataWrite] = lines.slice(7, LINES).map(hexadecimal);
  const startSec = hexadecimal(start);
  const expirySec = hexadecimal(expiry);
  // Partition keys as clients write them cannot be parsed: such a token is refused.
  if (KEY_TYPES[Number(keyType) - 1] !== signer || partitionKeys !== '') return INVALID;
  if (
    startSec === undefined ||
    expirySec === undefined ||
    controlRead === undefined ||
    controlWrite === undefined ||
    dataRead === undefined ||
    dataWrite === undefined
  )
    return INVALID;
  if (nowMs < startSec * 1000 || nowMs >= expirySec * 1000) return { kind: 'outOfTime' };
  return {
    kind: 'valid',
    grant: {
      user,
      path: (path ?? '').split('/').filter((segment) => segment !== ''),
      masks: { controlRead, controlWrite, dataRead, dataWrite },
      isReadOnly: isReadOnly(signer),
    },
  };
}

function hexadecimal(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9a-f]{1,12}$/i.test(text)
    ? Number.parseInt(text, 16)
    : undefined;
}

type Mask = keyof SharedGrant['masks'];

/** Each of these bits allows the action: one on the container, one on the resource itself. */
const BITS: Readonly<Partial<Record<Action, readonly [Mask, number]>>> = {
  listDatabases: ['controlRead', 0x2],
  readDatabase: ['controlRead', 0x4],
  listContainers: ['controlRead', 0x10],
  // Clients that ask for "any read of a container" set the bit of its offer.
  readContainer: ['controlRead', 0x60],
  readRanges: ['controlRead', 0x60],
  createDatabase: ['controlWrite', 0x1],
  deleteDatabase: ['controlWrite', 0x6],
  createContainer: ['controlWrite', 0x10],
  replaceContainer: ['controlWrite', 0x40],
  deleteContainer: ['controlWrite', 0xa0],
  queryItems: ['dataRead', 0x1],
  planQuery: ['dataRead', 0x1],
  readFeed: ['dataRead', 0x2],
  readChangeFeed: ['dataRead', 0x2],
  readConflicts: ['dataRead', 0x20],
  readItem: ['dataRead', 0x40],
  createItem: ['dataWrite', 0x1],
  replaceItem: ['dataWrite', 0x1_0002],
  patchItem: ['dataWrite', 0x1_0002],
  upsertItem: ['dataWrite', 0x2_0004],
  deleteItem: ['dataWrite', 0x4_0008],
  deleteConflict: ['dataWrite', 0x4000],
  executeProcedure: ['dataWrite', 0x40_0080],
};

/** Create, replace, upsert and delete of items: a batch may hold any of them. */
const ALL_ITEM_WRITES = 0xf;

const SCRIPT_BITS: Readonly<
  Record<ScriptType, Readonly<Partial<Record<Action, readonly [Mask, number]>>>>
> = {
  sprocs: {
    listScripts: ['dataRead', 0x4],
    readScript: ['dataRead', 0x84],
    createScript: ['dataWrite', 0x10],
    replaceScript: ['dataWrite', 0x10_0020],
    deleteScript: ['dataWrite', 0x20_0040],
  },
  udfs: {
    listScripts: ['dataRead', 0x8],
    readScript: ['dataRead', 0x108],
    createScript: ['dataWrite', 0x800],
    replaceScript: ['dataWrite', 0x80_1000],
    deleteScript: ['dataWrite', 0x100_2000],
  },
  triggers: {
    listScripts: ['dataRead', 0x10],
    readScript: ['dataRead', 0x210],
    createScript: ['dataWrite', 0x100],
    replaceScript: ['dataWrite', 0x200_0200],
    deleteScript: ['dataWrite', 0x400_0400],
  },
};

/** True where the masks allow the action; the path says on which resources. */
export function isInMasks(grant: SharedGrant, action: Action, script?: ScriptType): boolean {
  if (action === 'readAccount') return true;
  if (grant.isReadOnly && !isRead(action)) return false;
  const { masks } = grant;
  if (action === 'writeItems') return (masks.dataWrite & ALL_ITEM_WRITES) === ALL_ITEM_WRITES;
  const bits = BITS[action] ?? (script === undefined ? undefined : SCRIPT_BITS[script][action]);
  return bits !== undefined && (masks[bits[0]] & bits[1]) !== 0;
}
