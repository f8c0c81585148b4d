// A tour of the Cassandra API by gocql. Arguments: endpoint, key, file of the authority.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/gocql/gocql"
)

func step(name string, run func()) {
	run()
	fmt.Println(name)
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	panic("the tour ends here")
}

func check(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func equal(actual, expected any) {
	if !reflect.DeepEqual(actual, expected) {
		fail("expected %v, got %v", expected, actual)
	}
}

func clusterOf(endpoint, key, authority string) *gocql.ClusterConfig {
	pem, err := os.ReadFile(authority)
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	cluster := gocql.NewCluster(endpoint)
	cluster.ProtoVersion = 4
	cluster.Compressor = &gocql.SnappyCompressor{}
	cluster.Authenticator = gocql.PasswordAuthenticator{Username: "localhost", Password: key}
	cluster.SslOpts = &gocql.SslOptions{Config: &tls.Config{RootCAs: roots, InsecureSkipVerify: true}}
	cluster.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
	return cluster
}

func main() {
	endpoint, key, authority := os.Args[1], os.Args[2], os.Args[3]
	var session *gocql.Session
	step("connect", func() {
		opened, err := clusterOf(endpoint, key, authority).CreateSession()
		check(err)
		session = opened
	})
	run := func(statement string, values ...any) { check(session.Query(statement, values...).Exec()) }
	step("schema", func() {
		run("CREATE KEYSPACE tour WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		run("CREATE TABLE tour.t (city text, n int, tags set<text>, PRIMARY KEY (city, n))")
		run("CREATE TABLE tour.visits (city text PRIMARY KEY, count counter)")
		keyspace, err := session.KeyspaceMetadata("tour")
		check(err)
		equal(len(keyspace.Tables["t"].PartitionKey), 1)
	})
	step("prepared", func() {
		for n := 0; n < 250; n++ {
			run("INSERT INTO tour.t (city, n, tags) VALUES (?, ?, ?)", "Athens", n, []string{"a", "b"})
		}
		var tags []string
		check(session.Query("SELECT tags FROM tour.t WHERE city = ? AND n = ?", "Athens", 7).Scan(&tags))
		equal(tags, []string{"a", "b"})
	})
	step("pages", func() {
		iterator := session.Query("SELECT n FROM tour.t WHERE city = ?", "Athens").PageSize(33).Iter()
		count, n := 0, 0
		for iterator.Scan(&n) {
			equal(n, count)
			count++
		}
		check(iterator.Close())
		equal(count, 250)
	})
	step("batch", func() {
		batch := session.NewBatch(gocql.LoggedBatch)
		for n := 0; n < 100; n++ {
			batch.Query("INSERT INTO tour.t (city, n) VALUES (?, ?)", "Bergen", n)
		}
		check(session.ExecuteBatch(batch))
		var count int
		check(session.Query("SELECT count(*) FROM tour.t WHERE city = ?", "Bergen").Scan(&count))
		equal(count, 100)
	})
	step("lightweight transaction", func() {
		query := session.Query("INSERT INTO tour.t (city, n) VALUES (?, ?) IF NOT EXISTS", "Bergen", 1)
		applied, err := query.MapScanCAS(map[string]any{})
		check(err)
		equal(applied, false)
	})
	step("counter", func() {
		for n := 0; n < 5; n++ {
			run("UPDATE tour.visits SET count = count + ? WHERE city = ?", int64(2), "Cadiz")
		}
		var count int64
		check(session.Query("SELECT count FROM tour.visits WHERE city = ?", "Cadiz").Scan(&count))
		equal(count, int64(10))
	})
	step("refused", func() {
		err := session.Query("SELECT * FROM tour.t WHERE n = 1").Exec()
		if err == nil || !strings.Contains(err.Error(), "ALLOW FILTERING") {
			fail("not refused: %v", err)
		}
	})
	step("wrong key", func() {
		if _, err := clusterOf(endpoint, "wrong", authority).CreateSession(); err == nil {
			fail("not refused")
		}
	})
	session.Close()
}
