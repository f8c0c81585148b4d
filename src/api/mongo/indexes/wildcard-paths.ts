/** The paths that a wildcard index has. */
import { type Bson, type BsonDocument, isDocument } from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import { isWildcard } from './index-key.ts';

/** Whether the wildcard of an index has a path. */
export function wildcardPaths(key: BsonDocument, spec: BsonDocument): (path: string) => boolean {
  const field = [...key.keys()].find(isWildcard) ?? '$**';
  const prefix = field.slice(0, -'$**'.length);
  const isProjected = projected(spec.get('wildcardProjection'));
  return (path) =>
    (prefix === '' || path === prefix.slice(0, -1) || path.startsWith(prefix)) && isProjected(path);
}

function projected(projection: Bson | undefined): (path: string) => boolean {
  if (!isDocument(projection)) return (path) => path !== '_id';
  const names = [...projection.keys()];
  const first = [...projection].find(([name]) => name !== '_id');
  const isInclusion = first === undefined || isOn(first[1]);
  const hasId = projection.has('_id') && isOn(projection.get('_id') as Bson);
  return (path) => {
    if (path === '_id') return hasId;
    const isNamed = names.some((name) => path === name || path.startsWith(`${name}.`));
    return isNamed === isInclusion;
  };
}

function isOn(value: Bson): boolean {
  return value !== false && !(isNumber(value) && doubleOf(value) === 0);
}
