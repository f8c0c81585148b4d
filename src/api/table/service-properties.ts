/** Properties and statistics of the table service, as Azure Storage has them. */
import type { Service } from '../../service/index.ts';
import { isMap, type ValueMap } from '../../value/index.ts';
import { type CorsRule, parseCorsRules, usableCorsRules } from './access/cors-rules.ts';
import { type Call, openDatabase, tablesDatabase } from './call.ts';
import { TableError } from './errors.ts';
import { emptyReply, type Reply, xmlReply } from './reply.ts';
import { elementOf, parseXml, printXml, textOf, type XmlElement } from './xml.ts';

/** The key among the policies of the database. */
const PROPERTIES_NAME = 'tableService';

const OFF = { Version: '1.0', Enabled: 'false', RetentionPolicy: { Enabled: 'false' } };
const DEFAULTS: XmlElement = {
  Logging: {
    Version: '1.0',
    Delete: 'false',
    Read: 'false',
    Write: 'false',
    RetentionPolicy: { Enabled: 'false' },
  },
  HourMetrics: OFF,
  MinuteMetrics: OFF,
  Cors: '',
};

const RETENTION_DAYS_MAX = 365;

export function readProperties(call: Call): Reply {
  call.access.check({ level: 's', permissions: ['r'] });
  return xmlReply(200, printXml('StorageServiceProperties', propertiesOf(call.service)));
}

/** Properties that are left out stay as they are. */
export async function writeProperties(call: Call): Promise<Reply> {
  const { service, access, body } = call;
  access.check({ level: 's', permissions: ['w'] });
  const sent = parseXml(body, 'StorageServiceProperties');
  for (const name of Object.keys(sent))
    if (!Object.hasOwn(DEFAULTS, name)) throw new TableError('InvalidXmlDocument');
  parseCorsRules(sent.Cors);
  for (const name of ['Logging', 'HourMetrics', 'MinuteMetrics'])
    checkRetention(elementOf(elementOf(sent[name]).RetentionPolicy));
  const { rid } = await openDatabase(service);
  const properties = { ...propertiesOf(service), ...sent } as unknown as ValueMap;
  await service.databases.setPolicies(rid, { [PROPERTIES_NAME]: properties });
  return emptyReply(202);
}

function checkRetention({ Days }: XmlElement): void {
  const text = textOf(Days);
  if (text === undefined) return;
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > RETENTION_DAYS_MAX) throw new TableError('InvalidXmlNodeValue');
}

/** Statistics belong to the secondary; a host such as localhost cannot name one, so there the primary returns them too. */
export function readStatistics(call: Call): Reply {
  call.access.check({ level: 's', permissions: ['r'] });
  const { isSecondary, account } = call.target;
  if (!isSecondary && account !== undefined) throw new TableError('InvalidQueryParameterValue');
  const LastSyncTime = new Date(call.service.clock.nowMs()).toUTCString();
  return xmlReply(
    200,
    printXml('StorageServiceStats', { GeoReplication: { Status: 'live', LastSyncTime } }),
  );
}

export function corsRules(service: Service): readonly CorsRule[] {
  return tablesDatabase(service) === undefined ? [] : usableCorsRules(propertiesOf(service).Cors);
}

function propertiesOf(service: Service): XmlElement {
  const stored = tablesDatabase(service)?.policies?.[PROPERTIES_NAME];
  return stored !== undefined && isMap(stored) ? (stored as unknown as XmlElement) : DEFAULTS;
}
