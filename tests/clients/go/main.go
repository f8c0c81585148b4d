// A tour of the NoSQL API by Go's own client. Arguments: endpoint, key, file of the authority.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// The container has several physical partitions.
const throughput = 30_000

var (
	cities = []string{"Athens", "Bergen", "Cadiz", "Dakar", "Essen"}
	ctx    = context.Background()
)

type item struct {
	ID   string   `json:"id"`
	City string   `json:"city"`
	N    int      `json:"n"`
	Tags []string `json:"tags,omitempty"`
}

func itemOf(n int) item {
	return item{fmt.Sprintf("i%02d", n), cities[n%5], n, []string{fmt.Sprintf("t%d", n%3)}}
}

func at(city string) azcosmos.PartitionKey {
	return azcosmos.NewPartitionKeyString(city)
}

func clientOf(endpoint, key, authority string) *azcosmos.Client {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(must(os.ReadFile(authority))) {
		fail("no certificate in %s", authority)
	}
	trusting := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	options := &azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: trusting}}
	options.EnableContentResponseOnWrite = true
	return must(azcosmos.NewClientWithKey(endpoint, must(azcosmos.NewKeyCredential(key)), options))
}

func definitions(client *azcosmos.Client) (*azcosmos.DatabaseClient, *azcosmos.ContainerClient) {
	step("create database", func() {
		tour := azcosmos.DatabaseProperties{ID: "tour"}
		must(client.CreateDatabase(ctx, tour, nil))
		refused[azcosmos.DatabaseResponse](409)(client.CreateDatabase(ctx, tour, nil))
		pager := client.NewQueryDatabasesPager("SELECT * FROM r WHERE r.id = 'tour'", nil)
		equal(len(must(pager.NextPage(ctx)).Databases), 1)
	})
	database := must(client.NewDatabase("tour"))
	container := must(database.NewContainer("places"))
	step("create container", func() {
		places := azcosmos.ContainerProperties{
			ID:                     "places",
			PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/city"}, Version: 2},
		}
		offer := azcosmos.NewManualThroughputProperties(throughput)
		must(database.CreateContainer(ctx, places, &azcosmos.CreateContainerOptions{ThroughputProperties: &offer}))
		refused[azcosmos.ContainerResponse](409)(database.CreateContainer(ctx, places, nil))
		read := must(container.Read(ctx, nil))
		equal(read.ContainerProperties.PartitionKeyDefinition.Paths, []string{"/city"})
		equal(len(must(container.ReadFeedRanges(ctx, nil))) > 1, true)
	})
	step("throughput", func() {
		lower := azcosmos.NewManualThroughputProperties(throughput - 1_000)
		must(container.ReplaceThroughput(ctx, lower, nil))
		response := must(container.ReadThroughput(ctx, nil))
		now, _ := response.ThroughputProperties.ManualThroughput()
		equal(now, int32(throughput-1_000))
	})
	return database, container
}

func items(container *azcosmos.ContainerClient) {
	read := func(city, id string) (azcosmos.ItemResponse, error) {
		return container.ReadItem(ctx, at(city), id, nil)
	}
	step("create items", func() {
		for n := range 30 {
			one := itemOf(n)
			response := must(container.CreateItem(ctx, at(one.City), packed(one), nil))
			equal(unpacked[item](response.Value), one)
		}
		refused[azcosmos.ItemResponse](409)(container.CreateItem(ctx, at("Athens"), packed(itemOf(0)), nil))
	})
	step("read", func() {
		equal(unpacked[item](must(read("Cadiz", "i07")).Value), itemOf(7))
		refused[azcosmos.ItemResponse](404)(read("Dakar", "i07"))
	})
	step("read many", func() {
		wanted := []azcosmos.ItemIdentity{
			{ID: "i03", PartitionKey: at("Dakar")}, {ID: "i04", PartitionKey: at("Essen")}, {ID: "none", PartitionKey: at("Essen")},
		}
		equal(sorted(idsOf(must(container.ReadManyItems(ctx, wanted, nil)).Items)), []string{"i03", "i04"})
	})
	step("replace on condition", func() {
		stale := must(read("Athens", "i00")).ETag
		same := &azcosmos.ItemOptions{IfMatchEtag: &stale}
		changed := packed(item{"i00", "Athens", 0, []string{"t0", "changed"}})
		must(container.ReplaceItem(ctx, at("Athens"), "i00", changed, same))
		refused[azcosmos.ItemResponse](412)(container.ReplaceItem(ctx, at("Athens"), "i00", changed, same))
		refused[azcosmos.ItemResponse](412)(container.DeleteItem(ctx, at("Athens"), "i00", same))
		refused[azcosmos.ItemResponse](404)(container.ReplaceItem(ctx, at("Athens"), "i77", packed(item{"i77", "Athens", 0, nil}), nil))
	})
	step("upsert", func() {
		for _, n := range []int{100, 101} {
			response := must(container.UpsertItem(ctx, at("Oslo"), packed(item{"u", "Oslo", n, nil}), nil))
			equal(unpacked[item](response.Value).N, n)
		}
	})
	step("patch", func() {
		patch := azcosmos.PatchOperations{}
		patch.AppendAdd("/tags", []string{"new"})
		patch.AppendSet("/seen", "tour")
		patch.AppendIncrement("/n", 5)
		response := must(container.PatchItem(ctx, at("Oslo"), "u", patch, nil))
		equal(unpacked[item](response.Value), item{"u", "Oslo", 106, []string{"new"}})
		patch = azcosmos.PatchOperations{}
		patch.AppendRemove("/seen")
		patch.AppendReplace("/n", 7)
		patch.SetCondition("FROM c WHERE c.n > 1000")
		refused[azcosmos.ItemResponse](412)(container.PatchItem(ctx, at("Oslo"), "u", patch, nil))
		patch.SetCondition("FROM c WHERE c.n = 106")
		equal(unpacked[item](must(container.PatchItem(ctx, at("Oslo"), "u", patch, nil)).Value).N, 7)
		refused[azcosmos.ItemResponse](400)(container.PatchItem(ctx, at("Oslo"), "u", removalOf("/seen"), nil))
	})
	step("delete", func() {
		must(container.DeleteItem(ctx, at("Oslo"), "u", nil))
		refused[azcosmos.ItemResponse](404)(container.DeleteItem(ctx, at("Oslo"), "u", nil))
	})
}

