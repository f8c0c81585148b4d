/** Reads the public baselines that lie beside the repository, for tests. Without the file there are no cases, and their test is skipped. */
import { existsSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../../../../shared/data/', import.meta.url);

export function readBaseline<Case>(name: string): readonly Case[] {
  const file = new URL(name, FOLDER);
  if (!existsSync(file)) return [];
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Case[];
}
