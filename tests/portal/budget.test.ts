// Goal: T-A10, the page stays small. Method: sizes of the built files, compressed as they are sent.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const KB = 1024;
const page = fileURLToPath(new URL('../../dist/portal/ui/', import.meta.url));
const assets = `${page}assets/`;

function bytes(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + statSync(`${assets}${name}.gz`).size, 0);
}

test('first load, editor and everything are within their bounds', () => {
  const names = readdirSync(assets).filter((name) => /\.(js|css)$/.test(name));
  const html = readFileSync(`${page}index.html`, 'utf8');
  const first = names.filter((name) => html.includes(name));
  const editor = names.filter((name) => /^(code-editor|dist|sql)/.test(name));
  expect(first.length).toBeGreaterThan(0);
  expect(bytes(first)).toBeLessThanOrEqual(60 * KB);
  expect(bytes(editor)).toBeLessThanOrEqual(130 * KB);
  expect(bytes(names)).toBeLessThanOrEqual(350 * KB);
});

test('the page has no inline script or style, and asks nobody else', () => {
  const html = readFileSync(`${page}index.html`, 'utf8');
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
  expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
});
