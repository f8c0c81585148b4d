"""A tour of the Cassandra API by Python's own driver, with lz4. Arguments: endpoint, key, file of the authority."""

import ssl
import sys
import uuid
from contextlib import contextmanager

from cassandra import InvalidRequest
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import Cluster, NoHostAvailable
from cassandra.query import BatchStatement, SimpleStatement

endpoint, key, authority = sys.argv[1:4]
host, port = endpoint.rsplit(":", 1)


@contextmanager
def step(name):
    yield
    print(name, flush=True)


def equal(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def cluster(password):
    context = ssl.create_default_context(cafile=authority)
    context.check_hostname = False
    auth = PlainTextAuthProvider("localhost", password)
    return Cluster([host], port=int(port), auth_provider=auth, ssl_context=context, compression="lz4")


with step("connect"):
    one = cluster(key)
    session = one.connect()
    equal(one.protocol_version, 5)
    equal(session.execute("SELECT release_version FROM system.local").one()[0][:2], "4.")

with step("schema"):
    session.execute("CREATE KEYSPACE tour WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    session.set_keyspace("tour")
    session.execute("CREATE TYPE point (x int, y int)")
    session.execute(
        "CREATE TABLE t (city text, n int, at timestamp, id uuid, tags set<text>, place frozen<point>,"
        " notes map<text, text>, PRIMARY KEY (city, n)) WITH CLUSTERING ORDER BY (n DESC)"
    )
    session.execute("CREATE TABLE visits (city text PRIMARY KEY, count counter)")
    table = one.metadata.keyspaces["tour"].tables["t"]
    equal([column.name for column in table.primary_key], ["city", "n"])

with step("prepared"):
    insert = session.prepare("INSERT INTO t (city, n, id, tags, notes) VALUES (?, ?, ?, ?, ?)")
    equal(insert.routing_key_indexes, [0])
    ident = uuid.uuid4()
    for n in range(250):
        session.execute(insert, ["Athens", n, ident, {"a", "b"}, {"n": str(n)}])
    row = session.execute("SELECT * FROM t WHERE city = 'Athens' AND n = 7").one()
    equal((row.id, row.tags, row.notes), (ident, {"a", "b"}, {"n": "7"}))

with step("pages"):
    statement = SimpleStatement("SELECT n FROM t WHERE city = 'Athens'", fetch_size=33)
    equal([row.n for row in session.execute(statement)], list(reversed(range(250))))

with step("batch"):
    batch = BatchStatement()
    for n in range(100):
        batch.add(insert, ["Bergen", n, ident, set(), {}])
    session.execute(batch)
    equal(session.execute("SELECT count(*) FROM t WHERE city = 'Bergen'").one()[0], 100)

with step("lightweight transaction"):
    update = "UPDATE t SET id = null WHERE city = 'Bergen' AND n = 1 IF notes = null"
    equal(session.execute(update).was_applied, True)
    equal(session.execute("INSERT INTO t (city, n) VALUES ('Bergen', 1) IF NOT EXISTS").was_applied, False)

with step("counter"):
    for _ in range(5):
        session.execute("UPDATE visits SET count = count + 2 WHERE city = 'Cadiz'")
    equal(session.execute("SELECT count FROM visits WHERE city = 'Cadiz'").one()[0], 10)

with step("schema change"):
    select = session.prepare("SELECT * FROM t WHERE city = ? AND n = ?")
    equal(len(session.execute(select, ["Bergen", 2]).column_names), 7)
    session.execute("ALTER TABLE t ADD extra int")
    equal(len(session.execute(select, ["Bergen", 2]).column_names), 8)

with step("tracing"):
    result = session.execute("SELECT * FROM t LIMIT 1", trace=True)
    equal(len(result.get_query_trace().events) >= 2, True)

with step("charge"):
    future = session.execute_async("SELECT * FROM t WHERE city = 'Athens' AND n = 1")
    future.result()
    equal("RequestCharge" in future.custom_payload, True)

with step("refused"):
    try:
        session.execute("SELECT * FROM t WHERE n = 1")
        raise AssertionError("not refused")
    except InvalidRequest as error:
        equal("ALLOW FILTERING" in str(error), True)

with step("wrong key"):
    try:
        cluster("wrong").connect()
        raise AssertionError("not refused")
    except NoHostAvailable:
        pass

one.shutdown()
