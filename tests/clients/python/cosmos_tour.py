"""A tour of the NoSQL API by Python's own client. Arguments: endpoint, key, file of the authority."""

import socket
import ssl
import sys
from urllib.parse import urlsplit

from azure.core import MatchConditions
from azure.cosmos import CosmosClient, PartitionKey, exceptions
from steps import equal, refused, step

CITIES = ["Athens", "Bergen", "Cadiz", "Dakar", "Essen"]
# The container has several physical partitions, and every city thirty divided by five items.
THROUGHPUT = 30_000
ITEMS = [{"id": f"i{n:02}", "city": CITIES[n % 5], "n": n, "tags": [f"t{n % 3}"]} for n in range(30)]


def ids(items):
    return [item["id"] for item in items]


def certificate(endpoint, authority):
    # The client verifies nothing for localhost, whatever it is given: Python's own TLS has to.
    with step("certificate"):
        at = urlsplit(endpoint)
        trusting = ssl.create_default_context(cafile=authority)
        with socket.create_connection((at.hostname, at.port)) as plain:
            with trusting.wrap_socket(plain, server_hostname=at.hostname) as secure:
                equal(secure.version(), "TLSv1.3")


def definitions(client):
    with step("account"):
        equal([at["name"] for at in client.get_database_account().WritableLocations], ["Local"])
    with step("create database"):
        database = client.create_database("tour")
        with refused(exceptions.CosmosResourceExistsError, 409):
            client.create_database("tour")
        equal(ids(client.query_databases("SELECT * FROM r WHERE r.id = 'tour'")), ["tour"])
    with step("create container"):
        key = PartitionKey("/city")
        container = database.create_container("places", key, offer_throughput=THROUGHPUT, default_ttl=-1)
        with refused(exceptions.CosmosResourceExistsError, 409):
            database.create_container("places", key)
        equal(container.read()["partitionKey"]["paths"], ["/city"])
        equal(ids(database.list_containers()), ["places"])
        equal(len(list(container.read_feed_ranges())) > 1, True)
    with step("throughput"):
        equal(container.get_throughput().offer_throughput, THROUGHPUT)
        equal(container.replace_throughput(THROUGHPUT - 1_000).offer_throughput, THROUGHPUT - 1_000)
    return database, container


def items(container):
    with step("create items"):
        for item in ITEMS:
            equal(container.create_item(item)["n"], item["n"])
        with refused(exceptions.CosmosResourceExistsError, 409):
            container.create_item(ITEMS[0])
    with step("read"):
        equal(container.read_item("i07", "Cadiz")["n"], 7)
        with refused(exceptions.CosmosResourceNotFoundError, 404):
            container.read_item("i07", "Dakar")
        equal(len(list(container.read_all_items())), 30)
    with step("read many"):
        wanted = [("i03", "Dakar"), ("i04", "Essen"), ("i09", "Essen"), ("none", "Essen")]
        equal(sorted(ids(container.read_items(wanted))), ["i03", "i04", "i09"])
    with step("replace on condition"):
        read = container.read_item("i00", "Athens")
        same = {"etag": read["_etag"], "match_condition": MatchConditions.IfNotModified}
        replaced = container.replace_item("i00", {**read, "stars": 4}, **same)
        equal((replaced["stars"], replaced["_etag"] == read["_etag"]), (4, False))
        with refused(exceptions.CosmosAccessConditionFailedError, 412):
            container.replace_item("i00", {**read, "stars": 5}, **same)
        with refused(exceptions.CosmosAccessConditionFailedError, 412):
            container.delete_item("i00", "Athens", **same)
        with refused(exceptions.CosmosResourceNotFoundError, 404):
            container.replace_item("none", {"id": "none", "city": "Athens"})
        changed = {"etag": replaced["_etag"], "match_condition": MatchConditions.IfModified}
        # The client gives 304 as an item of nothing.
        equal(dict(container.read_item("i00", "Athens", **changed)), {})
    with step("upsert"):
        equal(container.upsert_item({"id": "u", "city": "Oslo", "n": 100})["n"], 100)
        equal(container.upsert_item({"id": "u", "city": "Oslo", "n": 101})["n"], 101)
    with step("patch"):
        operations = [
            {"op": "add", "path": "/tags/-", "value": "new"},
            {"op": "set", "path": "/seen", "value": {"by": "tour"}},
            {"op": "incr", "path": "/n", "value": 5},
            {"op": "remove", "path": "/city2"},
        ]
        with refused(exceptions.CosmosHttpResponseError, 400):
            container.patch_item("u", "Oslo", operations)
        equal(container.read_item("u", "Oslo")["n"], 101)
        operations[0]["path"], operations[3]["path"] = "/tags", "/n2"
        container.upsert_item({"id": "u", "city": "Oslo", "n": 101, "n2": 0})
        patched = container.patch_item("u", "Oslo", operations)
        equal([patched.get(name) for name in ("tags", "seen", "n", "n2")], ["new", {"by": "tour"}, 106, None])
        with refused(exceptions.CosmosAccessConditionFailedError, 412):
            container.patch_item("u", "Oslo", operations[:1], filter_predicate="FROM c WHERE c.n > 1000")
        equal(container.patch_item("u", "Oslo", operations[2:3], filter_predicate="FROM c WHERE c.n = 106")["n"], 111)
    with step("delete"):
        container.delete_item("u", "Oslo")
        with refused(exceptions.CosmosResourceNotFoundError, 404):
            container.delete_item("u", "Oslo")


