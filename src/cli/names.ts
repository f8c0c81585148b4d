/** How people name resources and partition keys on the command line. */
import { CommandError } from './command-error.ts';

/** `DB/CONTAINER` as a path of the API. */
export function containerPath(name: string): readonly string[] {
  const parts = name.split('/');
  if (parts.length !== 2 || parts.some((part) => part === ''))
    throw new CommandError(2, `${JSON.stringify(name)}: a container is named DB/CONTAINER.`);
  return ['dbs', parts[0] as string, 'colls', parts[1] as string];
}

/** JSON where it is JSON (`5`, `true`, `null`, `"5"`), else the text itself. */
export function parseKeyValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The values of an item's partition key; what is missing is written `{}`, as the API does. */
export function keyOfItem(item: unknown, paths: readonly string[]): readonly unknown[] {
  return paths.map((path) => {
    let value: unknown = item;
    for (const name of path.split('/').slice(1))
      value =
        typeof value === 'object' && value !== null
          ? (value as Record<string, unknown>)[name.replace(/^"(.*)"$/, '$1')]
          : undefined;
    return value === undefined ? {} : value;
  });
}

/** Header values are ASCII: everything else is escaped, which JSON allows. */
export function keyHeader(values: readonly unknown[]): Readonly<Record<string, string>> {
  const text = JSON.stringify(values).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return { 'x-ms-documentdb-partitionkey': text };
}
