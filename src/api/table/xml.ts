/** XML as the Storage parts of the protocol have it: small documents of elements and texts. */
import { XMLBuilder, XMLParser, XMLValidator } from 'fast-xml-parser';
import { type Bytes, bytesToText } from '../../base/index.ts';
import { TableError } from './errors.ts';
import { XML_BYTES_MAX } from './limits.ts';

/** Elements by name; those that occur more than once as lists. */
export interface XmlElement {
  readonly [name: string]: XmlNode;
}
export type XmlNode = string | XmlElement | readonly XmlNode[] | undefined;

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  parseTagValue: false,
  // Documents that define entities are refused below: entity expansion turns small texts into large ones.
  processEntities: true,
  trimValues: true,
});
const builder = new XMLBuilder({ suppressEmptyNode: true });

/** The content of the root element of this name. Throws a 400. */
export function parseXml(body: Bytes, root: string): XmlElement {
  if (body.length > XML_BYTES_MAX) throw invalid();
  const text = bytesToText(body).replace(/^\uFEFF/, '');
  if (/<!DOCTYPE/i.test(text) || XMLValidator.validate(text) !== true) throw invalid();
  const document = parsed(text);
  if (!Object.hasOwn(document, root)) throw invalid();
  return elementOf(document[root]);
}

/** The parser throws its own errors for elements that are too deep, and for names of prototype members. */
function parsed(text: string): Readonly<Record<string, XmlNode>> {
  try {
    return parser.parse(text) as Record<string, XmlNode>;
  } catch {
    throw invalid();
  }
}

export function printXml(root: string, content: XmlElement): string {
  return `<?xml version="1.0" encoding="utf-8"?>${builder.build({ [root]: content })}`;
}

/** An element; an empty one is a text to the parser. */
export function elementOf(node: XmlNode): XmlElement {
  if (node === undefined || node === '') return {};
  if (typeof node === 'string' || Array.isArray(node)) throw invalid();
  return node as XmlElement;
}

/** All elements of one name. */
export function listOf(node: XmlNode): readonly XmlNode[] {
  if (node === undefined) return [];
  return Array.isArray(node) ? node : [node as XmlNode];
}

/** The text of an element; undefined where there is none. */
export function textOf(node: XmlNode): string | undefined {
  if (node === undefined) return undefined;
  if (typeof node !== 'string') throw invalid();
  return node;
}

function invalid(): TableError {
  return new TableError('InvalidXmlDocument');
}