def queries(container):
    def rows(query, *parameters, **options):
        options.setdefault("enable_cross_partition_query", "partition_key" not in options)
        bound = [{"name": name, "value": value} for name, value in parameters]
        return list(container.query_items(query, parameters=bound, **options))

    with step("query of one partition"):
        least = "SELECT * FROM c WHERE c.n >= @least"
        equal(ids(rows(least, ("@least", 12), partition_key="Cadiz")), ["i12", "i17", "i22", "i27"])
        tagged = "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, @tag)"
        equal(rows(tagged, ("@tag", "t0"), partition_key="Athens"), ["i00", "i15"])
    with step("query of all partitions"):
        equal(sorted(ids(rows(least, ("@least", 26)))), ["i26", "i27", "i28", "i29"])
        joined = "SELECT c.id, t FROM c JOIN t IN c.tags WHERE c.n < @most AND t = 't1'"
        equal(sorted(ids(rows(joined, ("@most", 10)))), ["i01", "i04", "i07"])
    with step("pages"):
        whole = container.query_items("SELECT * FROM c", enable_cross_partition_query=True, max_item_count=4)
        pages = [ids(page) for page in whole.by_page()]
        equal(max(map(len, pages)), 4)
        equal(sorted(sum(pages, [])), ids(ITEMS))
        read, continuation = [], None
        while continuation is not None or read == []:
            one = container.query_items("SELECT * FROM c ORDER BY c.n", partition_key="Bergen", max_item_count=2)
            pager = one.by_page(continuation)
            read.append(ids(next(pager)))
            continuation = pager.continuation_token
        equal([page for page in read if page], [["i01", "i06"], ["i11", "i16"], ["i21", "i26"]])
    with step("order"):
        equal(rows("SELECT VALUE c.n FROM c ORDER BY c.n DESC"), list(range(29, -1, -1)))
        equal(rows("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 3 LIMIT 4"), [3, 4, 5, 6])
        equal(rows("SELECT TOP 2 VALUE c.id FROM c ORDER BY c.id DESC"), ["i29", "i28"])
        equal(rows("SELECT DISTINCT VALUE c.city FROM c ORDER BY c.city"), CITIES)
    with step("aggregates"):
        for call, result in [("COUNT(1)", 30), ("SUM(c.n)", 435), ("MIN(c.n)", 0), ("MAX(c.n)", 29), ("AVG(c.n)", 14.5)]:
            equal(rows(f"SELECT VALUE {call} FROM c"), [result])
        equal(rows("SELECT COUNT(1) AS k, SUM(c.n) AS s FROM c", partition_key="Dakar"), [{"k": 6, "s": 93}])
        groups = rows("SELECT c.city, COUNT(1) AS k, MAX(c.n) AS m FROM c GROUP BY c.city", partition_key="Essen")
        equal(groups, [{"city": "Essen", "k": 6, "m": 29}])
    with step("refused query"):
        with refused(exceptions.CosmosHttpResponseError, 400):
            rows("SELECT * FRM c")


