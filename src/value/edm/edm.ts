/**
 * Entities of the Table API: flat, every property of one of eight types (the Entity Data Model, EDM).
 *
 * As text an entity is OData JSON. A property whose type does not show in its JSON value has an annotation before it:
 *
 *   String "x" · Boolean true · Int32 5 · Double 1.5, 1e300     no annotation
 *   "n@odata.type":"Edm.Int64","n":"5" · Edm.Double 5.0, "NaN", "Infinity", "-Infinity"
 *   Edm.DateTime, in UTC, up to seven digits · Edm.Guid, as sent · Edm.Binary, base64
 *
 * As a Value an Int64 is a number, or an int64 where no double is exact; a DateTime is in its normal form
 * (edm-date-time.ts), a Guid is in lower case, a Binary stays base64; the annotations are properties of their own.
 */
import { assert } from '../../base/index.ts';
import { Extended, type Value } from '../value.ts';
import { normalDateTime } from './edm-date-time.ts';

export type EdmType =
  | 'Edm.String'
  | 'Edm.Boolean'
  | 'Edm.Int32'
  | 'Edm.Int64'
  | 'Edm.Double'
  | 'Edm.DateTime'
  | 'Edm.Guid'
  | 'Edm.Binary';

/** The suffix of the annotation that gives the type of a property. */
export const TYPE_ANNOTATION = '@odata.type';

/** Recent property names with the names of their annotations. The bound is for entities with ever new names. */
const annotationNames = new Map<string, string>();
const propertyNames = new Map<string, string>();
const NAMES_MAX = 10_000;

/** The name of the annotation of a property. It is cached, because a newly concatenated text is slow as a map key. */
export function annotationName(property: string): string {
  return annotationNames.get(property) ?? cacheNames(property).annotation;
}

/** The property that an annotation belongs to. */
export function annotatedName(annotation: string): string {
  const cached = propertyNames.get(annotation);
  return cached ?? cacheNames(annotation.slice(0, -TYPE_ANNOTATION.length)).property;
}

function cacheNames(property: string): { readonly property: string; readonly annotation: string } {
  const annotation = `${property}${TYPE_ANNOTATION}`;
  if (annotationNames.size >= NAMES_MAX) {
    annotationNames.clear();
    propertyNames.clear();
  }
  annotationNames.set(property, annotation);
  propertyNames.set(annotation, property);
  return { property, annotation };
}

export interface EdmProperty {
  readonly type: EdmType;
  /** The value as JSON text, in its stored form. */
  readonly token: string;
  readonly value: Value;
}

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
/** Every integer of so many digits is exact in a double. */
const SAFE_DIGITS = 15;
const INTEGER = /^[+-]?\d{1,19}$/;
const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const BASE64 =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2,3})?$/;

/** A property as it was sent in JSON; `token` is the text of a number, where that is cached. */
export interface JsonProperty {
  readonly value: unknown;
  readonly annotation: string | undefined;
  readonly token?: string | undefined;
  /** True where no text in the request has an escape: then none needs one. */
  readonly isPlain?: boolean;
}

/** The property of a JSON value; undefined where value and type do not match. Null is left to the caller. */
export function edmProperty(sent: JsonProperty): EdmProperty | undefined {
  const { value, annotation, token, isPlain = false } = sent;
  if (annotation === undefined) return unannotated(value, token, isPlain);
  switch (annotation) {
    case 'Edm.String':
      return typeof value === 'string' ? stringProperty(value, isPlain) : undefined;
    case 'Edm.Boolean':
      return booleanProperty(value);
    case 'Edm.Int32':
      return int32Property(value);
    case 'Edm.Int64':
      return int64Property(value);
    case 'Edm.Double':
      return doubleProperty(value);
    case 'Edm.DateTime':
      return dateTimeProperty(value);
    case 'Edm.Guid':
      if (typeof value !== 'string' || !GUID.test(value)) return undefined;
      return { type: 'Edm.Guid', token: JSON.stringify(value), value: value.toLowerCase() };
    case 'Edm.Binary':
      return binaryProperty(value);
    default:
      return undefined;
  }
}

function unannotated(
  value: unknown,
  token: string | undefined,
  isPlain: boolean,
): EdmProperty | undefined {
  switch (typeof value) {
    case 'string':
      return stringProperty(value, isPlain);
    case 'boolean':
      return booleanProperty(value);
    case 'number': {
      const isWhole = Number.isInteger(value) && !(token !== undefined && /[.eE]/.test(token));
      if (isWhole && value >= INT32_MIN && value <= INT32_MAX && !Object.is(value, -0))
        return { type: 'Edm.Int32', token: String(value), value };
      return doubleProperty(value);
    }
    default:
      return undefined;
  }
}

function stringProperty(value: string, isPlain: boolean): EdmProperty {
  return { type: 'Edm.String', token: isPlain ? `"${value}"` : JSON.stringify(value), value };
}

