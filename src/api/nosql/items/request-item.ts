/**
 * The item of a request. Where its text is canonical it is stored as it is, and only the properties that are checked are
 * read from it.
 */
import { isUtf8 } from 'node:buffer';
import { type Bytes, bufferOf, type MaybePromise, type SlicedWork } from '../../../base/index.ts';
import {
  CanonicalJson,
  readCanonicalObject,
  type Value,
  type ValueMap,
} from '../../../value/index.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { parseJsonObject } from './json-body.ts';
import { SYSTEM_PROPERTIES } from './system-properties.ts';

export interface RequestItem {
  /** The whole item; with a `text` only id, time to live and the properties with the partition key. */
  readonly item: ValueMap;
  /** The bytes to store; undefined where the item has to be printed. */
  readonly text: Bytes | undefined;
}

/** The first character of the names of all system properties. */
const UNDERSCORE = 0x5f;
const SYSTEM_NAMES = SYSTEM_PROPERTIES.map((name) => Buffer.from(name));

/** One reader serves all requests, because reading is synchronous. */
const sent = new CanonicalJson();

/** Throws like `parseJsonObject`. */
export function requestItem(body: Bytes, view: ContainerView): RequestItem {
  const text = bufferOf(body);
  if (isUtf8(text) && sent.read(text, 0) === text.length) {
    const item = checkedProperties(sent, view);
    if (item !== undefined) return { item, text };
  }
  return { item: parseJsonObject(body), text: undefined };
}

/** Longer bodies are read in slices. */
const LONG_BYTES = 64 * 1024;

/** Reads a long item in slices, so that other requests do not wait; a short one synchronously. */
export function requestItemInSlices(
  body: Bytes,
  view: ContainerView,
  slicedWork: SlicedWork,
): MaybePromise<RequestItem> {
  const text = bufferOf(body);
  if (text.length < LONG_BYTES || !isUtf8(text)) return requestItem(body, view);
  const object = new CanonicalJson();
  return slicedWork.run(readCanonicalObject(text, object)).then((end) => {
    const item = end === text.length ? checkedProperties(object, view) : undefined;
    return item === undefined ? { item: parseJsonObject(body), text: undefined } : { item, text };
  });
}

/** The checked properties of an item that can be stored as it was sent; undefined where it cannot. */
export function checkedProperties(item: CanonicalJson, view: ContainerView): ValueMap | undefined {
  if (!view.storesVerbatim) return undefined;
  if (item.hasInitial(UNDERSCORE))
    for (const name of SYSTEM_NAMES) if (item.has(name)) return undefined;
  const properties: Record<string, Value> = {};
  for (const { name, bytes } of view.checkedNames) {
    const value = item.get(bytes);
    if (value !== undefined) properties[name] = value;
  }
  return properties;
}
