// Goal: one server per directory, no foreign data touched. Method: temporary directories, the lock held in this process.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDataDirectory } from './data-directory.ts';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'mesocosm-data-'));
});
afterEach(() => {
  rmSync(data, { recursive: true });
});

test('an absent directory is made, with its format version', () => {
  const path = join(data, 'a', 'b');
  const directory = openDataDirectory(path);
  expect(directory.storesPath).toBe(join(path, 'stores'));
  expect(readFileSync(join(path, 'format.json'), 'utf8')).toBe(
    '{"product":"mesocosm","format":1}\n',
  );
  directory.release();
  directory.release();
  expect(readdirSync(path).sort()).toEqual(['format.json', 'lock.sqlite', 'stores']);
});

test('a second use is refused with the pid, until the first is released', () => {
  const first = openDataDirectory(data);
  expect(() => openDataDirectory(data)).toThrow(`${data} is in use by process ${process.pid}.`);
  first.release();
  openDataDirectory(data).release();
});

test('files that a killed server left behind do not prevent a start', () => {
  openDataDirectory(data).release();
  writeFileSync(join(data, 'server.pid'), '999999\n');
  openDataDirectory(data).release();
});

test('a directory that was never finished being made is taken', () => {
  writeFileSync(join(data, 'lock.sqlite'), '');
  writeFileSync(join(data, 'format.json.77.tmp'), '{"prod');
  openDataDirectory(data).release();
});

test.each([
  ['{"product":"mesocosm","format":7}', 'has data format version 7; this program understands: 1.'],
  ['{"format":"new"}', 'is not readable as a format version; understood: 1.'],
  ['', 'is not readable as a format version; understood: 1.'],
])('format file %s is refused', (text, message) => {
  writeFileSync(join(data, 'format.json'), text);
  expect(() => openDataDirectory(data)).toThrow(message);
  expect(readFileSync(join(data, 'format.json'), 'utf8')).toBe(text);
});

test('what an earlier program left open to others is closed', () => {
  openDataDirectory(data).release();
  mkdirSync(join(data, 'tls'));
  mkdirSync(join(data, 'stores', 'deep'));
  mkdirSync(join(data, '.snapshots'));
  const files = [
    'access.json',
    'tls/ca-key.pem',
    'stores/deep/1.sqlite',
    'stores/deep/1.sqlite-wal',
  ];
  for (const name of files) writeFileSync(join(data, name), '');
  const folders = ['', 'stores', 'stores/deep', 'tls'];
  for (const name of folders) chmodSync(join(data, name), 0o755);
  for (const name of [...files, 'format.json', 'lock.sqlite']) chmodSync(join(data, name), 0o666);
  chmodSync(join(data, '.snapshots'), 0o755);
  const elsewhere = join(data, '..', `${basename(data)}-elsewhere`);
  writeFileSync(elsewhere, '', { mode: 0o644 });
  symlinkSync(elsewhere, join(data, 'stores', 'link'));
  openDataDirectory(data).release();
  const modeOf = (name: string): number => statSync(join(data, name)).mode & 0o777;
  for (const name of folders) expect([name, modeOf(name)]).toEqual([name, 0o700]);
  for (const name of [...files, 'format.json', 'lock.sqlite'])
    expect([name, modeOf(name)]).toEqual([name, 0o600]);
  // Neither what others keep there nor what a link leads to is ours.
  expect([modeOf('.snapshots'), modeOf('stores/link')]).toEqual([0o755, 0o644]);
  rmSync(elsewhere);
});

test('a directory with foreign files is refused and left as it is', () => {
  writeFileSync(join(data, 'thesis.txt'), 'x');
  expect(() => openDataDirectory(data)).toThrow('is not empty and holds no mesocosm data');
  expect(readdirSync(data)).toEqual(['thesis.txt']);
});

test('a path that cannot be a directory is a clear refusal', () => {
  writeFileSync(join(data, 'file'), '');
  expect(() => openDataDirectory(join(data, 'file', 'x'))).toThrow(/cannot use the data directory/);
  mkdirSync(join(data, 'lock.sqlite'));
  rmSync(join(data, 'file'));
  expect(() => openDataDirectory(data)).toThrow(/cannot use the data directory/);
});
