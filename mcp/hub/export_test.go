package hub

import "context"

// Lasting lets tests end a context in each of its ways.
func Lasting(ctx, end context.Context) (out context.Context, stop func()) {
	l := &lasting{Context: ctx, end: end}
	return l, l.stop
}
