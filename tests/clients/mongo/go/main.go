// A tour of the MongoDB API by Go's own driver. Arguments: endpoint, key, file of the authority.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var all = context.Background()

type city struct {
	ID   int    `bson:"_id"`
	City string `bson:"city"`
	N    int64  `bson:"n"`
	Tags []int  `bson:"tags"`
}

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

func must[T any](value T, err error) T {
	check(err)
	return value
}

func equal(actual, expected any) {
	if !reflect.DeepEqual(actual, expected) {
		fail("expected %v, got %v", expected, actual)
	}
}

func code(err error) int {
	var refused mongo.ServerError
	if !errors.As(err, &refused) {
		fail("not refused by the server: %v", err)
	}
	return refused.ErrorCodes()[0]
}

func connect(endpoint, key, authority string) *mongo.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(must(os.ReadFile(authority)))
	given := options.Client().ApplyURI("mongodb://" + endpoint + "/?replicaSet=globaldb").
		SetAuth(options.Credential{Username: "localhost", Password: key}).
		SetTLSConfig(&tls.Config{RootCAs: roots}).
		SetCompressors([]string{"zstd"}).
		SetServerSelectionTimeout(30 * time.Second)
	return must(mongo.Connect(given))
}

func documents(cities *mongo.Collection) {
	names := []string{"Athens", "Bergen", "Cadiz", "Dublin", "Espoo"}
	rows := make([]city, 250)
	for n := range rows {
		rows[n] = city{n, names[n%5], int64(n), []int{n % 2, n % 3}}
	}
	equal(len(must(cities.InsertMany(all, rows)).InsertedIDs), 250)
	var found city
	check(cities.FindOne(all, bson.M{"city": "Bergen", "n": 6}).Decode(&found))
	equal(found, rows[6])
}

func cursors(cities *mongo.Collection) {
	sorted := options.Find().SetSort(bson.M{"n": -1}).SetBatchSize(33)
	cursor := must(cities.Find(all, bson.M{}, sorted))
	count := 0
	for ; cursor.Next(all); count++ {
		var row city
		check(cursor.Decode(&row))
		equal(row.ID, 249-count)
	}
	check(cursor.Err())
	equal(count, 250)
}

func updates(cities *mongo.Collection) {
	result := must(cities.UpdateMany(all, bson.M{"city": "Athens"}, bson.M{"$inc": bson.M{"n": 1000}}))
	equal([]int64{result.MatchedCount, result.ModifiedCount}, []int64{50, 50})
	var after city
	late := options.FindOneAndUpdate().SetReturnDocument(options.After)
	check(cities.FindOneAndUpdate(all, bson.M{"_id": 0}, bson.M{"$push": bson.M{"tags": 9}}, late).Decode(&after))
	equal(after, city{0, "Athens", 1000, []int{0, 0, 9}})
}

func bulk(client *mongo.Client, cities *mongo.Collection) {
	models := []mongo.WriteModel{
		mongo.NewInsertOneModel().SetDocument(city{1, "x", 0, nil}),
		mongo.NewUpdateOneModel().SetFilter(bson.M{"_id": 2}).SetUpdate(bson.M{"$set": bson.M{"n": 7}}),
	}
	result, err := cities.BulkWrite(all, models, options.BulkWrite().SetOrdered(false))
	equal(code(err), 11000)
	equal(result.ModifiedCount, int64(1))
	writes := []mongo.ClientBulkWrite{
		{Database: "tour", Collection: "a", Model: mongo.NewClientInsertOneModel().SetDocument(bson.M{"_id": 1})},
		{Database: "tour", Collection: "b", Model: mongo.NewClientInsertOneModel().SetDocument(bson.M{"_id": 1})},
	}
	equal(must(client.BulkWrite(all, writes)).InsertedCount, int64(2))
}

func indexes(cities *mongo.Collection) {
	keys := bson.D{{Key: "city", Value: 1}, {Key: "n", Value: -1}}
	equal(must(cities.Indexes().CreateOne(all, mongo.IndexModel{Keys: keys})), "city_1_n_-1")
	equal(len(must(cities.Indexes().ListSpecifications(all))), 2)
}

func aggregate(cities *mongo.Collection) {
	group := bson.M{"$group": bson.M{"_id": "$city", "count": bson.M{"$sum": 1}}}
	cursor := must(cities.Aggregate(all, bson.A{group, bson.M{"$sort": bson.M{"_id": 1}}}))
	var groups []struct {
		ID    string `bson:"_id"`
		Count int
	}
	check(cursor.All(all, &groups))
	equal(len(groups), 5)
	equal(groups[4].ID, "Espoo")
	equal(groups[4].Count, 50)
}

func transaction(client *mongo.Client, db *mongo.Database) {
	session := must(client.StartSession())
	defer session.EndSession(all)
	_, err := session.WithTransaction(all, func(inside context.Context) (any, error) {
		must(db.Collection("left").InsertOne(inside, bson.M{"_id": 1}))
		return db.Collection("right").InsertOne(inside, bson.M{"_id": 1})
	})
	check(err)
	undo := errors.New("undo")
	_, err = session.WithTransaction(all, func(inside context.Context) (any, error) {
		must(db.Collection("left").InsertOne(inside, bson.M{"_id": 2}))
		return nil, undo
	})
	equal(err, undo)
	equal(must(db.Collection("left").CountDocuments(all, bson.M{})), int64(1))
	equal(must(db.Collection("right").CountDocuments(all, bson.M{})), int64(1))
}

func changes(watched *mongo.Collection) {
	stream := must(watched.Watch(all, mongo.Pipeline{}))
	must(watched.InsertOne(all, bson.M{"_id": 1}))
	equal(stream.Next(all), true)
	equal(stream.Current.Lookup("operationType").StringValue(), "insert")
	check(stream.Close(all))
}

func files(db *mongo.Database) {
	bucket := db.GridFSBucket()
	content := bytes.Repeat([]byte("0123456789abcdef"), 32_000)
	id := must(bucket.UploadFromStream(all, "f.bin", bytes.NewReader(content)))
	var read bytes.Buffer
	must(bucket.DownloadToStream(all, id, &read))
	equal(bytes.Equal(read.Bytes(), content), true)
}

func main() {
	endpoint, key, authority := os.Args[1], os.Args[2], os.Args[3]
	client := connect(endpoint, key, authority)
	db := client.Database("tour")
	cities := db.Collection("cities")
	step("connect", func() { check(client.Ping(all, nil)) })
	step("documents", func() { documents(cities) })
	step("cursors", func() { cursors(cities) })
	step("updates", func() { updates(cities) })
	step("bulk", func() { bulk(client, cities) })
	step("indexes", func() { indexes(cities) })
	step("aggregate", func() { aggregate(cities) })
	step("transaction", func() { transaction(client, db) })
	step("change stream", func() { changes(db.Collection("watched")) })
	step("files", func() { files(db) })
	step("refused", func() {
		_, err := cities.Find(all, bson.M{"n": bson.M{"$nope": 1}})
		equal(code(err), 2)
	})
	step("wrong key", func() {
		equal(code(errors.Unwrap(connect(endpoint, "wrong", authority).Ping(all, nil))), 18)
	})
	step("drop", func() { check(db.Drop(all)) })
	check(client.Disconnect(all))
}
