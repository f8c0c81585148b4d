"""A tour of the MongoDB API by Python's own driver. Arguments: endpoint, key, file of the authority."""

import datetime
import sys
from contextlib import contextmanager

import gridfs
from bson import Decimal128, Int64, ObjectId
from pymongo import ASCENDING, DESCENDING, InsertOne, MongoClient, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure

endpoint, key, authority = sys.argv[1:4]


@contextmanager
def step(name):
    yield
    print(name, flush=True)


def equal(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def connect(password):
    return MongoClient(
        f"mongodb://{endpoint}/?replicaSet=globaldb",
        username="localhost",
        password=password,
        tls=True,
        tlsCAFile=authority,
        compressors="zlib",
        serverSelectionTimeoutMS=30000,
    )


with step("connect"):
    client = connect(key)
    equal(client.admin.command("ping")["ok"], 1.0)
    equal(client.server_info()["versionArray"][0], 8)
    db = client.tour

with step("documents"):
    cities = db.cities
    born = datetime.datetime(2020, 2, 3, 4, 5, 6, 7000)
    kept = {"_id": ObjectId(), "big": Int64(2**60), "price": Decimal128("1.50"), "born": born, "raw": b"\0\1", "list": [1, 2.5, None]}
    cities.insert_one(kept)
    equal(cities.find_one({"price": Decimal128("1.5")}), kept)
    cities.delete_one({"_id": kept["_id"]})
    equal(cities.estimated_document_count(), 0)
    names = ["Athens", "Bergen", "Cadiz", "Dublin", "Espoo"]
    rows = [{"_id": n, "city": names[n % 5], "n": n, "tags": [n % 2, n % 3]} for n in range(250)]
    equal(cities.insert_many(rows).inserted_ids, list(range(250)))

with step("cursors"):
    equal([row["_id"] for row in cities.find(batch_size=33).sort("n", DESCENDING)], list(reversed(range(250))))
    equal([row["_id"] for row in cities.find({"tags": {"$all": [1, 2]}}, limit=3).sort("n")], [5, 11, 17])

with step("updates"):
    result = cities.update_many({"city": "Athens"}, {"$inc": {"n": 1000}, "$push": {"tags": 9}})
    equal((result.matched_count, result.modified_count), (50, 50))
    after = cities.find_one_and_update({"_id": 0}, [{"$set": {"n": {"$add": ["$n", 1]}}}], return_document=True)
    equal((after["n"], after["tags"]), (1001, [0, 0, 9]))
    equal(cities.replace_one({"_id": "new"}, {"city": "Faro"}, upsert=True).upserted_id, "new")

with step("bulk"):
    try:
        cities.bulk_write([InsertOne({"_id": 1}), UpdateOne({"_id": "new"}, {"$set": {"n": 7}})], ordered=False)
        raise AssertionError("not refused")
    except BulkWriteError as error:
        equal((error.details["writeErrors"][0]["code"], error.details["nModified"]), (11000, 1))

with step("indexes"):
    equal(cities.create_index([("city", ASCENDING), ("n", DESCENDING)]), "city_1_n_-1")
    equal(sorted(cities.index_information()), ["_id_", "city_1_n_-1"])
    db.users.create_index("mail", unique=True)
    db.users.insert_one({"mail": "a"})
    try:
        db.users.insert_one({"mail": "a"})
        raise AssertionError("not refused")
    except DuplicateKeyError as error:
        equal(error.details["keyValue"], {"mail": "a"})

with step("aggregate"):
    groups = cities.aggregate([{"$group": {"_id": "$city", "count": {"$sum": 1}}}, {"$sort": {"_id": 1}}])
    equal([(group["_id"], group["count"]) for group in groups], [(name, 50) for name in names] + [("Faro", 1)])

with step("transaction"):
    with client.start_session() as session:
        with session.start_transaction():
            db.left.insert_one({"_id": 1}, session=session)
            db.right.insert_one({"_id": 1}, session=session)
            equal(db.left.count_documents({}), 0)
    with client.start_session() as session:
        session.start_transaction()
        db.left.insert_one({"_id": 2}, session=session)
        session.abort_transaction()
    equal((list(db.left.find()), list(db.right.find())), ([{"_id": 1}], [{"_id": 1}]))

with step("change stream"):
    with db.watched.watch(full_document="updateLookup") as stream:
        db.watched.insert_one({"_id": 1, "n": 1})
        db.watched.update_one({"_id": 1}, {"$set": {"n": 2}})
        first, second = next(stream), next(stream)
    equal((first["operationType"], first["fullDocument"]), ("insert", {"_id": 1, "n": 1}))
    equal(second["updateDescription"]["updatedFields"], {"n": 2})
    with db.watched.watch(resume_after=first["_id"]) as stream:
        equal(next(stream)["operationType"], "update")

with step("files"):
    bucket = gridfs.GridFSBucket(db)
    content = bytes(range(256)) * 2000
    ident = bucket.upload_from_stream("f.bin", content)
    equal(bucket.open_download_stream(ident).read(), content)

with step("refused"):
    try:
        cities.find_one({"n": {"$nope": 1}})
        raise AssertionError("not refused")
    except OperationFailure as error:
        equal((error.code, error.details["codeName"]), (2, "BadValue"))

with step("wrong key"):
    try:
        connect("wrong").admin.command("ping")
        raise AssertionError("not refused")
    except OperationFailure as error:
        equal(error.code, 18)

with step("drop"):
    client.drop_database("tour")
    equal("tour" in client.list_database_names(), False)
