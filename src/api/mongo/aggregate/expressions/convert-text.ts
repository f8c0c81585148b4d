/** Bytes as text and back, in the formats of `$convert`. */
import type { Bytes } from '../../../../base/index.ts';
import { MongoError } from '../../errors.ts';
import { checkedText, TEXT_BYTES_MAX } from './text.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function failure(message: string): MongoError {
  return new MongoError('ConversionFailure', message);
}

function missingFormat(): MongoError {
  return new MongoError(
    'Location4341115',
    "Format must be specified when converting between 'string' and 'binData'",
  );
}

export function textOfBytes(bytes: Bytes, subtype: number, format: string | undefined): string {
  const text = plainText(bytes, subtype, format);
  if (format === 'utf8') return checkedText(text);
  if (text.length >= TEXT_BYTES_MAX)
    throw failure('Converting the binary to a string makes one that is longer than 16MB');
  return text;
}

function plainText(bytes: Bytes, subtype: number, format: string | undefined): string {
  const buffer = Buffer.from(bytes);
  switch (format) {
    case 'base64':
      return buffer.toString('base64');
    case 'base64url':
      return buffer.toString('base64url');
    case 'hex':
      return buffer.toString('hex').toUpperCase();
    case 'utf8':
      return utf8(buffer);
    case 'uuid':
      if (subtype !== 4 || bytes.length !== 16)
        throw failure('Only a binary of subtype 4 is a UUID');
      return uuid(buffer);
    case 'auto':
      return subtype === 4 && bytes.length === 16 ? uuid(buffer) : buffer.toString('base64');
    default:
      throw missingFormat();
  }
}

function uuid(buffer: Buffer): string {
  return buffer.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function utf8(buffer: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer);
  } catch {
    throw failure('BinData does not represent a valid UTF-8 string');
  }
}

export function bytesOfText(text: string, format: string | undefined, subtype: number): Bytes {
  switch (format) {
    case 'base64':
      if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text))
        throw failure(`Input is not a valid base64 string: ${text.slice(0, 100)}`);
      return new Uint8Array(Buffer.from(text, 'base64'));
    case 'base64url':
      if (!/^[A-Za-z0-9_-]*={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1)
        throw failure(`Input is not a valid base64url string: ${text.slice(0, 100)}`);
      return new Uint8Array(Buffer.from(text, 'base64url'));
    case 'hex':
      if (!/^(?:[0-9a-fA-F]{2})*$/.test(text))
        throw failure(`Input is not a valid hex string: ${text.slice(0, 100)}`);
      return new Uint8Array(Buffer.from(text, 'hex'));
    case 'utf8':
      return new Uint8Array(Buffer.from(text));
    case 'uuid':
    case 'auto':
      if (UUID.test(text) && subtype === 4)
        return new Uint8Array(Buffer.from(text.replaceAll('-', ''), 'hex'));
      if (format === 'auto' && subtype !== 4) return bytesOfText(text, 'base64', subtype);
      throw failure(`Input is not a valid UUID string: ${text.slice(0, 100)}`);
    default:
      throw missingFormat();
  }
}
