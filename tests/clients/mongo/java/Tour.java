import com.mongodb.*;
import com.mongodb.client.*;
import com.mongodb.client.gridfs.*;
import com.mongodb.client.model.*;
import com.mongodb.client.model.changestream.*;
import java.io.*;
import java.nio.file.*;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.*;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.*;
import org.bson.Document;
import org.bson.types.*;

/** A tour of the MongoDB API by Java's own driver, with snappy. Arguments: endpoint, key, file of the authority. */
final class Tour {
  private static final List<String> NAMES = List.of("Athens", "Bergen", "Cadiz", "Dublin", "Espoo");

  private final MongoClient client;
  private final MongoDatabase db;
  private final MongoCollection<Document> cities;

  private Tour(MongoClient client) {
    this.client = client;
    db = client.getDatabase("tour");
    cities = db.getCollection("cities");
  }

  public static void main(String[] arguments) throws Exception {
    try (MongoClient client = open(arguments[0], arguments[1], arguments[2])) {
      Document pong = client.getDatabase("admin").runCommand(new Document("ping", 1));
      equal(pong.getDouble("ok"), 1.0);
      done("connect");
      Tour tour = new Tour(client);
      tour.documents();
      tour.cursors();
      tour.updates();
      tour.bulk();
      tour.indexes();
      tour.aggregate();
      tour.transaction();
      tour.changeStream();
      tour.files();
      tour.refused();
      try (MongoClient stranger = open(arguments[0], "wrong", arguments[2])) {
        stranger.getDatabase("admin").runCommand(new Document("ping", 1));
        throw new AssertionError("not refused");
      } catch (MongoSecurityException expected) {
        equal(((MongoCommandException) expected.getCause()).getErrorCode(), 18);
        done("wrong key");
      }
      tour.drop();
    }
  }

