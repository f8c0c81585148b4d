/** Requests for a path below a table, `t/x`: sent by clients whose endpoint ends with the name of a table. */
import { bytesToText } from '../../base/index.ts';
import { type Call, findTable } from './call.ts';
import { insertedEntity, parseEntity } from './entities/entity-body.ts';
import { TableError } from './errors.ts';

/** Storage refuses them as it reads them: as an insert, or as an entity with too few keys. */
export function refuseNested(call: Call, table: string): never {
  const { dialect, access, method } = call;
  if (!dialect.hasNestedUrls) throw new TableError('InvalidInput', 'Request url is invalid.');
  access.check({ level: 'o', permissions: ['r', 'a', 'u', 'd'], table });
  if (findTable(call, table) === undefined) throw new TableError('TableNotFound');
  if (method !== 'POST')
    throw new TableError(
      'InvalidInput',
      'The number of keys specified in the URI does not match number of key properties for the resource.',
    );
  if (!/json/i.test(call.headers('content-type') ?? ''))
    throw new TableError('MediaTypeNotSupported');
  insertedEntity(parseEntity(bytesToText(call.body), dialect), dialect);
  throw new TableError('ResourceNotFound');
}
