/**
 * The id of the item that a path names. A path by names has the id itself; a path by resource ids has the rid of the
 * item, which is looked up.
 */
import { bytesToText, isPromise, type MaybePromise } from '../../../base/index.ts';
import { containerRid, parseResourceId } from '../../../catalog/index.ts';
import { type Item, itemNotFound } from '../../../partition/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';

export function addressedItemId(call: Call, view: ContainerView): MaybePromise<string> {
  const id = call.id(2);
  // An item is named by resource id only below a container that is named by resource id.
  if (call.id(1) === view.record.id) return id;
  const rid = parseResourceId(id);
  if (rid?.kind !== 'document') return id;
  if (containerRid(rid.database, rid.container) !== view.rid) return id;
  const found = call.service.items.findByRid(view.record, rid.document);
  const idOf = (item: Item | undefined): string => idOfItem(view, item);
  return isPromise(found) ? found.then(idOf) : idOf(found);
}

function idOfItem({ foreign }: ContainerView, item: Item | undefined): string {
  if (item === undefined) throw itemNotFound();
  if (foreign !== undefined) return String(foreign.documentOf(item).id);
  return JSON.parse(bytesToText(item.body)).id;
}
