import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.*;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.*;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A tour of the Cassandra API by Java's own driver, protocol 5. Arguments: endpoint, key, file of the authority. */
final class Tour {
  public static void main(String[] arguments) throws Exception {
    try (CqlSession session = open(arguments[0], arguments[1], arguments[2])) {
      equal(session.getContext().getProtocolVersion().getCode(), 5);
      System.out.println("connect");
      schema(session);
      rows(session);
      writes(session);
    }
    try (CqlSession session = open(arguments[0], "wrong", arguments[2])) {
      throw new AssertionError("not refused");
    } catch (com.datastax.oss.driver.api.core.AllNodesFailedException expected) {
      System.out.println("wrong key");
    }
  }

  private static CqlSession open(String endpoint, String key, String authority) throws Exception {
    int colon = endpoint.lastIndexOf(':');
    DriverConfigLoader config =
        DriverConfigLoader.programmaticBuilder()
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(30))
            .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(30))
            .build();
    return CqlSession.builder()
        .addContactPoint(
            new InetSocketAddress(
                endpoint.substring(0, colon), Integer.parseInt(endpoint.substring(colon + 1))))
        .withLocalDatacenter("datacenter1")
        .withAuthCredentials("localhost", key)
        .withSslContext(trusting(Path.of(authority)))
        .withConfigLoader(config)
        .build();
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

  private static void schema(CqlSession session) {
    session.execute("CREATE KEYSPACE tour WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    session.execute("CREATE TABLE tour.t (city text, n int, tags set<text>, PRIMARY KEY (city, n))");
    session.execute("CREATE TABLE tour.visits (city text PRIMARY KEY, count counter)");
    var table = session.getMetadata().getKeyspace("tour").orElseThrow().getTable("t").orElseThrow();
    equal(table.getPrimaryKey().size(), 2);
    System.out.println("schema");
  }

  private static void rows(CqlSession session) {
    PreparedStatement insert = session.prepare("INSERT INTO tour.t (city, n, tags) VALUES (?, ?, ?)");
    equal(insert.getPartitionKeyIndices(), List.of(0));
    for (int n = 0; n < 250; n++) session.execute(insert.bind("Athens", n, Set.of("a", "b")));
    Row row = session.execute("SELECT tags FROM tour.t WHERE city = 'Athens' AND n = 7").one();
    equal(row.getSet("tags", String.class), Set.of("a", "b"));
    System.out.println("prepared");
    int count = 0;
    SimpleStatement select =
        SimpleStatement.newInstance("SELECT n FROM tour.t WHERE city = 'Athens'").setPageSize(33);
    for (Row one : session.execute(select)) equal(one.getInt("n"), count++);
    equal(count, 250);
    System.out.println("pages");
    BatchStatementBuilder batch = BatchStatement.builder(DefaultBatchType.LOGGED);
    for (int n = 0; n < 100; n++) batch.addStatement(insert.bind("Bergen", n, Set.of()));
    session.execute(batch.build());
    equal(session.execute("SELECT count(*) FROM tour.t WHERE city = 'Bergen'").one().getLong(0), 100L);
    System.out.println("batch");
  }

  private static void writes(CqlSession session) {
    equal(session.execute("INSERT INTO tour.t (city, n) VALUES ('Bergen', 1) IF NOT EXISTS").wasApplied(), false);
    System.out.println("lightweight transaction");
    for (int n = 0; n < 5; n++) session.execute("UPDATE tour.visits SET count = count + 2 WHERE city = 'Cadiz'");
    equal(session.execute("SELECT count FROM tour.visits WHERE city = 'Cadiz'").one().getLong(0), 10L);
    System.out.println("counter");
    try {
      session.execute("SELECT * FROM tour.t WHERE n = 1");
      throw new AssertionError("not refused");
    } catch (InvalidQueryException expected) {
      equal(expected.getMessage().contains("ALLOW FILTERING"), true);
    }
    System.out.println("refused");
  }

  private static void equal(Object actual, Object expected) {
    if (!Objects.equals(actual, expected))
      throw new AssertionError("expected " + expected + ", got " + actual);
  }
}
