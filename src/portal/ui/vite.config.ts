/** Builds the page into dist/portal/ui, with every file compressed beside itself. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));
const outDir = fileURLToPath(new URL('../../../dist/portal/ui', import.meta.url));

/** The highest quality takes seconds for two percent. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

export default defineConfig({
  root,
  logLevel: 'warn',
  cacheDir: fileURLToPath(new URL('../../../node_modules/.cache/vite-portal', import.meta.url)),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'esnext',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    assetsInlineLimit: 0,
  },
  plugins: [
    {
      name: 'compress',
      closeBundle() {
        const assets = join(outDir, 'assets');
        for (const name of readdirSync(assets)) {
          const bytes = readFileSync(join(assets, name));
          writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes, BROTLI));
          writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }));
        }
      },
    },
  ],
});
