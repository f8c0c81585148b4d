"""A tour of the Table API by Python's own client. Arguments: endpoint, key, file of the authority."""

import sys
import uuid
from datetime import datetime, timedelta, timezone

from azure.core import MatchConditions
from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceModifiedError,
    ResourceNotFoundError,
)
from azure.data.tables import (
    EdmType,
    EntityProperty,
    TableSasPermissions,
    TableServiceClient,
    TableTransactionError,
    UpdateMode,
    generate_table_sas,
)
from steps import equal, refused, step

ACCOUNT = "devstoreaccount1"
CITIES = ["Athens", "Bergen", "Cadiz"]
ENTITIES = [{"PartitionKey": CITIES[n % 3], "RowKey": f"r{n:02}", "n": n} for n in range(30)]


def keys(entities):
    return [entity["RowKey"] for entity in entities]


def tables(service):
    with step("create table"):
        table = service.create_table("tour")
        with refused(ResourceExistsError, 409):
            service.create_table("tour")
        service.create_table_if_not_exists("tour")
        equal([found.name for found in service.query_tables("TableName eq 'tour'")], ["tour"])
        equal([found.name for found in service.list_tables()], ["tour"])
    return table


def entities(table):
    with step("types"):
        values = {
            "text": "snow ☃",
            "flag": True,
            "small": 12,
            "large": EntityProperty(2**53 + 1, EdmType.INT64),
            "whole": 3.0,
            "bytes": b"\x00\xff",
            "guid": uuid.UUID("0f5b1f0e-3c5d-4b7a-9e1e-2d9a6a1f7c11"),
            "time": datetime(2026, 2, 3, 4, 5, 6, 789000, tzinfo=timezone.utc),
        }
        table.create_entity({"PartitionKey": "types", "RowKey": "it's", **values})
        read = table.get_entity("types", "it's")
        equal({name: read[name] for name in values}, values)
        equal(type(read["whole"]), float)
        table.delete_entity("types", "it's")
    with step("create and read"):
        for entity in ENTITIES:
            table.create_entity(entity)
        with refused(ResourceExistsError, 409):
            table.create_entity(ENTITIES[0])
        equal(table.get_entity("Cadiz", "r05")["n"], 5)
        equal(dict(table.get_entity("Cadiz", "r05", select=["n"])), {"n": 5})
        with refused(ResourceNotFoundError, 404):
            table.get_entity("Cadiz", "r06")
    with step("update and merge"):
        table.update_entity({**ENTITIES[0], "stars": 4}, mode=UpdateMode.MERGE)
        table.update_entity({"PartitionKey": "Athens", "RowKey": "r00", "seen": True}, mode=UpdateMode.MERGE)
        equal([table.get_entity("Athens", "r00").get(name) for name in ("n", "stars", "seen")], [0, 4, True])
        table.update_entity(ENTITIES[0], mode=UpdateMode.REPLACE)
        equal(table.get_entity("Athens", "r00").get("stars"), None)
        with refused(ResourceNotFoundError, 404):
            table.update_entity({"PartitionKey": "Athens", "RowKey": "none"})
    with step("upsert"):
        one = {"PartitionKey": "Oslo", "RowKey": "u", "n": 1}
        table.upsert_entity(one)
        table.upsert_entity({**one, "n": 2, "m": 1}, mode=UpdateMode.REPLACE)
        table.upsert_entity({"PartitionKey": "Oslo", "RowKey": "u", "k": 3}, mode=UpdateMode.MERGE)
        equal([table.get_entity("Oslo", "u").get(name) for name in ("n", "m", "k")], [2, 1, 3])
    with step("conditions"):
        stale = table.get_entity("Oslo", "u").metadata["etag"]
        same = {"etag": stale, "match_condition": MatchConditions.IfNotModified}
        table.update_entity({**one, "n": 5}, mode=UpdateMode.REPLACE, **same)
        with refused(ResourceModifiedError, 412):
            table.update_entity({**one, "n": 6}, mode=UpdateMode.REPLACE, **same)
        with refused(ResourceModifiedError, 412):
            table.delete_entity("Oslo", "u", **same)
        equal(table.get_entity("Oslo", "u")["n"], 5)
    with step("delete"):
        table.delete_entity("Oslo", "u")
        with refused(ResourceNotFoundError, 404):
            table.get_entity("Oslo", "u")
        # The client takes an entity that is gone for deleted.
        table.delete_entity("Oslo", "u")


