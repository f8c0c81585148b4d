/** Requests of browsers from other origins: allowed as the rules of the service's properties say. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange } from '../../../http/index.ts';
import type { Service } from '../../../service/index.ts';
import { TableError } from '../errors.ts';
import { emptyReply, type Reply } from '../reply.ts';
import { corsRules } from '../service-properties.ts';
import type { CorsRule } from './cors-rules.ts';

/**
 * Whether a rule lets pages of the Origin that was sent do this. Who asks first (OPTIONS) gets an answer of its own,
 * which tells nothing but the rule.
 */
export function originCheck(service: Service): (exchange: Exchange) => boolean {
  return ({ method, headers }) => {
    const { origin } = headers;
    if (origin === undefined || method === 'OPTIONS') return true;
    return corsRules(service).some((rule) => allows(rule, origin, method));
  };
}

/** OPTIONS: asks whether the request that is to follow would be allowed. */
export function preflight(service: Service, headers: IncomingHttpHeaders): Reply {
  const origin = headers.origin;
  const method = headers['access-control-request-method'];
  if (origin === undefined || typeof method !== 'string')
    throw new TableError(
      'InvalidHeaderValue',
      'A required CORS header is not present. Origin and Access-Control-Request-Method are needed.',
    );
  const asked = headers['access-control-request-headers'];
  const names = String(asked ?? '')
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
  if (names.length > 0) sent.push('Access-Control-Allow-Headers', String(asked));
  if (!rule.origins.includes('*')) sent.push('Access-Control-Allow-Credentials', 'true');
  return emptyReply(200, { headers: sent });
}

/** What the answer to a request from another origin says; nothing where no rule allows it. */
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
/** Other origins get other answers. */
const VARY: readonly string[] = ['Vary', 'Origin'];

function allows({ origins, methods }: CorsRule, origin: string, method: string): boolean {
  const isOrigin = origins.includes('*') || origins.some((allowed) => allowed === origin);
  return isOrigin && methods.some((allowed) => allowed.toUpperCase() === method.toUpperCase());
}

/** A name, or the beginning of names with a star behind it. */
function allowsHeader({ headers }: CorsRule, name: string): boolean {
  const sent = name.toLowerCase();
  return headers.some((allowed) => {
    const known = allowed.toLowerCase();
    return known.endsWith('*') ? sent.startsWith(known.slice(0, -1)) : sent === known;
  });
}

function originFor({ origins }: CorsRule, origin: string): string {
  return origins.includes('*') ? '*' : origin;
}
