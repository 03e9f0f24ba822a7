// Package telemetry sends spans, metrics and events of the gate to an
// OpenTelemetry collector (OTLP over HTTP, in protobuf). It is the only
// importer of go.opentelemetry.io.
//
// In: observations of calls, the registry of metrics, governance events. Out:
// POST requests to /v1/traces, /v1/metrics and /v1/logs of one configured
// address, by the guarded client. Names follow the conventions of
// OpenTelemetry for gen_ai and mcp. A collector that is away loses spans and
// metrics, which are counted; events are the sinks', and wait.
//
// It promises that nothing waits for it, that its memory is bounded, and that
// it sends no argument, result, target or reason. The trace context of a
// caller names the parent of a span and decides nothing. It must never touch
// the globals of OpenTelemetry, nor read its configuration from the
// environment.
package telemetry
