import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.CosmosException;
import com.azure.cosmos.models.*;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.*;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

/** A tour of the NoSQL API by Java's own client in gateway mode. Arguments: endpoint, key, file of the authority. */
final class Tour {
  private static final List<String> CITIES = List.of("Athens", "Bergen", "Cadiz", "Dakar", "Essen");
  // The container has several physical partitions.
  private static final int THROUGHPUT = 30_000;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String endpoint;
  private final CosmosClient client;
  private CosmosDatabase database;
  private CosmosContainer container;

  private Tour(String endpoint, String key) {
    this.endpoint = endpoint;
    client = clientOf(endpoint, key);
  }

  public static void main(String[] arguments) throws Exception {
    trust(Path.of(arguments[2]));
    Tour tour = new Tour(arguments[0], arguments[1]);
    tour.definitions();
    tour.items();
    tour.conditions();
    tour.queries();
    tour.changeFeed();
    tour.batches();
    tour.bulk();
    tour.hierarchy();
    tour.end();
    System.exit(0);
  }

  /** The client takes what it trusts from the settings of the process, which want a key store. */
  private static void trust(Path authority) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    try (InputStream pem = Files.newInputStream(authority)) {
      store.setCertificateEntry("mesocosm", CertificateFactory.getInstance("X.509").generateCertificate(pem));
    }
    Path file = Files.createTempFile("mesocosm-", ".p12");
    file.toFile().deleteOnExit();
    try (OutputStream out = Files.newOutputStream(file)) {
      store.store(out, "mesocosm".toCharArray());
    }
    System.setProperty("javax.net.ssl.trustStore", file.toString());
    System.setProperty("javax.net.ssl.trustStorePassword", "mesocosm");
    System.setProperty("javax.net.ssl.trustStoreType", "PKCS12");
  }

  private static CosmosClient clientOf(String endpoint, String key) {
    return new CosmosClientBuilder()
        .endpoint(endpoint).key(key).gatewayMode().contentResponseOnWriteEnabled(true).buildClient();
  }

  private void definitions() {
    step("create database", () -> {
      client.createDatabase("tour");
      refused(409, () -> client.createDatabase("tour"));
      equal(client.createDatabaseIfNotExists("tour").getStatusCode(), 200);
      equal(idsOf(client.queryDatabases("SELECT * FROM r WHERE r.id = 'tour'", null), CosmosDatabaseProperties::getId), List.of("tour"));
    });
    database = client.getDatabase("tour");
    step("create container", () -> {
      CosmosContainerProperties places = new CosmosContainerProperties("places", "/city");
      database.createContainer(places, ThroughputProperties.createManualThroughput(THROUGHPUT));
      refused(409, () -> database.createContainer(places));
      equal(database.getContainer("places").read().getProperties().getPartitionKeyDefinition().getPaths(), List.of("/city"));
      equal(database.getContainer("places").getFeedRanges().size() > 1, true);
    });
    container = database.getContainer("places");
    step("throughput", () -> {
      container.replaceThroughput(ThroughputProperties.createManualThroughput(THROUGHPUT - 1_000));
      equal(container.readThroughput().getProperties().getManualThroughput(), THROUGHPUT - 1_000);
    });
  }

  private void items() {
    step("create items", () -> {
      for (int n = 0; n < 30; n++) equal(container.createItem(itemOf(n)).getItem().get("n").asInt(), n);
      refused(409, () -> container.createItem(itemOf(0)));
    });
    step("read", () -> {
      equal(read("i07", "Cadiz").get("n").asInt(), 7);
      refused(404, () -> read("i07", "Dakar"));
      equal(ids(container.readAllItems(at("Dakar"), JsonNode.class)), List.of("i03", "i08", "i13", "i18", "i23", "i28"));
    });
    step("read many", () -> {
      List<CosmosItemIdentity> wanted = List.of(
          new CosmosItemIdentity(at("Dakar"), "i03"), new CosmosItemIdentity(at("Essen"), "i04"),
          new CosmosItemIdentity(at("Essen"), "i09"), new CosmosItemIdentity(at("Essen"), "none"));
      equal(sorted(ids(container.readMany(wanted, JsonNode.class).getResults())), List.of("i03", "i04", "i09"));
    });
  }

  private void conditions() {
    step("replace on condition", () -> {
      String etag = read("i00", "Athens").get("_etag").asText();
      CosmosItemRequestOptions same = new CosmosItemRequestOptions().setIfMatchETag(etag);
      ObjectNode changed = itemOf(0).put("stars", 4);
      String now = container.replaceItem(changed, "i00", at("Athens"), same).getETag();
      refused(412, () -> container.replaceItem(changed, "i00", at("Athens"), same));
      refused(412, () -> container.deleteItem("i00", at("Athens"), same));
      refused(404, () -> container.replaceItem(itemOf(0).put("id", "none"), "none", at("Athens"), null));
      CosmosItemRequestOptions other = new CosmosItemRequestOptions().setIfNoneMatchETag(now);
      equal(container.readItem("i00", at("Athens"), other, JsonNode.class).getStatusCode(), 304);
    });
    step("upsert", () -> {
      equal(container.upsertItem(place("u", "Oslo", 100)).getStatusCode(), 201);
      equal(container.upsertItem(place("u", "Oslo", 101)).getStatusCode(), 200);
    });
    step("patch", () -> {
      CosmosPatchOperations operations = CosmosPatchOperations.create()
          .add("/tags", List.of("a")).add("/tags/-", "new").set("/seen", "tour").increment("/n", 5).replace("/seen", "twice");
      JsonNode patched = container.patchItem("u", at("Oslo"), operations, JsonNode.class).getItem();
      equal(patched.get("tags").toString() + patched.get("seen") + patched.get("n"), "[\"a\",\"new\"]\"twice\"106");
      CosmosPatchOperations removal = CosmosPatchOperations.create().remove("/seen");
      CosmosPatchItemRequestOptions unless = new CosmosPatchItemRequestOptions().setFilterPredicate("FROM c WHERE c.n > 1000");
      refused(412, () -> container.patchItem("u", at("Oslo"), removal, unless, JsonNode.class));
      equal(container.patchItem("u", at("Oslo"), removal, JsonNode.class).getItem().has("seen"), false);
      refused(400, () -> container.patchItem("u", at("Oslo"), removal, JsonNode.class));
    });
    step("delete", () -> {
      container.deleteItem("u", at("Oslo"), null);
      refused(404, () -> container.deleteItem("u", at("Oslo"), null));
    });
  }

  private void queries() {
    SqlQuerySpec least = new SqlQuerySpec("SELECT * FROM c WHERE c.n >= @least", new SqlParameter("@least", 12));
    step("query of one partition", () -> {
      equal(ids(container.queryItems(least, only("Cadiz"), JsonNode.class)), List.of("i12", "i17", "i22", "i27"));
      SqlQuerySpec tagged = new SqlQuerySpec("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, @tag)", new SqlParameter("@tag", "t0"));
      equal(list(container.queryItems(tagged, only("Athens"), String.class)), List.of("i00", "i15"));
    });
    step("query of all partitions", () -> {
      equal(list(container.queryItems(least, null, JsonNode.class)).size(), 18);
      SqlQuerySpec joined = new SqlQuerySpec("SELECT VALUE c.id FROM c JOIN t IN c.tags WHERE c.n < @most AND t = 't1'", new SqlParameter("@most", 10));
      equal(sorted(list(container.queryItems(joined, null, String.class))), List.of("i01", "i04", "i07"));
    });
    step("pages", () -> {
      equal(sorted(pagesOf("SELECT * FROM c", null, 4)), IntStream.range(0, 30).mapToObj("i%02d"::formatted).toList());
      equal(pagesOf("SELECT * FROM c ORDER BY c.n DESC", null, 7).subList(0, 3), List.of("i29", "i28", "i27"));
      equal(pagesOf("SELECT * FROM c ORDER BY c.n", only("Bergen"), 2), List.of("i01", "i06", "i11", "i16", "i21", "i26"));
    });
    step("order", () -> {
      equal(rows("SELECT VALUE c.n FROM c ORDER BY c.n DESC"), IntStream.range(0, 30).mapToObj(n -> "" + (29 - n)).toList());
      equal(rows("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 3 LIMIT 4"), List.of("3", "4", "5", "6"));
      equal(rows("SELECT TOP 2 VALUE c.id FROM c ORDER BY c.id DESC"), List.of("\"i29\"", "\"i28\""));
      equal(rows("SELECT DISTINCT VALUE c.city FROM c ORDER BY c.city").size(), 5);
    });
    step("aggregates", () -> {
      Map.of("COUNT(1)", 30.0, "SUM(c.n)", 435.0, "MIN(c.n)", 0.0, "MAX(c.n)", 29.0, "AVG(c.n)", 14.5).forEach((call, result) ->
          equal(Double.valueOf(rows("SELECT VALUE " + call + " FROM c").get(0)), result));
      List<String> groups = rows("SELECT c.city, COUNT(1) AS k, MAX(c.n) AS m FROM c GROUP BY c.city");
      equal(sorted(groups).get(4), "{\"city\":\"Essen\",\"k\":6,\"m\":29}");
      equal(groups.size(), 5);
    });
    step("refused query", () -> refused(400, () -> rows("SELECT * FRM c")));
  }

  private void changeFeed() {
    step("change feed", () -> {
      String after = null;
      List<String> read = new ArrayList<>();
      var beginning = CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(FeedRange.forFullRange());
      for (FeedResponse<JsonNode> page : container.queryChangeFeed(beginning, JsonNode.class).iterableByPage()) {
        read.addAll(ids(page.getResults()));
        after = page.getContinuationToken();
      }
      equal(sorted(read), IntStream.range(0, 30).mapToObj("i%02d"::formatted).toList());
      container.upsertItem(place("late", "Oslo", 0));
      var rest = CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(after);
      equal(ids(container.queryChangeFeed(rest, JsonNode.class)), List.of("late"));
      container.deleteItem("late", at("Oslo"), null);
      var one = CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(FeedRange.forLogicalPartition(at("Cadiz")));
      equal(ids(container.queryChangeFeed(one, JsonNode.class)), List.of("i02", "i07", "i12", "i17", "i22", "i27"));
    });
  }

  private void batches() {
    step("batch", () -> {
      CosmosBatch batch = CosmosBatch.createCosmosBatch(at("Fes"));
      batch.createItemOperation(place("b1", "Fes", 1));
      batch.upsertItemOperation(place("b2", "Fes", 2));
      batch.patchItemOperation("b1", CosmosPatchOperations.create().increment("/n", 10));
      batch.replaceItemOperation("b2", place("b2", "Fes", 3));
      batch.readItemOperation("b1");
      batch.deleteItemOperation("b2");
      CosmosBatchResponse done = container.executeCosmosBatch(batch);
      equal(statuses(done), List.of(201, 201, 200, 200, 200, 204));
      equal(done.getResults().get(4).getItem(JsonNode.class).get("n").asInt(), 11);
    });
    step("batch undone", () -> {
      CosmosBatch batch = CosmosBatch.createCosmosBatch(at("Fes"));
      batch.createItemOperation(place("b3", "Fes", 1));
      batch.createItemOperation(place("b1", "Fes", 1));
      CosmosBatchResponse undone = container.executeCosmosBatch(batch);
      equal(undone.isSuccessStatusCode(), false);
      equal(statuses(undone), List.of(424, 409));
      refused(404, () -> read("b3", "Fes"));
    });
  }

  private void bulk() {
    step("bulk", () -> {
      List<CosmosItemOperation> operations = new ArrayList<>();
      for (int n = 0; n < 200; n++) {
        String city = "bulk" + n % 20;
        operations.add(CosmosBulkOperations.getCreateItemOperation(place("k" + n, city, n), at(city)));
      }
      operations.add(CosmosBulkOperations.getReadItemOperation("i07", at("Cadiz")));
      List<Integer> statuses = new ArrayList<>();
      container.executeBulkOperations(operations).forEach(one -> statuses.add(one.getResponse().getStatusCode()));
      equal(List.of(Collections.frequency(statuses, 201), Collections.frequency(statuses, 200)), List.of(200, 1));
    });
  }

  private void hierarchy() {
    step("hierarchical key", () -> {
      PartitionKeyDefinition key = new PartitionKeyDefinition()
          .setPaths(List.of("/tenant", "/user")).setKind(PartitionKind.MULTI_HASH).setVersion(PartitionKeyDefinitionVersion.V2);
      database.createContainer(new CosmosContainerProperties("sessions", key));
      CosmosContainer sessions = database.getContainer("sessions");
      for (String[] path : new String[][] {{"a", "x"}, {"a", "y"}, {"b", "x"}})
        sessions.createItem(JSON.createObjectNode().put("id", path[1]).put("tenant", path[0]).put("user", path[1]));
      PartitionKey whole = new PartitionKeyBuilder().add("a").add("y").build();
      equal(sessions.readItem("y", whole, JsonNode.class).getItem().get("tenant").asText(), "a");
      CosmosQueryRequestOptions prefix = new CosmosQueryRequestOptions().setPartitionKey(new PartitionKeyBuilder().add("a").build());
      equal(sorted(ids(sessions.queryItems("SELECT * FROM c", prefix, JsonNode.class))), List.of("x", "y"));
    });
  }

  private void end() {
    step("wrong key", () -> refused(401, () -> clientOf(endpoint, "d3Jvbmc=")));
    step("delete container and database", () -> {
      container.delete();
      refused(404, () -> container.read());
      database.delete();
      equal(list(client.readAllDatabases()).size(), 0);
    });
    client.close();
  }

  private List<String> rows(String query) {
    return list(container.queryItems(query, null, JsonNode.class)).stream().map(JsonNode::toString).toList();
  }

  /** Every page is requested with the continuation of the one before, as a web application does. */
  private List<String> pagesOf(String query, CosmosQueryRequestOptions options, int size) {
    List<String> read = new ArrayList<>();
    String continuation = null;
    do {
      var pages = container.queryItems(query, options, JsonNode.class).iterableByPage(continuation, size).iterator();
      if (!pages.hasNext()) break;
      FeedResponse<JsonNode> page = pages.next();
      equal(page.getResults().size() <= size, true);
      read.addAll(ids(page.getResults()));
      continuation = page.getContinuationToken();
    } while (continuation != null);
    return read;
  }

  private JsonNode read(String id, String city) {
    return container.readItem(id, at(city), JsonNode.class).getItem();
  }

  private static ObjectNode itemOf(int n) {
    ObjectNode item = place("i%02d".formatted(n), CITIES.get(n % 5), n);
    item.putArray("tags").add("t" + n % 3);
    return item;
  }

  private static ObjectNode place(String id, String city, int n) {
    return JSON.createObjectNode().put("id", id).put("city", city).put("n", n);
  }

  private static PartitionKey at(String city) {
    return new PartitionKey(city);
  }

  private static CosmosQueryRequestOptions only(String city) {
    return new CosmosQueryRequestOptions().setPartitionKey(at(city));
  }

  private static List<Integer> statuses(CosmosBatchResponse response) {
    return response.getResults().stream().map(CosmosBatchOperationResult::getStatusCode).toList();
  }

  private static List<String> ids(Iterable<JsonNode> items) {
    return idsOf(items, item -> item.get("id").asText());
  }

  private static <T> List<String> idsOf(Iterable<T> things, java.util.function.Function<T, String> id) {
    return list(things).stream().map(id).toList();
  }

  private static <T> List<T> list(Iterable<T> things) {
    return StreamSupport.stream(things.spliterator(), false).toList();
  }

  private static List<String> sorted(List<String> texts) {
    return texts.stream().sorted().toList();
  }

  /** Prints its name once it has held: a failure is the step after the last one printed. */
  private static void step(String name, Runnable run) {
    try {
      run.run();
    } catch (Throwable error) {
      error.printStackTrace();
      System.exit(1);
    }
    System.out.println(name);
  }

  private static void refused(int status, Runnable run) {
    try {
      run.run();
    } catch (RuntimeException error) {
      // The refusal of a client's first request is the cause of another error.
      Throwable cause = error instanceof CosmosException ? error : error.getCause();
      if (!(cause instanceof CosmosException refusal)) throw error;
      equal(refusal.getStatusCode(), status);
      return;
    }
    throw new AssertionError("not refused with " + status);
  }

  private static void equal(Object actual, Object expected) {
    if (!Objects.equals(actual, expected)) throw new AssertionError("expected " + expected + ", got " + actual);
  }
}
