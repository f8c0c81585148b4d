// Goal: `npm ci` works in a fresh clone, on every system. Method: package-lock.json lists what package.json and its own entries ask for.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Entry {
  readonly version?: string;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
const packages: Readonly<Record<string, Entry>> = read('package-lock.json').packages;

test('the lock file asks for what package.json does', () => {
  const { dependencies, devDependencies, optionalDependencies } = read('package.json') as Entry;
  expect(packages['']).toMatchObject({ dependencies, devDependencies, optionalDependencies });
});

test('every package is listed, those of other systems as well, and none with a host', () => {
  const missing: string[] = [];
  for (const [path, entry] of Object.entries(packages)) {
    const wanted = { ...entry.dependencies, ...entry.optionalDependencies };
    for (const name of Object.keys(wanted)) if (!isListed(path, name)) missing.push(name);
    expect([path, entry.resolved]).toEqual([path, undefined]);
  }
  expect(missing).toEqual([]);
});

/** Where Node looks for a package: beside the one that asks, then further out. */
function isListed(from: string, name: string): boolean {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[path] !== undefined) return true;
    if (folder === '') return false;
  }
}
