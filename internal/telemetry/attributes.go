package telemetry

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	res "go.opentelemetry.io/proto/slim/otlp/resource/v1"
)

// scopeName names what made the telemetry.
const scopeName = "github.com/seed-de4804fb/verbatim/internal/telemetry"

func text(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: s}}
}

func pair(key, value string) *common.KeyValue { return &common.KeyValue{Key: key, Value: text(value)} }

// pairs are attributes as they are sent. Only texts, numbers and truth values
// are made here; anything else is a mistake that leaves as its text.
func pairs(list []attribute.KeyValue) []*common.KeyValue {
	out := make([]*common.KeyValue, 0, len(list))
	for _, kv := range list {
		v := text(kv.Value.String())
		switch kv.Value.Type() {
		case attribute.BOOL:
			v.Value = &common.AnyValue_BoolValue{BoolValue: kv.Value.AsBool()}
		case attribute.INT64:
			v.Value = &common.AnyValue_IntValue{IntValue: kv.Value.AsInt64()}
		case attribute.FLOAT64:
			v.Value = &common.AnyValue_DoubleValue{DoubleValue: kv.Value.AsFloat64()}
		case attribute.STRINGSLICE:
			all := &common.ArrayValue{}
			for _, s := range kv.Value.AsStringSlice() {
				all.Values = append(all.Values, text(s))
			}
			v.Value = &common.AnyValue_ArrayValue{ArrayValue: all}
		}
		out = append(out, &common.KeyValue{Key: string(kv.Key), Value: v})
	}
	return out
}

func resourceOf(r *resource.Resource) *res.Resource {
	return &res.Resource{Attributes: pairs(slices.Clone(r.Attributes()))}
}

func scopeOf(s instrumentation.Scope) *common.InstrumentationScope {
	return &common.InstrumentationScope{Name: s.Name, Version: s.Version, Attributes: pairs(s.Attributes.ToSlice())}
}
