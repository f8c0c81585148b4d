/** Programs to paste: each connects to this server, writes one item and reads it. Keys come from the environment. */

interface SnippetPlace {
  readonly api: string;
  readonly endpoint: string;
  readonly db: string;
  readonly container: string;
  /** The partition key, such as `/customer`. */
  readonly key: string;
  readonly isTls: boolean;
}

export interface Snippet {
  readonly language: string;
  readonly text: string;
  /** What installs the packages that it needs. */
  readonly packages: string;
}

type Template = (place: SnippetPlace) => Snippet;

/** In a text of JavaScript, Python, Go, Java, C# or JSON: their escapes are the same for what names may hold. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

/** In single quotes of a shell. */
function shell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function itemText(key: string): string {
  const name = key.slice(1) || 'id';
  return name === 'id' ? '{ id: "1" }' : `{ id: "1", ${quoted(name)}: "a" }`;
}

function keyValue(key: string): string {
  return key === '/id' ? '"1"' : '"a"';
}

const TLS_NODE = '// TLS: start with NODE_EXTRA_CA_CERTS=ca.pem, from GET /_mesocosm/ca.pem.\n';

const NOSQL: Readonly<Record<string, Template>> = {
  javascript: ({ endpoint, db, container, key, isTls }) => ({
    language: 'javascript',
    packages: 'npm install @azure/cosmos',
    text: `${isTls ? TLS_NODE : ''}import { CosmosClient } from "@azure/cosmos";

const client = new CosmosClient({ endpoint: ${quoted(endpoint)}, key: process.env.MESOCOSM_KEY });
const container = client.database(${quoted(db)}).container(${quoted(container)});
await container.items.upsert(${itemText(key)});
const { resource, requestCharge } = await container.item("1", ${keyValue(key)}).read();
console.log(resource.id, requestCharge);
`,
  }),
  python: ({ endpoint, db, container, key }) => ({
    language: 'python',
    packages: 'pip install azure-cosmos',
    text: `import os
from azure.cosmos import CosmosClient

client = CosmosClient(${quoted(endpoint)}, os.environ["MESOCOSM_KEY"])
container = client.get_database_client(${quoted(db)}).get_container_client(${quoted(container)})
container.upsert_item(${itemText(key).replace('{ id:', '{"id":')})
print(container.read_item("1", partition_key=${keyValue(key)})["id"])
`,
  }),
  csharp: ({ endpoint, db, container, key }) => ({
    language: 'csharp',
    packages: 'dotnet add package Microsoft.Azure.Cosmos',
    text: `using Microsoft.Azure.Cosmos;

var options = new CosmosClientOptions { ConnectionMode = ConnectionMode.Gateway, LimitToEndpoint = true };
using var client = new CosmosClient(${quoted(endpoint)}, Environment.GetEnvironmentVariable("MESOCOSM_KEY"), options);
var container = client.GetContainer(${quoted(db)}, ${quoted(container)});
var found = await container.ReadItemAsync<dynamic>("1", new PartitionKey(${keyValue(key)}));
Console.WriteLine(found.RequestCharge);
`,
  }),
  java: ({ endpoint, db, container, key }) => ({
    language: 'java',
    packages: 'com.azure:azure-cosmos',
    text: `CosmosClient client = new CosmosClientBuilder()
    .endpoint(${quoted(endpoint)}).key(System.getenv("MESOCOSM_KEY"))
    .gatewayMode().endpointDiscoveryEnabled(false).buildClient();
CosmosContainer container = client.getDatabase(${quoted(db)}).getContainer(${quoted(container)});
System.out.println(container.readItem("1", new PartitionKey(${keyValue(key)}), Map.class).getRequestCharge());
`,
  }),
  go: ({ endpoint, db, container, key }) => ({
    language: 'go',
    packages: 'go get github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos',
    text: `credential, _ := azcosmos.NewKeyCredential(os.Getenv("MESOCOSM_KEY"))
client, _ := azcosmos.NewClientWithKey(${quoted(endpoint)}, credential, nil)
container, _ := client.NewContainer(${quoted(db)}, ${quoted(container)})
item, err := container.ReadItem(context.Background(), azcosmos.NewPartitionKeyString(${keyValue(key)}), "1", nil)
fmt.Println(item.RequestCharge, err)
`,
  }),
  cli: ({ endpoint, db, container }) => ({
    language: 'shell',
    packages: '',
    text: `npx mesocosm query ${shell(`${db}/${container}`)} 'SELECT TOP 10 * FROM c' --endpoint ${shell(endpoint)} --key "$MESOCOSM_KEY"
npx mesocosm partitions ${shell(`${db}/${container}`)} --endpoint ${shell(endpoint)} --key "$MESOCOSM_KEY"
`,
  }),
  curl: ({ endpoint }) => ({
    language: 'shell',
    packages: '',
    text: `curl ${shell(`${endpoint}_mesocosm/health`)}
`,
  }),
};

