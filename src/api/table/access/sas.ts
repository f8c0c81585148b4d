/**
 * Shared access signatures: query options that say what their bearer may do, signed with the account's key. Those of
 * an account name services and kinds of resources, those of a table a range of keys, and maybe a policy stored with it.
 */
import { type Clock, hasControlCharacters } from '../../../base/index.ts';
import { TableError } from '../errors.ts';
import type { Query } from '../request.ts';
import type { GrantedAccess, KeyBounds, RequiredPermission } from './access.ts';
import type { KeyCheck } from './shared-key.ts';
import type { SignedTables } from './signed-tables.ts';

export interface SignatureContext {
  readonly keys: KeyCheck;
  readonly clock: Clock;
  /** Account names that the client may have signed. */
  readonly accounts: readonly string[];
  readonly isEncrypted: boolean;
  /** The client's IP address. */
  readonly address: string;
  /** The table of the URL; a signature without a table name is for this one. */
  readonly table: string | undefined;
  readonly tables: SignedTables;
}

/** From this version on, account signatures also name an encryption scope. */
const SCOPED_VERSION = '2020-12-06';

const SIGNED_FIELDS: readonly string[] = [
  ...['sp', 'ss', 'srt', 'st', 'se', 'sip', 'spr', 'sv', 'ses'],
  ...['tn', 'si', 'spk', 'srk', 'epk', 'erk'],
];

/** Throws a 403 where the signature is invalid, or not valid now or from this address. */
export function signatureAccess(query: Query, context: SignatureContext): GrantedAccess {
  // A line end in a field would split it into several signed fields.
  for (const name of SIGNED_FIELDS)
    if (hasControlCharacters(query.get(name) ?? '')) throw new TableError('AuthenticationFailed');
  const isOfAccount = query.has('ss') || query.has('srt');
  return isOfAccount ? accountAccess(query, context) : tableAccess(query, context);
}

const WHOLE_ACCOUNT: readonly string[] = [''];

function accountAccess(query: Query, context: SignatureContext): GrantedAccess {
  const field = (name: string): string => query.get(name) ?? '';
  const tail = field('sv') >= SCOPED_VERSION ? `${field('ses')}\n` : '';
  checkSignature(query, context, WHOLE_ACCOUNT, (account) =>
    [
      account,
      field('sp'),
      field('ss'),
      field('srt'),
      field('st'),
      field('se'),
      field('sip'),
      field('spr'),
      field('sv'),
      tail,
    ].join('\n'),
  );
  checkCircumstances(query, context);
  checkTime({ start: query.get('st'), expiry: query.get('se') }, context.clock);
  return {
    bounds: undefined,
    check({ level, permissions, isAll }: RequiredPermission): void {
      if (!field('ss').includes('t')) throw new TableError('AuthorizationServiceMismatch');
      if (!field('srt').includes(level)) throw new TableError('AuthorizationResourceTypeMismatch');
      checkPermissions(field('sp'), permissions, isAll === true);
    },
  };
}

function tableAccess(query: Query, context: SignatureContext): GrantedAccess {
  const field = (name: string): string => query.get(name) ?? '';
  const name = query.get('tn') ?? context.table ?? '';
  const { tables } = context;
  if (hasControlCharacters(name)) throw new TableError('AuthenticationFailed');
  checkSignature(query, context, tables.signedNames(name), (account, table) =>
    [
      field('sp'),
      field('st'),
      field('se'),
      `/table/${account}/${table}`,
      field('si'),
      field('sip'),
      field('spr'),
      field('sv'),
      field('spk'),
      field('srk'),
      field('epk'),
      field('erk'),
    ].join('\n'),
  );
  checkCircumstances(query, context);
  const id = query.get('si');
  const policy = id === undefined || id === '' ? undefined : tables.policy(name, id);
  if (id !== undefined && id !== '' && policy === undefined)
    throw new TableError('AuthenticationFailed');
  // Both have to allow it: a change of the policy revokes rights that were signed.
  const signed = { start: field('st'), expiry: field('se') || policy?.expiry };
  const stored = { start: policy?.start, expiry: policy?.expiry ?? signed.expiry };
  for (const times of [signed, stored]) checkTime(times, context.clock);
  const permissions = bothOf(field('sp'), policy?.permissions ?? '');
  return {
    bounds: boundsOf(query),
    check(required: RequiredPermission): void {
      if (required.level !== 'o') throw new TableError('AuthorizationFailure');
      if (required.table === undefined || !tables.isSame(required.table, name))
        throw new TableError('AuthorizationFailure');
      checkPermissions(permissions, required.permissions, required.isAll === true);
    },
  };
}

/** The permissions that both allow, or those of the one that is given. */
function bothOf(signed: string, stored: string): string {
  if (signed === '' || stored === '') return signed || stored;
  return [...signed].filter((permission) => stored.includes(permission)).join('');
}

/** @param textFor - the text to sign for an account and a subject. */
function checkSignature(
  query: Query,
  { keys, accounts }: SignatureContext,
  subjects: readonly string[],
  textFor: (account: string, subject: string) => string,
): void {
  const signature = Buffer.from((query.get('sig') ?? '').replaceAll(' ', '+'), 'base64');
  const isSigned = accounts.some((account) =>
    subjects.some((subject) => keys.isSigned(textFor(account, subject), signature, true)),
  );
  if (!isSigned) throw new TableError('AuthenticationFailed');
}

function checkPermissions(
  given: string,
  needed: RequiredPermission['permissions'],
  isAll: boolean,
): void {
  const isGiven = (permission: string): boolean => given.includes(permission);
  if (isAll ? needed.every(isGiven) : needed.some(isGiven)) return;
  throw new TableError('AuthorizationPermissionMismatch');
}

function checkTime(
  { start, expiry }: { start: string | undefined; expiry: string | undefined },
  clock: Clock,
): void {
  const nowMs = clock.nowMs();
  const endMs = Date.parse(expiry ?? '');
  if (Number.isNaN(endMs) || nowMs >= endMs) throw new TableError('AuthenticationFailed');
  if (start === undefined || start === '') return;
  const startMs = Date.parse(start);
  if (Number.isNaN(startMs) || nowMs < startMs) throw new TableError('AuthenticationFailed');
}

function checkCircumstances(query: Query, { isEncrypted, address }: SignatureContext): void {
  const protocols = query.get('spr') ?? '';
  if (protocols !== '' && !isEncrypted && !protocols.split(',').includes('http'))
    throw new TableError('AuthorizationProtocolMismatch');
  const range = query.get('sip');
  if (range !== undefined && range !== '' && !isAddressIn(address, range))
    throw new TableError('AuthorizationSourceIPMismatch');
}

/** One address, or the first and last of a range. */
function isAddressIn(address: string, range: string): boolean {
  const [first = '', last = first] = range.split('-');
  const own = addressNumber(address.replace(/^::ffff:/i, ''));
  const min = addressNumber(first);
  const max = addressNumber(last);
  if (own === undefined || min === undefined || max === undefined) return false;
  return own >= min && own <= max;
}

function addressNumber(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text.trim());
  return match?.slice(1).reduce((number, part) => number * 256 + Number(part), 0);
}

function boundsOf(query: Query): KeyBounds | undefined {
  const bounds = {
    startPartitionKey: query.get('spk'),
    startRowKey: query.get('srk'),
    endPartitionKey: query.get('epk'),
    endRowKey: query.get('erk'),
  };
  return Object.values(bounds).every((key) => key === undefined) ? undefined : bounds;
}
