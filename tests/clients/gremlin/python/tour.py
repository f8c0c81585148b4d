"""A tour of the Gremlin API by gremlinpython. Arguments: endpoint, key, file of the authority."""

import ssl
import sys
from contextlib import contextmanager

from gremlin_python.driver.client import Client
from gremlin_python.driver.driver_remote_connection import DriverRemoteConnection
from gremlin_python.driver.protocol import GremlinServerError
from gremlin_python.process.anonymous_traversal import traversal
from gremlin_python.process.graph_traversal import __
from gremlin_python.process.traversal import Merge, T

endpoint, key, authority = sys.argv[1:4]
GRAPH = "/dbs/tour/colls/people"


@contextmanager
def step(name):
    yield
    print(name, flush=True)


def equal(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def access(password):
    context = ssl.create_default_context(cafile=authority)
    return {"username": GRAPH, "password": password, "ssl_options": context}


with step("connect"):
    client = Client(endpoint, "g", **access(key))
    remote = DriverRemoteConnection(endpoint, "g", **access(key))
    g = traversal().with_remote(remote)
    equal(client.submit("g.inject(1, 'a')").all().result(), [1, "a"])

with step("add by script"):
    add = "g.addV('person').property('id', name).property('pk', name).property('age', age)"
    for name, age in [("ann", 30), ("bob", 40), ("cat", 50)]:
        client.submit(add, {"name": name, "age": age}).all().result()
    equal(client.submit("g.V().count()").all().result(), [3])

with step("add by bytecode"):
    g.V("ann").add_e("knows").to(__.V("bob")).property("since", 2020).iterate()
    g.V("bob").add_e("knows").to(__.V("cat")).property("since", 2021).iterate()
    equal(g.E().has("since", 2021).out_v().id_().to_list(), ["bob"])

with step("neighbours"):
    equal(g.V("ann").out("knows").values("age").to_list(), [40])
    equal(g.V("cat").in_("knows").in_("knows").id_().next(), "ann")

with step("paths"):
    path = g.V("ann").repeat(__.out()).until(__.has_id("cat")).path().by(T.id).next()
    equal(path.objects, ["ann", "bob", "cat"])

with step("batches"):
    equal(g.inject(list(range(1000))).unfold().to_list(), list(range(1000)))

with step("upsert"):
    for _ in range(2):
        g.merge_v({T.id: "dan", "pk": "dan"}).option(Merge.on_create, {T.label: "person", "age": 60}).iterate()
    equal(g.V().has_label("person").values("age").order().to_list(), [30, 40, 50, 60])

with step("transaction"):
    tx = g.tx()
    own = tx.begin()
    own.V("dan").drop().iterate()
    equal(own.V().count().next(), 3)
    tx.rollback()
    equal(g.V().count().next(), 4)

with step("drop"):
    g.V("bob").drop().iterate()
    equal((g.V().count().next(), g.E().count().next()), (3, 0))

with step("refused"):
    try:
        client.submit("g.V().nowhere()").all().result()
        raise AssertionError("not refused")
    except GremlinServerError as error:
        equal(error.status_code, 597)

with step("wrong key"):
    try:
        other = Client(endpoint, "g", **access("wrong"))
        other.submit("g.V()").all().result()
        raise AssertionError("not refused")
    except GremlinServerError as error:
        equal(error.status_code, 401)

other.close()
remote.close()
client.close()
