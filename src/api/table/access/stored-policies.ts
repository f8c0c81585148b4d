/** Access policies stored with a table: up to five, which signatures may name instead of listing their rights. */
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { Service } from '../../../service/index.ts';
import { isList, isMap, type ValueMap } from '../../../value/index.ts';
import { type Call, ownerTable, tableNamed } from '../call.ts';
import { TableError } from '../errors.ts';
import { ACCESS_POLICIES_MAX, ACCESS_POLICY_ID_LENGTH_MAX } from '../limits.ts';
import { emptyReply, type Reply, xmlReply } from '../reply.ts';
import { elementOf, listOf, parseXml, printXml, textOf, type XmlElement } from '../xml.ts';

export interface StoredPolicy extends ValueMap {
  readonly id: string;
  readonly start: string | undefined;
  readonly expiry: string | undefined;
  readonly permissions: string | undefined;
}

/** The key among the policies of the container. */
const POLICIES_NAME = 'tableAccessPolicies';

export function readPolicies(call: Call, table: string): Reply {
  call.access.check({ level: 'c', permissions: ['r'], table });
  const policies = policiesOf(ownerTable(call, table));
  const identifiers = policies.map(({ id, start, expiry, permissions }): XmlElement => {
    const policy = {
      ...(start === undefined ? {} : { Start: start }),
      ...(expiry === undefined ? {} : { Expiry: expiry }),
      ...(permissions === undefined ? {} : { Permission: permissions }),
    };
    return Object.keys(policy).length === 0 ? { Id: id } : { Id: id, AccessPolicy: policy };
  });
  const content = identifiers.length === 0 ? {} : { SignedIdentifier: identifiers };
  return xmlReply(200, printXml('SignedIdentifiers', content));
}

export async function writePolicies(call: Call, table: string): Promise<Reply> {
  const { service, access, body } = call;
  access.check({ level: 'c', permissions: ['w'], table });
  const container = ownerTable(call, table);
  const policies = body.length === 0 ? [] : parsePolicies(parseXml(body, 'SignedIdentifiers'));
  const { indexingPolicy, defaultTtlSec, policies: others } = container;
  await service.containers.replace(container, {
    indexingPolicy,
    defaultTtlSec,
    policies: { ...others, [POLICIES_NAME]: policies },
  });
  return emptyReply(204);
}

export function storedPolicy(
  service: Service,
  table: string,
  id: string,
): StoredPolicy | undefined {
  const container = tableNamed(service, table);
  return container && policiesOf(container).find((policy) => policy.id === id);
}

function policiesOf({ policies }: ContainerRecord): readonly StoredPolicy[] {
  const stored = policies[POLICIES_NAME];
  return isList(stored) ? (stored.filter(isMap) as unknown as readonly StoredPolicy[]) : [];
}

const PERMISSIONS = /^[raud]*$/;

function parsePolicies(root: XmlElement): readonly StoredPolicy[] {
  const identifiers = listOf(root.SignedIdentifier).map(elementOf);
  if (identifiers.length > ACCESS_POLICIES_MAX) throw new TableError('InvalidXmlDocument');
  return identifiers.map((identifier) => {
    const id = textOf(identifier.Id);
    if (id === undefined || id === '' || id.length > ACCESS_POLICY_ID_LENGTH_MAX)
      throw new TableError('InvalidXmlDocument');
    const policy = elementOf(identifier.AccessPolicy);
    const start = timeOf(policy.Start);
    const expiry = timeOf(policy.Expiry);
    const permissions = textOf(policy.Permission) || undefined;
    if (permissions !== undefined && !PERMISSIONS.test(permissions))
      throw new TableError('InvalidXmlDocument');
    return { id, start, expiry, permissions };
  });
}

function timeOf(node: XmlElement[string]): string | undefined {
  const text = textOf(node);
  if (text === undefined || text === '') return undefined;
  if (Number.isNaN(Date.parse(text))) throw new TableError('InvalidXmlDocument');
  return text;
}