const MONGO: Readonly<Record<string, Template>> = {
  javascript: ({ endpoint, db, container, isTls }) => ({
    language: 'javascript',
    packages: 'npm install mongodb',
    text: `${isTls ? TLS_NODE : ''}import { MongoClient } from "mongodb";

const client = new MongoClient(${quoted(endpoint)}, {
  auth: { username: "localhost", password: process.env.MESOCOSM_KEY },
  directConnection: true,
});
const collection = client.db(${quoted(db)}).collection(${quoted(container)});
await collection.updateOne({ _id: "1" }, { $set: { seen: true } }, { upsert: true });
console.log(await collection.findOne({ _id: "1" }));
await client.close();
`,
  }),
  python: ({ endpoint, db, container }) => ({
    language: 'python',
    packages: 'pip install pymongo',
    text: `import os
from pymongo import MongoClient

client = MongoClient(${quoted(endpoint)}, username="localhost", password=os.environ["MESOCOSM_KEY"], directConnection=True)
print(client[${quoted(db)}][${quoted(container)}].find_one())
`,
  }),
};

const CASSANDRA: Readonly<Record<string, Template>> = {
  javascript: ({ endpoint, db, container }) => ({
    language: 'javascript',
    packages: 'npm install cassandra-driver',
    text: `import { auth, Client } from "cassandra-driver";

const client = new Client({
  contactPoints: [${quoted(endpoint)}],
  localDataCenter: "datacenter1",
  authProvider: new auth.PlainTextAuthProvider("localhost", process.env.MESOCOSM_KEY),
});
const result = await client.execute('SELECT * FROM "${db.replaceAll('"', '""')}"."${container.replaceAll('"', '""')}" LIMIT 10');
console.log(result.rowLength);
await client.shutdown();
`,
  }),
};

const GREMLIN: Readonly<Record<string, Template>> = {
  javascript: ({ endpoint, db, container, isTls }) => ({
    language: 'javascript',
    packages: 'npm install gremlin',
    text: `${isTls ? TLS_NODE : ''}import gremlin from "gremlin";

const login = new gremlin.driver.auth.PlainTextSaslAuthenticator(
  ${quoted(`/dbs/${db}/colls/${container}`)},
  process.env.MESOCOSM_KEY,
);
const client = new gremlin.driver.Client(${quoted(endpoint)}, {
  authenticator: login,
  traversalsource: "g",
  mimeType: "application/vnd.gremlin-v2.0+json",
});
const result = await client.submit("g.V().count()");
console.log(result.first());
await client.close();
`,
  }),
};

const TABLE: Readonly<Record<string, Template>> = {
  javascript: ({ endpoint, container, isTls }) => ({
    language: 'javascript',
    packages: 'npm install @azure/data-tables',
    text: `${isTls ? TLS_NODE : ''}import { AzureNamedKeyCredential, TableClient } from "@azure/data-tables";

const login = new AzureNamedKeyCredential("devstoreaccount1", process.env.MESOCOSM_KEY);
const table = new TableClient(${quoted(`${endpoint}devstoreaccount1`)}, ${quoted(container)}, login, {
  allowInsecureConnection: ${!isTls},
});
await table.createTable();
await table.upsertEntity({ partitionKey: "a", rowKey: "1", seen: true });
console.log(await table.getEntity("a", "1"));
`,
  }),
};

const SNIPPETS: Readonly<Record<string, Readonly<Record<string, Template>>>> = {
  nosql: NOSQL,
  mongo: MONGO,
  cassandra: CASSANDRA,
  gremlin: GREMLIN,
  table: TABLE,
};

/** Languages of an API. */
export function snippetLanguages(api: string): readonly string[] {
  return Object.keys(SNIPPETS[api] ?? {});
}

/** Undefined where there is none for this API and language. */
export function snippetOf(language: string, place: SnippetPlace): Snippet | undefined {
  const templates = Object.hasOwn(SNIPPETS, place.api) ? SNIPPETS[place.api] : undefined;
  return templates !== undefined && Object.hasOwn(templates, language)
    ? templates[language]?.(place)
    : undefined;
}
