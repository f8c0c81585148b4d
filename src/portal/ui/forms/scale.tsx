/** Scaling, with what it would do to the partitions. */
import { useState } from 'preact/hooks';
import { overview, refreshAccount } from '../lib/account.ts';
import { ApiError, nosql } from '../lib/api.ts';
import { FormDialog, TextField } from './form.tsx';
import { PlanPreview, usePlan } from './plan-preview.tsx';

export function ScaleDialog({
  db,
  container,
}: {
  readonly db: string;
  readonly container?: string;
}) {
  const row = overview.value?.containers.find(
    (known) => known.db === db && known.container === container,
  );
  const database = overview.value?.databases.find(({ id }) => id === db);
  const before = (container === undefined ? database?.throughput : row?.throughput) ?? 1000;
  const isAutoscale = row?.isAutoscale === true;
  const [throughput, setThroughput] = useState(String(before));
  const wanted = Number(throughput) || 0;
  const plan = usePlan({
    ...(isAutoscale ? { autoscaleMax: wanted } : { throughput: wanted }),
    ...(container === undefined ? { key: ['/'] } : { current: { db, container } }),
  });
  const scale = async (): Promise<void> => {
    await replaceOffer(db, container, (offer) => {
      const { offerThroughput: _, ...content } = offer;
      return isAutoscale
        ? { ...content, offerAutopilotSettings: { maxThroughput: wanted } }
        : { ...offer, offerThroughput: wanted };
    });
    await refreshAccount();
  };
  return (
    <FormDialog title={`Scale ${container ?? db}`} action="Scale" isWide onSubmit={scale}>
      <TextField
        label={isAutoscale ? 'RU/s at most (autoscale)' : 'RU/s'}
        type="number"
        value={throughput}
        onValue={setThroughput}
        step={isAutoscale ? 1000 : 100}
        hint={`now ${before}`}
      />
      {plan !== undefined && <PlanPreview plan={plan} wanted={wanted} />}
    </FormDialog>
  );
}

type OfferContent = Readonly<Record<string, unknown>>;

/** Offers name their resource by its id of the server; the offer is replaced with the etag that was read. */
async function replaceOffer(
  db: string,
  container: string | undefined,
  change: (content: OfferContent) => OfferContent,
): Promise<void> {
  const path = container === undefined ? ['dbs', db] : ['dbs', db, 'colls', container];
  const { _rid } = JSON.parse((await nosql(path)).text);
  const { Offers } = JSON.parse((await nosql(['offers'])).text);
  const offer = Offers.find(
    ({ offerResourceId }: { offerResourceId: string }) => offerResourceId === _rid,
  );
  if (offer === undefined)
    throw new ApiError(
      404,
      'NotFound',
      'It has no throughput of its own: it shares that of its database.',
    );
  await nosql(['offers', offer.id], {
    method: 'PUT',
    headers: { 'if-match': offer._etag },
    body: JSON.stringify({ ...offer, content: change(offer.content) }),
  });
}
