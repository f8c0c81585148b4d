/** The version of this program, from the package it was installed as. */
import { readFileSync } from 'node:fs';

export function programVersion(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return String((manifest as { readonly version: string }).version);
}
