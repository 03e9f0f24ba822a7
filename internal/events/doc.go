// Package events turns records of the log into governance events: small facts
// for observability pipelines and security analytics, such as "policy denied
// this call" or "this run failed".
//
// In: the entries of a log, as they are stored. Out: events with ids that are
// the same each time, so that receivers can drop what they have seen; and run
// records, which sum one action up. It fails only for a leaf that is no record.
//
// It promises that an event holds no argument, no result, no target, no reason
// and no proposal hash: what could be guessed from a short argument leaves as
// the log's salted commitment, or not at all. It must never read payloads.
package events
