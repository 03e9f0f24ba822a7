module github.com/seed-de4804fb/verbatim/bench

go 1.26.0

replace github.com/seed-de4804fb/verbatim => ..

require (
	github.com/cedar-policy/cedar-go v1.9.2
	github.com/cyberphone/json-canonicalization v0.0.0-20241213102144-19d51d7fe467
	github.com/go-json-experiment/json v1.27.2
	github.com/google/jsonschema-go v0.4.3
	github.com/gowebpki/jcs v1.0.2
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/seed-de4804fb/verbatim v0.0.0-00010101000000-000000000000
)

require (
	github.com/cockroachdb/apd/v3 v3.2.3 // indirect
	golang.org/x/exp v0.0.0-20231110203233-9a3e6036ecaa // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)
