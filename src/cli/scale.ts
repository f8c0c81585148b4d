/** Changing the throughput of a container or of a database: find its offer, send it back changed. */
import { type ClientOptions, property, send } from './client.ts';
import { CommandError } from './command-error.ts';

export const MODE = {
  value: 'MODE',
  help: 'manual or autoscale; RU is then its maximum [as it is]',
};

interface ScaleRequest {
  /** As typed. */
  readonly throughput: string;
  readonly mode: string | undefined;
}

interface Scaled {
  readonly offer: unknown;
  /** Partitions that the throughput needs are still being made. */
  readonly isPending: boolean;
}

/** @param owner - the container or database as the server shows it. */
export async function scale(
  client: ClientOptions,
  owner: unknown,
  { throughput, mode }: ScaleRequest,
): Promise<Scaled> {
  const requestUnits = Number(throughput.replaceAll(/[,_]/g, ''));
  if (!Number.isSafeInteger(requestUnits))
    throw new CommandError(2, `${JSON.stringify(throughput)}: RU/s are a whole number.`);
  if (mode !== undefined && mode !== 'manual' && mode !== 'autoscale')
    throw new CommandError(2, `--mode ${JSON.stringify(mode)}: allowed is manual or autoscale.`);
  const offer = await offerOf(client, String(property(owner, '_self')));
  const before = autoscaleOf(offer) === undefined ? 'manual' : 'autoscale';
  const after = mode ?? before;
  const { offerAutopilotSettings: _, ...kept } = Object(property(offer, 'content'));
  const content =
    after === 'manual'
      ? { ...kept, offerThroughput: requestUnits }
      : { ...kept, offerAutopilotSettings: { maxThroughput: requestUnits } };
  const { body, headers } = await send(client, {
    verb: 'PUT',
    path: ['offers', String(property(offer, 'id'))],
    headers: before === after ? {} : MIGRATION[after],
    body: JSON.stringify({ ...Object(offer), content }),
  });
  return { offer: body, isPending: headers.get('x-ms-offer-replace-pending') === 'true' };
}

const MIGRATION = {
  manual: { 'x-ms-cosmos-migrate-offer-to-manual-throughput': 'true' },
  autoscale: { 'x-ms-cosmos-migrate-offer-to-autopilot': 'true' },
};

export function printScaled(what: string, { offer, isPending }: Scaled): string {
  const max = autoscaleOf(offer);
  const manual = property(property(offer, 'content'), 'offerThroughput');
  const now = max === undefined ? `${manual} RU/s` : `autoscale up to ${max} RU/s`;
  return `${what}: ${now}${isPending ? '; partitions are being split' : ''}\n`;
}

async function offerOf(client: ClientOptions, self: string): Promise<unknown> {
  const { body } = await send(client, {
    verb: 'POST',
    path: ['offers'],
    headers: { 'x-ms-documentdb-isquery': 'true', 'content-type': 'application/query+json' },
    body: JSON.stringify({
      query: 'SELECT * FROM root r WHERE r.resource = @self',
      parameters: [{ name: '@self', value: self }],
    }),
  });
  const offers = property(body, 'Offers');
  const [offer] = Array.isArray(offers) ? offers : [];
  if (offer !== undefined) return offer;
  throw new CommandError(
    1,
    'it has no throughput of its own: a container shares its database’s (mesocosm db scale), or the account is serverless.',
  );
}

function autoscaleOf(offer: unknown): unknown {
  return property(property(property(offer, 'content'), 'offerAutopilotSettings'), 'maxThroughput');
}
