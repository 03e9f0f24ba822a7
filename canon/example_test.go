package canon_test

import (
	"fmt"

	"github.com/seed-de4804fb/verbatim/canon"
)

func Example() {
	v, err := canon.Decode([]byte(`{"b": 1e2, "a": "caf\u00e9"}`), canon.Options{Exact: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n%s\n", v.Canonical(), canon.Sum(v.Canonical()))

	_, err = canon.Decode([]byte(`{"id": 9007199254740993}`), canon.Options{Exact: true})
	fmt.Println(err)
	// Output:
	// {"a":"café","b":100}
	// b9280fe4e2625fe5c95d5442f3f720838f0cb7ec62097c1dcb34c92adaa1754b
	// at /id, byte 7: unsafe_integer: expected an integer within ±9007199254740991; send it as a string
}
