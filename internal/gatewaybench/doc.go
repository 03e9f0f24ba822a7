// Package gatewaybench measures what the gateway adds to an allowed read, in
// one run with a raw forwarder, httputil.ReverseProxy and a typed proxy of the
// Go SDK. Only ratios of one run mean anything.
//
// Client, proxies and server are processes of their own, as they are in use.
//
// It holds a test only, behind the build tag bench; make bench-gateway runs it.
package gatewaybench
