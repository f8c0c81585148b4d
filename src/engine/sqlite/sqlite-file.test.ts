// Goal: a file that is not ours is refused and not changed. Method: files with other marks, compared byte by byte.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FormatError } from '../engine.ts';
import { APPLICATION_ID, FORMAT_VERSION, prepareFile } from './sqlite-file.ts';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mesocosm-file-'));
  path = join(directory, 'a', 'b.sqlite');
  mkdirSync(join(directory, 'a'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('file of a store', () => {
  it('is created whole, with mark and version, and nothing beside it', () => {
    prepareFile(path, directory);
    expect(readdirSync(join(directory, 'a'))).toEqual(['b.sqlite']);
    const header = readFileSync(path);
    expect(header.toString('latin1', 0, 15)).toBe('SQLite format 3');
    expect(header.readUInt16BE(16)).toBe(4096);
    expect([header[18], header[19]]).toEqual([2, 2]);
    expect(header.readUInt32BE(60)).toBe(2);
    expect(header.toString('latin1', 68, 72)).toBe('Meso');
  });

  it('is created again over the rest of an earlier try that crashed', () => {
    writeFileSync(`${path}.new`, 'half a file');
    writeFileSync(`${path}-wal`, 'a log without its file');
    prepareFile(path, directory);
    expect(readdirSync(join(directory, 'a'))).toEqual(['b.sqlite']);
  });

  it('is accepted unchanged if it is ours', () => {
    prepareFile(path, directory);
    const before = readFileSync(path);
    prepareFile(path, directory);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  const foreign: readonly (readonly [title: string, make: () => void, message: RegExp])[] = [
    ['no database', () => writeFileSync(path, 'a text'), /b\.sqlite is not a SQLite database/],
    ['an empty file', () => writeFileSync(path, ''), /b\.sqlite is not a SQLite database/],
    [
      'the database of another program',
      () => execute('CREATE TABLE t (x); PRAGMA user_version = 1'),
      /b\.sqlite is not a Mesocosm store: its application id is 0, not 1298494319/,
    ],
    [
      'a store of a later version',
      () => execute(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 3`),
      /b\.sqlite has format version 3; this program understands versions 1 and 2/,
    ],
    [
      'a store of a later version, known from its log only',
      laterVersionInLog,
      /b\.sqlite has format version 9; this program understands versions 1 and 2/,
    ],
  ];
  for (const [title, make, message] of foreign)
    it(`is refused and not changed: ${title}`, () => {
      make();
      const before = contents();
      let refusal: unknown;
      try {
        prepareFile(path, directory);
      } catch (error) {
        refusal = error;
      }
      expect(refusal).toBeInstanceOf(FormatError);
      expect((refusal as Error).message).toMatch(message);
      expect(contents()).toEqual(before);
    });

  it('has version 2: a change of the format changes this and still reads the old one', () => {
    expect(FORMAT_VERSION).toBe(2);
  });
});

function execute(text: string): void {
  const database = new DatabaseSync(path);
  database.exec(text);
  database.close();
}

/** A copy of file and log made while the connection is open is the same as after a crash. */
function laterVersionInLog(): void {
  const other = join(directory, 'other.sqlite');
  prepareFile(other, directory);
  const database = new DatabaseSync(other);
  database.exec('PRAGMA user_version = 9');
  copyFileSync(other, path);
  copyFileSync(`${other}-wal`, `${path}-wal`);
  database.close();
}

/** File and log. The index of the log holds no data and may come and go. */
function contents(): readonly string[] {
  return [path, `${path}-wal`].map((file) =>
    existsSync(file) ? readFileSync(file).toString('hex') : 'absent',
  );
}
