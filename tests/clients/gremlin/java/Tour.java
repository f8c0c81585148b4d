import static org.apache.tinkerpop.gremlin.process.traversal.AnonymousTraversalSource.traversal;

import io.netty.handler.ssl.SslContextBuilder;
import java.io.File;
import java.net.URI;
import java.util.*;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.apache.tinkerpop.gremlin.driver.Client;
import org.apache.tinkerpop.gremlin.driver.Cluster;
import org.apache.tinkerpop.gremlin.driver.Result;
import org.apache.tinkerpop.gremlin.driver.exception.ResponseException;
import org.apache.tinkerpop.gremlin.driver.remote.DriverRemoteConnection;
import org.apache.tinkerpop.gremlin.process.traversal.Merge;
import org.apache.tinkerpop.gremlin.process.traversal.Path;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.__;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Transaction;

/** A tour of the Gremlin API by Java's own driver. Arguments: endpoint, key, file of the authority. */
final class Tour {
  private static final String GRAPH = "/dbs/tour/colls/people";

  public static void main(String[] arguments) throws Exception {
    Cluster cluster = open(arguments[0], arguments[1], arguments[2]);
    Client client = cluster.connect();
    GraphTraversalSource g = traversal().withRemote(DriverRemoteConnection.using(cluster, "g"));
    equal(values(client, "g.inject(1, 'a')", Map.of()), List.of(1, "a"));
    System.out.println("connect");
    add(client, g);
    walk(g);
    change(g);
    try {
      client.submit("g.V().nowhere()").all().get();
      throw new AssertionError("not refused");
    } catch (ExecutionException error) {
      equal(((ResponseException) error.getCause()).getResponseStatusCode().getValue(), 597);
    }
    System.out.println("refused");
    cluster.close();
    wrongKey(arguments);
    // Threads of the driver's pools may live on.
    System.exit(0);
  }

  private static Cluster open(String endpoint, String key, String authority) throws Exception {
    URI address = URI.create(endpoint);
    return Cluster.build()
        .addContactPoint(address.getHost())
        .port(address.getPort())
        .path(address.getPath())
        .enableSsl(true)
        .sslContext(SslContextBuilder.forClient().trustManager(new File(authority)).build())
        .credentials(GRAPH, key)
        .maxConnectionPoolSize(2)
        .minConnectionPoolSize(1)
        .create();
  }

  private static List<Object> values(Client client, String script, Map<String, Object> bindings) throws Exception {
    return client.submit(script, bindings).all().get().stream().map(Result::getObject).toList();
  }

  private static void add(Client client, GraphTraversalSource g) throws Exception {
    String add = "g.addV('person').property('id', name).property('pk', name).property('age', age)";
    List<String> names = List.of("ann", "bob", "cat");
    for (int at = 0; at < 3; at++) values(client, add, Map.of("name", names.get(at), "age", 30 + 10 * at));
    equal(values(client, "g.V().count()", Map.of()), List.of(3L));
    System.out.println("add by script");
    g.V("ann").addE("knows").to(__.V("bob")).property("since", 2020).iterate();
    g.V("bob").addE("knows").to(__.V("cat")).property("since", 2021).iterate();
    equal(g.E().has("since", 2021).outV().id().toList(), List.of("bob"));
    System.out.println("add by bytecode");
  }

  private static void walk(GraphTraversalSource g) {
    equal(g.V("ann").out("knows").values("age").toList(), List.of(40));
    equal(g.V("cat").in("knows").in("knows").id().next(), "ann");
    System.out.println("neighbours");
    Path path = g.V("ann").repeat(__.out()).until(__.hasId("cat")).path().by(T.id).next();
    equal(path.objects(), List.of("ann", "bob", "cat"));
    System.out.println("paths");
    List<Integer> numbers = IntStream.range(0, 1000).boxed().toList();
    equal(g.inject(new ArrayList<>(numbers)).unfold().toList(), numbers);
    System.out.println("batches");
  }

  private static void change(GraphTraversalSource g) {
    for (int round = 0; round < 2; round++)
      g.mergeV(Map.of(T.id, "dan", "pk", "dan"))
          .option(Merge.onCreate, Map.of(T.label, "person", "age", 60))
          .iterate();
    equal(g.V().hasLabel("person").values("age").order().toList(), List.of(30, 40, 50, 60));
    System.out.println("upsert");
    Transaction transaction = g.tx();
    GraphTraversalSource own = transaction.begin();
    own.V("dan").drop().iterate();
    equal(own.V().count().next(), 3L);
    transaction.rollback();
    equal(g.V().count().next(), 4L);
    System.out.println("transaction");
    g.V("bob").drop().iterate();
    equal(List.of(g.V().count().next(), g.E().count().next()), List.of(3L, 0L));
    System.out.println("drop");
  }

  private static void wrongKey(String[] arguments) throws Exception {
    Cluster cluster = open(arguments[0], "wrong", arguments[2]);
    try {
      cluster.connect().submit("g.V()").all().get();
      throw new AssertionError("not refused");
    } catch (ExecutionException error) {
      equal(((ResponseException) error.getCause()).getResponseStatusCode().getValue(), 401);
    } finally {
      cluster.close();
    }
    System.out.println("wrong key");
  }

  private static void equal(Object actual, Object expected) {
    if (!Objects.equals(actual, expected))
      throw new AssertionError("expected " + expected + ", got " + actual);
  }
}