  private static MongoClient open(String endpoint, String key, String authority) throws Exception {
    SSLContext trusting = trusting(Path.of(authority));
    return MongoClients.create(
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString("mongodb://" + endpoint + "/?replicaSet=globaldb"))
            .credential(MongoCredential.createCredential("localhost", "admin", key.toCharArray()))
            .applyToSslSettings(tls -> tls.enabled(true).context(trusting))
            .applyToClusterSettings(cluster -> cluster.serverSelectionTimeout(30, TimeUnit.SECONDS))
            .compressorList(List.of(MongoCompressor.createSnappyCompressor()))
            .build());
  }

  private static SSLContext trusting(Path authority) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream in = Files.newInputStream(authority)) {
      store.setCertificateEntry("authority", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  private void documents() {
    Document kept =
        new Document("_id", new ObjectId())
            .append("big", 1L << 60)
            .append("price", Decimal128.parse("1.50"))
            .append("born", new Date(1580702706007L))
            .append("raw", new Binary(new byte[] {0, 1}))
            .append("list", Arrays.asList(1, 2.5, null));
    cities.insertOne(kept);
    equal(cities.find(Filters.eq("price", Decimal128.parse("1.5"))).first(), kept);
    equal(cities.deleteOne(Filters.eq(kept.get("_id"))).getDeletedCount(), 1L);
    equal(cities.estimatedDocumentCount(), 0L);
    List<Document> rows = new ArrayList<>();
    for (int n = 0; n < 250; n++)
      rows.add(
          new Document("_id", n)
              .append("city", NAMES.get(n % 5))
              .append("n", n)
              .append("tags", List.of(n % 2, n % 3)));
    equal(cities.insertMany(rows).getInsertedIds().size(), 250);
    done("documents");
  }

  private void cursors() {
    List<Integer> down = new ArrayList<>();
    for (Document row : cities.find().sort(Sorts.descending("n")).batchSize(33)) down.add(row.getInteger("_id"));
    equal(down.size(), 250);
    equal(down.subList(0, 3), List.of(249, 248, 247));
    List<Integer> few = new ArrayList<>();
    for (Document row : cities.find(Filters.all("tags", 1, 2)).sort(Sorts.ascending("n")).limit(3))
      few.add(row.getInteger("_id"));
    equal(few, List.of(5, 11, 17));
    done("cursors");
  }

  private void updates() {
    var changed =
        cities.updateMany(
            Filters.eq("city", "Athens"), Updates.combine(Updates.inc("n", 1000), Updates.push("tags", 9)));
    equal(List.of(changed.getMatchedCount(), changed.getModifiedCount()), List.of(50L, 50L));
    Document next = new Document("$set", new Document("n", new Document("$add", List.of("$n", 1))));
    Document after =
        cities.findOneAndUpdate(
            Filters.eq(0),
            List.of(next),
            new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER));
    equal(List.of(after.get("n"), after.get("tags")), List.of(1001, List.of(0, 0, 9)));
    var made =
        cities.replaceOne(
            Filters.eq("new"), new Document("city", "Faro"), new ReplaceOptions().upsert(true));
    equal(made.getUpsertedId().asString().getValue(), "new");
    done("updates");
  }

  private void bulk() {
    try {
      cities.bulkWrite(
          List.of(
              new InsertOneModel<>(new Document("_id", 1)),
              new UpdateOneModel<>(Filters.eq("new"), Updates.set("n", 7))),
          new BulkWriteOptions().ordered(false));
      throw new AssertionError("not refused");
    } catch (MongoBulkWriteException error) {
      equal(error.getWriteErrors().get(0).getCode(), 11000);
      equal(error.getWriteResult().getModifiedCount(), 1);
    }
    done("bulk");
  }

  private void indexes() {
    equal(
        cities.createIndex(Indexes.compoundIndex(Indexes.ascending("city"), Indexes.descending("n"))),
        "city_1_n_-1");
    Set<String> names = new TreeSet<>();
    for (Document index : cities.listIndexes()) names.add(index.getString("name"));
    equal(names, Set.of("_id_", "city_1_n_-1"));
    MongoCollection<Document> users = db.getCollection("users");
    users.createIndex(Indexes.ascending("mail"), new IndexOptions().unique(true));
    users.insertOne(new Document("mail", "a"));
    try {
      users.insertOne(new Document("mail", "a"));
      throw new AssertionError("not refused");
    } catch (MongoWriteException error) {
      equal(error.getError().getCategory(), ErrorCategory.DUPLICATE_KEY);
    }
    done("indexes");
  }

  private void aggregate() {
    Map<String, Integer> counts = new TreeMap<>();
    for (Document group :
        cities.aggregate(List.of(Aggregates.group("$city", Accumulators.sum("count", 1)))))
      counts.put(group.getString("_id"), group.getInteger("count"));
    Map<String, Integer> expected = new TreeMap<>(Map.of("Faro", 1));
    for (String name : NAMES) expected.put(name, 50);
    equal(counts, expected);
    done("aggregate");
  }

  private void transaction() {
    MongoCollection<Document> left = db.getCollection("left");
    MongoCollection<Document> right = db.getCollection("right");
    try (ClientSession session = client.startSession()) {
      session.withTransaction(
          () -> {
            left.insertOne(session, new Document("_id", 1));
            right.insertOne(session, new Document("_id", 1));
            equal(left.countDocuments(), 0L);
            return true;
          });
      session.startTransaction();
      left.insertOne(session, new Document("_id", 2));
      session.abortTransaction();
    }
    List<Document> one = List.of(new Document("_id", 1));
    equal(left.find().into(new ArrayList<>()), one);
    equal(right.find().into(new ArrayList<>()), one);
    done("transaction");
  }

  private void changeStream() {
    MongoCollection<Document> watched = db.getCollection("watched");
    ChangeStreamDocument<Document> first;
    try (var stream = watched.watch().fullDocument(FullDocument.UPDATE_LOOKUP).cursor()) {
      watched.insertOne(new Document("_id", 1).append("n", 1));
      watched.updateOne(Filters.eq(1), Updates.set("n", 2));
      first = stream.next();
      equal(first.getFullDocument(), new Document("_id", 1).append("n", 1));
      equal(stream.next().getUpdateDescription().getUpdatedFields().getInt32("n").getValue(), 2);
    }
    try (var stream = watched.watch().resumeAfter(first.getResumeToken()).cursor()) {
      equal(stream.next().getOperationType(), OperationType.UPDATE);
    }
    done("change stream");
  }

  private void files() {
    GridFSBucket bucket = GridFSBuckets.create(db);
    byte[] content = new byte[512_000];
    for (int at = 0; at < content.length; at++) content[at] = (byte) at;
    ObjectId id = bucket.uploadFromStream("f.bin", new ByteArrayInputStream(content));
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    bucket.downloadToStream(id, read);
    equal(Arrays.equals(read.toByteArray(), content), true);
    done("files");
  }

  private void refused() {
    try {
      cities.find(new Document("n", new Document("$nope", 1))).first();
      throw new AssertionError("not refused");
    } catch (MongoQueryException error) {
      equal(error.getErrorCode(), 2);
    } catch (MongoCommandException error) {
      equal(error.getErrorCode(), 2);
    }
    done("refused");
  }

  private void drop() {
    db.drop();
    equal(client.listDatabaseNames().into(new ArrayList<>()).contains("tour"), false);
    done("drop");
  }

  private static void equal(Object actual, Object expected) {
    if (!Objects.equals(actual, expected))
      throw new AssertionError("expected " + expected + ", got " + actual);
  }

  private static void done(String step) {
    System.out.println(step);
  }
}