/** Some clients annotate booleans and send them as text, as their own language writes it. */
function booleanProperty(sent: unknown): EdmProperty | undefined {
  const value = typeof sent === 'string' ? booleanOfText(sent) : sent;
  return typeof value === 'boolean'
    ? { type: 'Edm.Boolean', token: String(value), value }
    : undefined;
}

function booleanOfText(text: string): boolean | undefined {
  if (text === '1' || /^true$/i.test(text)) return true;
  if (text === '0' || /^false$/i.test(text)) return false;
  return undefined;
}

function int32Property(sent: unknown): EdmProperty | undefined {
  const value = typeof sent === 'string' && INTEGER.test(sent) ? Number(sent) : sent;
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  if (value < INT32_MIN || value > INT32_MAX) return undefined;
  return { type: 'Edm.Int32', token: String(value), value };
}

function int64Property(sent: unknown): EdmProperty | undefined {
  if (typeof sent === 'string' && sent.length <= SAFE_DIGITS) {
    const small = Number(sent);
    // The text is in its only form: no extra sign, zero or space.
    if (Number.isSafeInteger(small) && String(small) === sent)
      return { type: 'Edm.Int64', token: `"${sent}"`, value: small };
  }
  const text = int64Text(sent);
  if (text === undefined) return undefined;
  const value = BigInt(text);
  if (value < INT64_MIN || value > INT64_MAX) return undefined;
  const number = Number(value);
  return {
    type: 'Edm.Int64',
    token: `"${value}"`,
    value: Number.isSafeInteger(number) ? number : new Extended({ kind: 'int64', value }),
  };
}

/** Text as in the protocol, a whole number, or the extended JSON that clients of other APIs see (extended-json.ts). */
function int64Text(sent: unknown): string | undefined {
  if (typeof sent === 'string') return INTEGER.test(sent) ? sent.replace(/^\+/, '') : undefined;
  if (typeof sent === 'number') return Number.isSafeInteger(sent) ? String(sent) : undefined;
  if (sent instanceof Extended && sent.payload.kind === 'int64') return String(sent.payload.value);
  if (typeof sent !== 'object' || sent === null || !('$numberLong' in sent)) return undefined;
  return int64Text(sent.$numberLong);
}

function doubleProperty(sent: unknown): EdmProperty | undefined {
  const value = typeof sent === 'string' ? doubleOfText(sent) : sent;
  if (typeof value !== 'number') return undefined;
  // The number is too large for a double; infinity is sent as text.
  if (value === sent && !Number.isFinite(value)) return undefined;
  return { type: 'Edm.Double', token: doubleToken(value), value };
}

function doubleOfText(text: string): number | undefined {
  if (text === 'NaN') return Number.NaN;
  if (text === 'Infinity' || text === 'INF') return Number.POSITIVE_INFINITY;
  if (text === '-Infinity' || text === '-INF') return Number.NEGATIVE_INFINITY;
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined;
}

/** From here on whole numbers print with an exponent. */
const EXPONENT_FROM = 1e21;

/** A whole number gets a decimal point, so that it cannot be read as an integer. */
function doubleToken(value: number): string {
  if (!Number.isFinite(value)) return `"${value}"`;
  if (!Number.isInteger(value) || Math.abs(value) >= EXPONENT_FROM) return String(value);
  return Object.is(value, -0) ? '-0.0' : `${value}.0`;
}

function dateTimeProperty(value: unknown): EdmProperty | undefined {
  if (typeof value !== 'string') return undefined;
  const normal = normalDateTime(value);
  if (normal === undefined) return undefined;
  // Responses are in UTC. A time that was sent in UTC is returned unchanged.
  const text = value.endsWith('Z') ? value : normal.replace(/\.?0+Z$/, 'Z');
  return { type: 'Edm.DateTime', token: `"${text}"`, value: normal };
}

function binaryProperty(value: unknown): EdmProperty | undefined {
  if (typeof value !== 'string' || !BASE64.test(value)) return undefined;
  const base64 = Buffer.from(value, 'base64').toString('base64');
  return { type: 'Edm.Binary', token: `"${base64}"`, value: base64 };
}

/** Whether the JSON value does not show the type. */
export function isAnnotated({ type, token }: EdmProperty): boolean {
  switch (type) {
    case 'Edm.Int64':
    case 'Edm.DateTime':
    case 'Edm.Guid':
    case 'Edm.Binary':
      return true;
    case 'Edm.Double':
      return token.endsWith('.0') || token.startsWith('"');
    default:
      return false;
  }
}

/** The canonical value of a stored property with an annotation. */
export function annotatedValue(stored: unknown, annotation: string): Value {
  const property = edmProperty({ value: stored, annotation });
  assert(property !== undefined, 'entity: value and type match');
  return property.value;
}
