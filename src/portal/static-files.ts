/** The built page: read once, sent compressed, cached for ever under hashed names; only the page itself is made for each response. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bytes } from '../base/index.ts';

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

interface StaticFile {
  readonly contentType: string;
  readonly plain: Bytes;
  readonly br: Bytes | undefined;
  readonly gzip: Bytes | undefined;
}

interface StaticReply {
  readonly headers: string[];
  readonly body: Bytes;
}

/** Replaced by the nonce of each response. */
const NONCE_MARK = '__NONCE__';

export class StaticFiles {
  readonly #folder: string;
  #files: ReadonlyMap<string, StaticFile> | undefined;
  #page: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The page with this nonce; undefined where the portal is not built. */
  page(nonce: string): string | undefined {
    this.#load();
    return this.#page?.replaceAll(NONCE_MARK, nonce);
  }

  /** @param path - `/assets/…`. */
  file(path: string, acceptEncoding: string): StaticReply | undefined {
    const file = this.#load().get(path);
    if (file === undefined) return undefined;
    const { contentType, plain, br, gzip } = file;
    const headers = [
      'content-type',
      contentType,
      'cache-control',
      'public, max-age=31536000, immutable',
      'vary',
      'accept-encoding',
    ];
    if (br !== undefined && /\bbr\b/.test(acceptEncoding))
      return { headers: [...headers, 'content-encoding', 'br'], body: br };
    if (gzip !== undefined && /\bgzip\b/.test(acceptEncoding))
      return { headers: [...headers, 'content-encoding', 'gzip'], body: gzip };
    return { headers, body: plain };
  }

  #load(): ReadonlyMap<string, StaticFile> {
    if (this.#files !== undefined) return this.#files;
    const files = new Map<string, StaticFile>();
    const assets = join(this.#folder, 'assets');
    if (!existsSync(join(this.#folder, 'index.html'))) return files;
    this.#page = readFileSync(join(this.#folder, 'index.html'), 'utf8');
    for (const name of existsSync(assets) ? readdirSync(assets) : []) {
      const contentType = TYPES[name.slice(name.lastIndexOf('.') + 1)];
      if (contentType === undefined) continue;
      const compressed = (ending: string): Bytes | undefined => {
        const path = join(assets, `${name}.${ending}`);
        return existsSync(path) ? readFileSync(path) : undefined;
      };
      files.set(`/assets/${name}`, {
        contentType,
        plain: readFileSync(join(assets, name)),
        br: compressed('br'),
        gzip: compressed('gz'),
      });
    }
    this.#files = files;
    return files;
  }
}
