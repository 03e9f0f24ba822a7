package metrics

import (
	"context"
	"runtime"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
)

// maxWindows bounds the windows of limits that are looked at.
const maxWindows = 1000

// Book is what the state of a store is read from; a store is one.
type Book interface {
	Now(ctx context.Context) (time.Time, error)
	Counts(ctx context.Context, tenant string) ([]action.Count, error)
	Budgets(ctx context.Context, f action.BudgetFilter) ([]action.Budget, error)
	Stops(ctx context.Context, tenant string) ([]action.Stop, error)
	Records(ctx context.Context, f audit.Filter) ([]audit.Record, error)
	Head(ctx context.Context) (audit.Head, error)
}

var _ Book = verbatim.Store(nil)

// WatchBook adds the families of what is open, frozen, taken and recorded.
func WatchBook(r *Registry, b Book, tenant string) {
	watchOpen(r, b, tenant)
	watchLimits(r, b, tenant)
	watchLog(r, b)
}

func watchOpen(r *Registry, b Book, tenant string) {
	number := r.Gauge("verbatim_actions", "Open actions, by state.", "state")
	oldest := r.Gauge("verbatim_oldest_action_seconds", "How long the oldest open action is in its state, by the store's clock; 0 where there is none.", "state")
	stops := r.Gauge("verbatim_stops", "What is frozen.")
	r.Ask(func(ctx context.Context, set Set) error {
		now, err := b.Now(ctx)
		if err != nil {
			return err
		}
		counts, err := b.Counts(ctx, tenant)
		if err != nil {
			return err
		}
		for _, s := range action.Open() {
			set(number, 0, string(s))
			set(oldest, 0, string(s))
		}
		for _, c := range counts {
			set(number, float64(c.Number), string(c.State))
			set(oldest, max(0, now.Sub(c.Oldest).Seconds()), string(c.State))
		}
		frozen, err := b.Stops(ctx, tenant)
		set(stops, float64(len(frozen)))
		return err
	})
}

// watchLimits tells of the fullest window of each limit. Scopes name people
// and targets, so they are no labels.
func watchLimits(r *Registry, b Book, tenant string) {
	taken := r.Gauge("verbatim_limit_taken_ratio", "Posted and reserved, as a part of the most: the fullest window of each limit.", "limit")
	held := r.Gauge("verbatim_limit_reserved_ratio", "Reserved by runs whose outcome is not known yet, as a part of the most: the fullest window of each limit.", "limit")
	r.Ask(func(ctx context.Context, set Set) error {
		windows, err := b.Budgets(ctx, action.BudgetFilter{Tenant: tenant, Limit: maxWindows})
		if err != nil {
			return err
		}
		full, part := map[string]float64{}, map[string]float64{}
		for _, w := range windows {
			if most := float64(w.Most); most > 0 {
				full[w.Name] = max(full[w.Name], (float64(w.Reserved)+float64(w.Posted))/most)
				part[w.Name] = max(part[w.Name], float64(w.Reserved)/most)
			}
		}
		for name, v := range full {
			set(taken, v, name)
			set(held, part[name], name)
		}
		return nil
	})
}

func watchLog(r *Registry, b Book) {
	records := r.Gauge("verbatim_log_records", "Records in the log of the store, which gateways share.")
	unsigned := r.Gauge("verbatim_log_unsigned_records", "Records that are not in the signed tree yet.")
	r.Ask(func(ctx context.Context, set Set) error {
		head, err := b.Head(ctx) // first: the log may grow meanwhile, and must not seem to lag below zero
		if err != nil {
			return err
		}
		last, err := b.Records(ctx, audit.Filter{Limit: 1})
		if err != nil {
			return err
		}
		size := head.Size
		if len(last) > 0 {
			size = max(size, last[0].Seq)
		}
		set(records, float64(size))
		set(unsigned, float64(size-head.Size))
		return nil
	})
}

// WatchProcess adds the families of the process itself.
func WatchProcess(r *Registry, version string) {
	build := r.Gauge("verbatim_build_info", "1, with the version of the program.", "version")
	started := r.Gauge("verbatim_start_time_seconds", "When the program began to serve, in Unix time.")
	goroutines := r.Gauge("verbatim_goroutines", "Goroutines of the process.")
	heap := r.Gauge("verbatim_heap_bytes", "Heap in use.")
	began := float64(time.Now().UnixMilli()) / 1000
	r.Ask(func(_ context.Context, set Set) error {
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		set(build, 1, version)
		set(started, began)
		set(goroutines, float64(runtime.NumGoroutine()))
		set(heap, float64(memory.HeapInuse))
		return nil
	})
}
