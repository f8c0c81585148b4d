// A tour of the Gremlin API by gremlin-go. Arguments: endpoint, key, file of the authority.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"reflect"
	"strings"

	gremlin "github.com/apache/tinkerpop/gremlin-go/v3/driver"
)

const graph = "/dbs/tour/colls/people"

var anonymous = gremlin.T__

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

// The driver keeps the low byte of a status code only: the attribute has all of it.
func refused(err error, code string) {
	if err == nil || !strings.Contains(err.Error(), code) {
		fail("not refused with %s: %v", code, err)
	}
}

func trusting(authority string) *tls.Config {
	pem, err := os.ReadFile(authority)
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &tls.Config{RootCAs: roots}
}

func clientOf(endpoint, key, authority string) (*gremlin.Client, error) {
	return gremlin.NewClient(endpoint, func(settings *gremlin.ClientSettings) {
		settings.AuthInfo = gremlin.BasicAuthInfo(graph, key)
		settings.TlsConfig = trusting(authority)
		settings.LogVerbosity = gremlin.Off
	})
}

func textsOf(results []*gremlin.Result, err error) string {
	check(err)
	texts := []string{}
	for _, result := range results {
		texts = append(texts, fmt.Sprint(result.Data))
	}
	return strings.Join(texts, " ")
}

func main() {
	endpoint, key, authority := os.Args[1], os.Args[2], os.Args[3]
	var client *gremlin.Client
	var remote *gremlin.DriverRemoteConnection
	var g *gremlin.GraphTraversalSource
	submit := func(script string, bindings ...map[string]any) string {
		results, err := client.Submit(script, bindings...)
		check(err)
		return textsOf(results.All())
	}
	done := func(traversal *gremlin.GraphTraversal) { check(<-traversal.Iterate()) }
	step("connect", func() {
		opened, err := clientOf(endpoint, key, authority)
		check(err)
		client = opened
		remote, err = gremlin.NewDriverRemoteConnection(endpoint, func(settings *gremlin.DriverRemoteConnectionSettings) {
			settings.AuthInfo = gremlin.BasicAuthInfo(graph, key)
			settings.TlsConfig = trusting(authority)
			settings.LogVerbosity = gremlin.Off
		})
		check(err)
		g = gremlin.Traversal_().With(remote)
		equal(submit("g.inject(1, 'a')"), "1 a")
	})
	step("add by script", func() {
		for name, age := range map[string]int32{"ann": 30, "bob": 40, "cat": 50} {
			submit("g.addV('person').property('id', name).property('pk', name).property('age', age)",
				map[string]any{"name": name, "age": age})
		}
		equal(submit("g.V().count()"), "3")
	})
	step("add by bytecode", func() {
		done(g.V("ann").AddE("knows").To(anonymous.V("bob")).Property("since", 2020))
		done(g.V("bob").AddE("knows").To(anonymous.V("cat")).Property("since", 2021))
		equal(textsOf(g.E().Has("since", 2021).OutV().Id().ToList()), "bob")
	})
	step("neighbours", func() {
		equal(textsOf(g.V("ann").Out("knows").Values("age").ToList()), "40")
		equal(textsOf(g.V("cat").In("knows").In("knows").Id().ToList()), "ann")
	})
	step("paths", func() {
		way := g.V("ann").Repeat(anonymous.Out()).Until(anonymous.HasId("cat")).Path().By(gremlin.T.Id)
		equal(textsOf(way.Unfold().ToList()), "ann bob cat")
	})
	step("batches", func() {
		numbers := make([]any, 1000)
		for at := range numbers {
			numbers[at] = at
		}
		results, err := g.Inject(numbers).Unfold().ToList()
		check(err)
		equal(len(results), 1000)
		for at, result := range results {
			equal(fmt.Sprint(result.Data), fmt.Sprint(at))
		}
	})
	step("upsert", func() {
		for count := 0; count < 2; count++ {
			found := map[any]any{gremlin.T.Id: "dan", "pk": "dan"}
			created := map[any]any{gremlin.T.Label: "person", "age": 60}
			done(g.MergeV(found).Option(gremlin.Merge.OnCreate, created))
		}
		equal(textsOf(g.V().HasLabel("person").Values("age").Order().ToList()), "30 40 50 60")
	})
	step("transaction", func() {
		tx := g.Tx()
		own, err := tx.Begin()
		check(err)
		done(own.V("dan").Drop())
		equal(textsOf(own.V().Count().ToList()), "3")
		check(tx.Rollback())
		equal(textsOf(g.V().Count().ToList()), "4")
	})
	step("drop", func() {
		done(g.V("bob").Drop())
		equal(textsOf(g.V().Count().ToList()), "3")
		equal(textsOf(g.E().Count().ToList()), "0")
	})
	step("refused", func() {
		results, err := client.Submit("g.V().nowhere()")
		if err == nil {
			_, err = results.All()
		}
		refused(err, "x-ms-status-code:1004")
	})
	step("wrong key", func() {
		other, err := clientOf(endpoint, "wrong", authority)
		check(err)
		results, err := other.Submit("g.V()")
		if err == nil {
			_, err = results.All()
		}
		refused(err, "x-ms-status-code:401")
		other.Close()
	})
	remote.Close()
	client.Close()
}
