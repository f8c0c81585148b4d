/** Requests of browsers from other origins: allowed as the rules of the service's properties say. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange } from '../../../http/index.ts';
import type { Service } from '../../../service/index.ts';
import { TableError } from '../errors.ts';
import { emptyReply, type Reply } from '../reply.ts';
import { corsRules } from '../service-properties.ts';
import type { CorsRule } from './cors-rules.ts';

/**
 * Returns whether a rule allows this request to pages of its Origin. OPTIONS is always allowed: its response holds
 * nothing but the rule.
 */
export function originCheck(service: Service): (exchange: Exchange) => boolean {
  return ({ method, headers }) => {
    const { origin } = headers;
    if (origin === undefined || method === 'OPTIONS') return true;
    return corsRules(service).some((rule) => allows(rule, origin, method));
  };
}

/** OPTIONS: whether the request that follows would be allowed. */
export function preflight(service: Service, headers: IncomingHttpHeaders): Reply {
  const origin = headers.origin;
  const method = headers['access-control-request-method'];
  if (origin === undefined || typeof method !== 'string')
    throw new TableError(
      'InvalidHeaderValue',
      'A required CORS header is not present. Origin and Access-Control-Request-Method are needed.',
    );
  const requested = headers['access-control-request-headers'];
  const names = String(requested ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const rule = corsRules(service).find(
    (candidate) =>
      allows(candidate, origin, method) && names.every((name) => allowsHeader(candidate, name)),
  );
  if (rule === undefined) throw new TableError('CorsPreflightFailure');
  const sent = [
    'Access-Control-Allow-Origin',
    originFor(rule, origin),
    'Access-Control-Allow-Methods',
    method,
    'Access-Control-Max-Age',
    rule.maxAgeSec,
  ];
  if (names.length > 0) sent.push('Access-Control-Allow-Headers', String(requested));
  if (!rule.origins.includes('*')) sent.push('Access-Control-Allow-Credentials', 'true');
  return emptyReply(200, { headers: sent });
}

/** The CORS headers of a response; none where no rule allows the origin. */
export function corsHeaders(
  service: Service,
  headers: IncomingHttpHeaders,
  method: string,
): readonly string[] {
  const { origin } = headers;
  if (origin === undefined) return NO_HEADERS;
  const rules = corsRules(service);
  if (rules.length === 0) return NO_HEADERS;
  const rule = rules.find((candidate) => allows(candidate, origin, method));
  if (rule === undefined)
    return rules.some(({ origins }) => origins.includes('*')) ? NO_HEADERS : VARY;
  const sent = ['Access-Control-Allow-Origin', originFor(rule, origin)];
  if (rule.exposed !== '') sent.push('Access-Control-Expose-Headers', rule.exposed);
  if (rule.origins.includes('*')) return sent;
  return [...sent, 'Access-Control-Allow-Credentials', 'true', ...VARY];
}

const NO_HEADERS: readonly string[] = [];
/** Responses differ by origin. */
const VARY: readonly string[] = ['Vary', 'Origin'];

function allows({ origins, methods }: CorsRule, origin: string, method: string): boolean {
  const isOrigin = origins.includes('*') || origins.some((allowed) => allowed === origin);
  return isOrigin && methods.some((allowed) => allowed.toUpperCase() === method.toUpperCase());
}

/** A rule names a header, or a prefix of headers with a star after it. */
function allowsHeader({ headers }: CorsRule, name: string): boolean {
  const sent = name.toLowerCase();
  return headers.some((allowed) => {
    const pattern = allowed.toLowerCase();
    return pattern.endsWith('*') ? sent.startsWith(pattern.slice(0, -1)) : sent === pattern;
  });
}

function originFor({ origins }: CorsRule, origin: string): string {
  return origins.includes('*') ? '*' : origin;
}
