/**
 * Text to bytes and back without loss. UTF-8, with a lone surrogate (which JSON can write and UTF-8 cannot) as the
 * three bytes of its code point (WTF-8). The usual conversion would replace it, and two different ids would become
 * one key.
 */
import { isUtf8 } from 'node:buffer';
import { type Bytes, bytesToText } from '../../base/index.ts';

export function textToWtf8(text: string): Bytes {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    parts.push(
      character.isWellFormed()
        ? Buffer.from(character, 'utf8')
        : Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]),
    );
  }
  return Buffer.concat(parts);
}

export function wtf8ToText(bytes: Bytes): string {
  if (isUtf8(bytes)) return bytesToText(bytes);
  let text = '';
  let from = 0;
  for (let at = 0; at + 2 < bytes.length; at++) {
    // ED A0..BF xx is always a surrogate.
    if (bytes[at] !== 0xed || (bytes[at + 1] as number) < 0xa0) continue;
    text += bytesToText(bytes.subarray(from, at));
    const middle = (bytes[at + 1] as number) & 0x3f;
    text += String.fromCharCode(0xd000 | (middle << 6) | ((bytes[at + 2] as number) & 0x3f));
    from = at + 3;
    at += 2;
  }
  return text + bytesToText(bytes.subarray(from));
}