func removalOf(path string) azcosmos.PatchOperations {
	patch := azcosmos.PatchOperations{}
	patch.AppendRemove(path)
	return patch
}

func changeFeed(container *azcosmos.ContainerClient) {
	step("change feed", func() {
		all := []string{}
		// Every range has its own continuation; what is written afterwards is in one of them.
		after := []string{}
		for _, one := range must(container.ReadFeedRanges(ctx, nil)) {
			page := must(container.ReadChangeFeed(ctx, &azcosmos.ChangeFeedOptions{FeedRange: &one, MaxItemCount: 100}))
			all = append(all, idsOf(page.Items)...)
			after = append(after, must(page.GetCompositeContinuationToken()))
		}
		equal(len(slices.Compact(sorted(all))), 30)
		must(container.UpsertItem(ctx, at("Oslo"), packed(item{"late", "Oslo", 0, nil}), nil))
		late := []string{}
		for _, continuation := range after {
			page := must(container.ReadChangeFeed(ctx, &azcosmos.ChangeFeedOptions{Continuation: &continuation}))
			late = append(late, idsOf(page.Items)...)
		}
		equal(late, []string{"late"})
		must(container.DeleteItem(ctx, at("Oslo"), "late", nil))
	})
}

func batches(container *azcosmos.ContainerClient) {
	statuses := func(response azcosmos.TransactionalBatchResponse) []int32 {
		found := []int32{}
		for _, result := range response.OperationResults {
			found = append(found, result.StatusCode)
		}
		return found
	}
	step("batch", func() {
		batch := container.NewTransactionalBatch(at("Fes"))
		batch.CreateItem(packed(item{"b1", "Fes", 1, nil}), nil)
		batch.UpsertItem(packed(item{"b2", "Fes", 2, nil}), nil)
		patch := azcosmos.PatchOperations{}
		patch.AppendIncrement("/n", 10)
		batch.PatchItem("b1", patch, nil)
		batch.ReplaceItem("b2", packed(item{"b2", "Fes", 3, nil}), nil)
		batch.ReadItem("b1", nil)
		batch.DeleteItem("b2", nil)
		done := must(container.ExecuteTransactionalBatch(ctx, batch, nil))
		equal(statuses(done), []int32{201, 201, 200, 200, 200, 204})
		equal(unpacked[item](done.OperationResults[4].ResourceBody).N, 11)
	})
	step("batch undone", func() {
		batch := container.NewTransactionalBatch(at("Fes"))
		batch.CreateItem(packed(item{"b3", "Fes", 1, nil}), nil)
		batch.CreateItem(packed(item{"b1", "Fes", 1, nil}), nil)
		undone := must(container.ExecuteTransactionalBatch(ctx, batch, nil))
		equal(undone.Success, false)
		equal(statuses(undone), []int32{424, 409})
		refused[azcosmos.ItemResponse](404)(container.ReadItem(ctx, at("Fes"), "b3", nil))
	})
}

func hierarchy(database *azcosmos.DatabaseClient) {
	step("hierarchical key", func() {
		key := azcosmos.PartitionKeyDefinition{
			Kind: azcosmos.PartitionKeyKindMultiHash, Paths: []string{"/tenant", "/user"}, Version: 2,
		}
		must(database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "sessions", PartitionKeyDefinition: key}, nil))
		sessions := must(database.NewContainer("sessions"))
		for _, path := range [][]string{{"a", "x"}, {"a", "y"}, {"b", "x"}} {
			one := map[string]string{"id": path[1], "tenant": path[0], "user": path[1]}
			must(sessions.CreateItem(ctx, at(path[0]).AppendString(path[1]), packed(one), nil))
		}
		read := must(sessions.ReadItem(ctx, at("a").AppendString("y"), "y", nil))
		equal(unpacked[map[string]any](read.Value)["tenant"], "a")
		equal(sorted(query[string](sessions, "SELECT VALUE c.id FROM c", at("a"), nil)), []string{"x", "y"})
	})
}

func end(client *azcosmos.Client, database *azcosmos.DatabaseClient, endpoint, authority string) {
	step("wrong key", func() {
		stranger := must(clientOf(endpoint, "d3Jvbmc=", authority).NewDatabase("tour"))
		refused[azcosmos.DatabaseResponse](401)(stranger.Read(ctx, nil))
	})
	step("delete container and database", func() {
		places := must(database.NewContainer("places"))
		must(places.Delete(ctx, nil))
		refused[azcosmos.ContainerResponse](404)(places.Read(ctx, nil))
		must(database.Delete(ctx, nil))
		pager := client.NewQueryDatabasesPager("SELECT * FROM r", nil)
		equal(len(must(pager.NextPage(ctx)).Databases), 0)
	})
}

func main() {
	endpoint, key, authority := os.Args[1], os.Args[2], os.Args[3]
	client := clientOf(endpoint, key, authority)
	database, container := definitions(client)
	items(container)
	queries(container)
	changeFeed(container)
	batches(container)
	hierarchy(database)
	end(client, database, endpoint, authority)
}
