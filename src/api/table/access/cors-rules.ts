/**
 * Rules for requests of browsers from other origins. Their texts become response headers, so a rule is refused on
 * writing unless every text is valid in a header; an invalid rule on disk is ignored.
 */
import { TableError } from '../errors.ts';
import { elementOf, listOf, textOf, type XmlNode } from '../xml.ts';

export interface CorsRule {
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly exposed: string;
  readonly maxAgeSec: string;
}

const RULES_MAX = 5;

const METHODS: ReadonlySet<string> = new Set([
  'DELETE',
  'GET',
  'HEAD',
  'MERGE',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
]);

/** Characters of an origin: visible ones, and no comma, which separates origins. */
const ORIGIN = /^[!-+\--~]{1,256}$/;
/** A header name, or a prefix of names with a star after it. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/;
const SECONDS = /^\d{1,10}$/;

/** Throws a 400 for an invalid list of rules. */
export function parseCorsRules(cors: XmlNode): readonly CorsRule[] {
  const rules = listOf(elementOf(cors).CorsRule);
  if (rules.length > RULES_MAX) throw new TableError('InvalidXmlDocument');
  return rules.map(parseRule);
}

/** The valid rules of a stored list. */
export function usableCorsRules(cors: XmlNode): readonly CorsRule[] {
  return attempt(() => listOf(elementOf(cors).CorsRule), [])
    .slice(0, RULES_MAX)
    .flatMap((rule) => attempt(() => [parseRule(rule)], []));
}

function attempt<T>(parse: () => T, otherwise: T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof TableError) return otherwise;
    throw error;
  }
}

function parseRule(node: XmlNode): CorsRule {
  const { AllowedOrigins, AllowedMethods, AllowedHeaders, ExposedHeaders, MaxAgeInSeconds } =
    elementOf(node);
  const maxAgeSec = textOf(MaxAgeInSeconds) || '0';
  if (!SECONDS.test(maxAgeSec)) throw new TableError('InvalidXmlNodeValue');
  return {
    origins: words(AllowedOrigins, (origin) => ORIGIN.test(origin)),
    methods: words(AllowedMethods, (method) => METHODS.has(method.toUpperCase())),
    headers: words(AllowedHeaders, (name) => HEADER_NAME.test(name)),
    exposed: words(ExposedHeaders, (name) => HEADER_NAME.test(name)).join(','),
    maxAgeSec,
  };
}

function words(node: XmlNode, isGood: (word: string) => boolean): readonly string[] {
  const all = (textOf(node) ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  if (!all.every(isGood)) throw new TableError('InvalidXmlNodeValue');
  return all;
}
