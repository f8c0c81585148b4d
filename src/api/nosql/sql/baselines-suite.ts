/** For tests: reads the public baselines beside the repository. Without them it prints a note and runs no case. */
import { existsSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../../../../shared/data/', import.meta.url);

export function readBaseline<Case>(name: string): readonly Case[] {
  const file = new URL(name, FOLDER);
  if (!existsSync(file)) {
    console.info(`no ${name} beside the repository: its cases are not run`);
    return [];
  }
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Case[];
}
