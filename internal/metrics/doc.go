// Package metrics counts what happens, and writes it as Prometheus reads it
// (text exposition format 0.0.4).
//
// In: counts and durations with labels of known, small sets of values; and
// functions that are asked for the present state at each scrape. Out: one page
// of text, over HTTP. A state that cannot be read fails nothing else: the page
// leaves it out and verbatim_scrape_errors says so.
//
// It promises that counting never blocks on anything but a short lock and
// allocates nothing for a series that exists, that no family grows without
// bound (beyond MaxSeries all labels are "other"), and that it opens no
// address by itself. It must never be given an argument value, a result, an
// error text, or a name that a model made up.
package metrics
