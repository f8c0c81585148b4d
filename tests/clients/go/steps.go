package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// step prints its name once it has held: a failure is the step after the last one printed.
func step(name string, run func()) {
	run()
	fmt.Println(name)
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	panic("the tour ends here")
}

func must[T any](value T, err error) T {
	if err != nil {
		fail("%v", err)
	}
	return value
}

func equal(actual, expected any) {
	if !reflect.DeepEqual(actual, expected) {
		fail("expected %v, got %v", expected, actual)
	}
}

// refused checks the status of an error; the value next to it is of no interest.
func refused[T any](status int) func(T, error) {
	return func(_ T, err error) {
		var response *azcore.ResponseError
		if !errors.As(err, &response) {
			fail("expected a refusal with %d, got %v", status, err)
		}
		equal(response.StatusCode, status)
	}
}

func packed(value any) []byte {
	return must(json.Marshal(value))
}

func unpacked[T any](bytes []byte) T {
	var value T
	if err := json.Unmarshal(bytes, &value); err != nil {
		fail("%v of %s", err, bytes)
	}
	return value
}
