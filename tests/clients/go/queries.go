package main

import (
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// everywhere is no key: a query of all partitions, which the client leaves to the server.
var everywhere = azcosmos.NewPartitionKey()

func idsOf(items [][]byte) []string {
	ids := []string{}
	for _, one := range items {
		ids = append(ids, unpacked[item](one).ID)
	}
	return ids
}

func sorted(texts []string) []string {
	slices.Sort(texts)
	return texts
}

func query[T any](
	container *azcosmos.ContainerClient, text string, key azcosmos.PartitionKey, bound map[string]any,
) []T {
	options := &azcosmos.QueryOptions{}
	for name, value := range bound {
		options.QueryParameters = append(options.QueryParameters, azcosmos.QueryParameter{Name: name, Value: value})
	}
	rows := []T{}
	for pager := container.NewQueryItemsPager(text, key, options); pager.More(); {
		for _, row := range must(pager.NextPage(ctx)).Items {
			rows = append(rows, unpacked[T](row))
		}
	}
	return rows
}

func queries(container *azcosmos.ContainerClient) {
	texts := func(text string, key azcosmos.PartitionKey, bound map[string]any) []string {
		return query[string](container, text, key, bound)
	}
	numbers := func(text string) []float64 { return query[float64](container, text, everywhere, nil) }

	step("query of one partition", func() {
		least := "SELECT VALUE c.id FROM c WHERE c.n >= @least"
		equal(texts(least, at("Cadiz"), map[string]any{"@least": 12}), []string{"i12", "i17", "i22", "i27"})
		tagged := "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, @tag)"
		equal(texts(tagged, at("Athens"), map[string]any{"@tag": "t0"}), []string{"i00", "i15"})
	})
	step("query of all partitions", func() {
		least := "SELECT VALUE c.id FROM c WHERE c.n >= @least"
		equal(sorted(texts(least, everywhere, map[string]any{"@least": 26})), []string{"i26", "i27", "i28", "i29"})
		joined := "SELECT VALUE c.id FROM c JOIN t IN c.tags WHERE c.n < @most AND t = 't1'"
		equal(sorted(texts(joined, everywhere, map[string]any{"@most": 10})), []string{"i01", "i04", "i07"})
	})
	step("pages", func() { pages(container) })
	step("order", func() {
		down := []float64{}
		for n := range 30 {
			down = append(down, float64(29-n))
		}
		equal(numbers("SELECT VALUE c.n FROM c ORDER BY c.n DESC"), down)
		equal(numbers("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 3 LIMIT 4"), []float64{3, 4, 5, 6})
		equal(texts("SELECT TOP 2 VALUE c.id FROM c ORDER BY c.id DESC", everywhere, nil), []string{"i29", "i28"})
		equal(texts("SELECT DISTINCT VALUE c.city FROM c ORDER BY c.city", everywhere, nil), cities)
	})
	step("aggregates", func() {
		for call, result := range map[string]float64{
			"COUNT(1)": 30, "SUM(c.n)": 435, "MIN(c.n)": 0, "MAX(c.n)": 29, "AVG(c.n)": 14.5,
		} {
			equal(numbers(fmt.Sprintf("SELECT VALUE %s FROM c", call)), []float64{result})
		}
		grouped := "SELECT c.city, COUNT(1) AS k FROM c GROUP BY c.city"
		groups := query[map[string]any](container, grouped, at("Essen"), nil)
		equal(groups, []map[string]any{{"city": "Essen", "k": 6.0}})
		equal(len(query[map[string]any](container, grouped, everywhere, nil)), 5)
	})
	step("refused query", func() {
		pager := container.NewQueryItemsPager("SELECT * FRM c", everywhere, nil)
		refused[azcosmos.QueryItemsResponse](400)(pager.NextPage(ctx))
	})
}

func pages(container *azcosmos.ContainerClient) {
	whole := []string{}
	pager := container.NewQueryItemsPager("SELECT * FROM c", everywhere, &azcosmos.QueryOptions{PageSizeHint: 4})
	for pager.More() {
		page := idsOf(must(pager.NextPage(ctx)).Items)
		equal(len(page) <= 4, true)
		whole = append(whole, page...)
	}
	equal(len(slices.Compact(sorted(whole))), 30)
	// A fresh pager takes up where the one before it has stopped.
	read := [][]string{}
	for options := (&azcosmos.QueryOptions{PageSizeHint: 2}); ; {
		one := container.NewQueryItemsPager("SELECT * FROM c ORDER BY c.n", at("Bergen"), options)
		page := must(one.NextPage(ctx))
		if len(page.Items) > 0 {
			read = append(read, idsOf(page.Items))
		}
		if page.ContinuationToken == nil {
			break
		}
		options.ContinuationToken = page.ContinuationToken
	}
	equal(read, [][]string{{"i01", "i06"}, {"i11", "i16"}, {"i21", "i26"}})
}
