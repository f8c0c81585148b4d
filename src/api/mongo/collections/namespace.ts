/** Names of databases and collections. */
import { MongoError } from '../errors.ts';
import { DATABASE_NAME_BYTES_MAX, NAMESPACE_BYTES_MAX } from '../limits.ts';

export interface Namespace {
  readonly database: string;
  readonly collection: string;
}

export function namespaceText({ database, collection }: Namespace): string {
  return `${database}.${collection}`;
}

/** Throws InvalidNamespace. */
export function parseNamespace(database: string, collection: string): Namespace {
  checkDatabase(database);
  if (collection === '' || collection.startsWith('.'))
    throw invalid(`Invalid namespace specified '${database}.${collection}'`);
  if (collection.includes('\0')) throw invalid(`namespaces cannot have embedded null characters`);
  return { database, collection };
}

/** A name that a collection may be given: stricter, because it is stored. Throws InvalidNamespace. */
export function checkNewName(namespace: Namespace): void {
  const { collection } = namespace;
  const text = namespaceText(namespace);
  if (collection.includes('$')) throw invalid(`Invalid collection name: ${collection}`);
  if (Buffer.byteLength(text) > NAMESPACE_BYTES_MAX)
    throw invalid(
      `Fully qualified namespace is too long. Namespace: ${text} Max: ${NAMESPACE_BYTES_MAX}`,
    );
}

/** Names that begin with `system.` are the server's; clients make these of them. */
const SYSTEM_NAMES = /^system\.(js|views|profile|users|roles|version|keys)$/;

/** Throws InvalidNamespace for other names of the server. */
export function checkSystemName(namespace: Namespace, isTimeSeries = false): void {
  const { collection } = namespace;
  if (collection.startsWith('system.buckets.') && isTimeSeries) return;
  if (collection.startsWith('system.buckets.'))
    throw new MongoError(
      'IllegalOperation',
      `Cannot make the buckets of a time series by their name: ${namespaceText(namespace)}`,
    );
  if (collection.startsWith('system.') && !SYSTEM_NAMES.test(collection))
    throw invalid(`Invalid system namespace: ${namespaceText(namespace)}`);
}

export function checkDatabase(database: string): void {
  if (
    database === '' ||
    /[/\\. "$#\0]/.test(database) ||
    Buffer.byteLength(database) > DATABASE_NAME_BYTES_MAX
  )
    throw invalid(`Invalid database name: '${database}'`);
}

/** Splits `database.collection` at the first dot. */
export function splitNamespace(text: string): Namespace {
  const dot = text.indexOf('.');
  return parseNamespace(text.slice(0, Math.max(dot, 0)), text.slice(dot + 1));
}

function invalid(message: string): MongoError {
  return new MongoError('InvalidNamespace', message);
}