def queries(table):
    with step("query of one partition"):
        found = table.query_entities("PartitionKey eq @city and n ge @least", parameters={"city": "Bergen", "least": 20})
        equal(keys(found), ["r22", "r25", "r28"])
    with step("query of all partitions"):
        equal(keys(table.query_entities("n gt 24 and not (n eq 27)")), ["r25", "r28", "r26", "r29"])
        equal(len(list(table.list_entities())), 30)
        selected = table.query_entities("RowKey eq 'r07'", select=["RowKey", "n"])
        equal([dict(entity) for entity in selected], [{"RowKey": "r07", "n": 7}])
    with step("pages"):
        pager = table.list_entities(results_per_page=8).by_page()
        first = keys(next(pager))
        rest = [keys(page) for page in table.list_entities(results_per_page=8).by_page(pager.continuation_token)]
        equal([len(page) for page in [first, *rest]], [8, 8, 8, 6])
        equal(first + sum(rest, []), keys(sorted(ENTITIES, key=lambda one: (one["PartitionKey"], one["RowKey"]))))
    with step("refused query"):
        with refused(HttpResponseError, 400):
            list(table.query_entities("n ge"))


def transactions(table):
    def at(row, **more):
        return {"PartitionKey": "Fes", "RowKey": row, **more}

    with step("batch"):
        table.create_entity(at("old", n=0))
        results = table.submit_transaction(
            [
                ("create", at("a", n=1)),
                ("upsert", at("b", n=2)),
                ("update", at("old", m=3), {"mode": UpdateMode.MERGE}),
                *[("create", at(f"many{n:02}")) for n in range(97)],
            ]
        )
        equal((len(results), all("etag" in result for result in results)), (100, True))
        equal([table.get_entity("Fes", "old").get(name) for name in ("n", "m")], [0, 3])
    with step("batch undone"):
        try:
            table.submit_transaction([("delete", at("a")), ("create", at("new")), ("create", at("b"))])
        except TableTransactionError as error:
            equal((error.status_code, error.index), (409, 2))
        else:
            raise AssertionError("not refused")
        equal(table.get_entity("Fes", "a")["n"], 1)
        with refused(ResourceNotFoundError, 404):
            table.get_entity("Fes", "new")


def access(endpoint, key, authority):
    with step("signature"):
        credential = AzureNamedKeyCredential(ACCOUNT, key)
        may = {"permission": TableSasPermissions(read=True), "expiry": datetime.now(timezone.utc) + timedelta(hours=1)}
        sas = AzureSasCredential(generate_table_sas(credential, "tour", **may))
        with TableServiceClient(endpoint, credential=sas, connection_verify=authority) as service:
            reader = service.get_table_client("tour")
            equal(reader.get_entity("Athens", "r03")["n"], 3)
            with refused(HttpResponseError, 403):
                reader.create_entity({"PartitionKey": "Athens", "RowKey": "no"})
    with step("wrong key"):
        wrong = AzureNamedKeyCredential(ACCOUNT, "d3Jvbmc=")
        with TableServiceClient(endpoint, credential=wrong, connection_verify=authority) as service:
            with refused(ClientAuthenticationError, 403):
                list(service.list_tables())


def end(service):
    with step("delete table"):
        service.delete_table("tour")
        equal(list(service.list_tables()), [])
        with refused(ResourceNotFoundError, 404):
            service.get_table_client("tour").get_entity("Athens", "r00")


def tour(endpoint, key, authority):
    credential = AzureNamedKeyCredential(ACCOUNT, key)
    with TableServiceClient(endpoint, credential=credential, connection_verify=authority) as service:
        table = tables(service)
        entities(table)
        queries(table)
        transactions(table)
        access(endpoint, key, authority)
        end(service)


tour(*sys.argv[1:])