def change_feed(container):
    with step("change feed"):
        feed = container.query_items_change_feed(start_time="Beginning")
        equal(sorted(ids(feed)), ids(ITEMS))
        after = container.client_connection.last_response_headers["etag"]
        container.upsert_item({"id": "late", "city": "Oslo"})
        equal(ids(container.query_items_change_feed(continuation=after)), ["late"])
        container.delete_item("late", "Oslo")
        first = container.query_items_change_feed(start_time="Beginning", partition_key="Cadiz")
        equal(ids(first), [item["id"] for item in ITEMS if item["city"] == "Cadiz"])
        ranges = [ids(container.query_items_change_feed(start_time="Beginning", feed_range=one)) for one in container.read_feed_ranges()]
        equal(sorted(sum(ranges, [])), ids(ITEMS))


def batches(container):
    with step("batch"):
        done = container.execute_item_batch(
            [
                ("create", ({"id": "b1", "city": "Fes", "n": 1},)),
                ("upsert", ({"id": "b2", "city": "Fes", "n": 2},)),
                ("patch", ("b1", [{"op": "incr", "path": "/n", "value": 10}])),
                ("replace", ("b2", {"id": "b2", "city": "Fes", "n": 3})),
                ("read", ("b1",)),
                ("delete", ("b2",)),
            ],
            partition_key="Fes",
        )
        equal([result["statusCode"] for result in done], [201, 201, 200, 200, 200, 204])
        equal(done[4]["resourceBody"]["n"], 11)
    with step("batch undone"):
        try:
            container.execute_item_batch(
                [("create", ({"id": "b3", "city": "Fes"},)), ("create", ({"id": "b1", "city": "Fes"},))], "Fes"
            )
        except exceptions.CosmosBatchOperationError as error:
            equal((error.status_code, error.error_index), (409, 1))
            equal([result["statusCode"] for result in error.operation_responses], [424, 409])
        else:
            raise AssertionError("not refused")
        with refused(exceptions.CosmosResourceNotFoundError, 404):
            container.read_item("b3", "Fes")


def hierarchy(database):
    with step("hierarchical key"):
        key = PartitionKey(["/tenant", "/user"], kind="MultiHash")
        container = database.create_container("sessions", key)
        for tenant, user in [("a", "x"), ("a", "y"), ("b", "x")]:
            container.create_item({"id": user, "tenant": tenant, "user": user})
        equal(container.read_item("y", ["a", "y"])["tenant"], "a")
        equal(sorted(ids(container.query_items("SELECT * FROM c", partition_key=["a"]))), ["x", "y"])


def end(client, database, endpoint, authority):
    with step("wrong key"):
        with refused(exceptions.CosmosHttpResponseError, 401):
            CosmosClient(endpoint, "d3Jvbmc=", connection_verify=authority)
    with step("delete container and database"):
        database.delete_container("places")
        with refused(exceptions.CosmosResourceNotFoundError, 404):
            database.get_container_client("places").read()
        client.delete_database("tour")
        equal(list(client.list_databases()), [])


def tour(endpoint, key, authority):
    certificate(endpoint, authority)
    with CosmosClient(endpoint, key, connection_verify=authority) as client:
        database, container = definitions(client)
        items(container)
        queries(container)
        change_feed(container)
        batches(container)
        hierarchy(database)
        end(client, database, endpoint, authority)


tour(*sys.argv[1:])
