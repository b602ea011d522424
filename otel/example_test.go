package otel_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing/fstest"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/otel"
)

var policies = fstest.MapFS{"ci.yaml": {Data: []byte(`ralph: 1
facts:
  failing: {input: {type: integer}}
limits: {continuations: 1}
rules:
  - name: repair
    when: failing > 0
    continue: Repair the ${failing} tests that fail.
`)}}

// Each decision is a line of the program's log, a span and a count.
func Example() {
	ctx := context.Background()
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: steady}))
	reader := sdkmetric.NewManualReader() // a program has a periodic reader with an exporter
	metrics, err := otel.Metrics(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	if err != nil {
		fmt.Println(err)
		return
	}
	l, diags := loop.Load(ctx, policies, "ci.yaml",
		loop.WithValues(map[string]any{"failing": 3}),
		otel.Spans(sdktrace.NewTracerProvider(sdktrace.WithSyncer(printer{}))),
		loop.WithRecorder(loop.SlogRecorder(logger), metrics))
	if l == nil {
		fmt.Println(diags.Err())
		return
	}
	for range 2 {
		if _, err := l.Run(ctx, host.Event{SessionID: "s1"}); err != nil {
			fmt.Println(err)
		}
	}

	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range all.ScopeMetrics[0].Metrics {
		fmt.Println("metric", m.Name, m.Unit)
	}
	// Output:
	// level=INFO msg=decision policy=ci.yaml event=Stop action=continue outcome=continued rule=repair streak=0 session=s1 reason="Repair the 3 tests that fail."
	// span ralph.decision continue repair
	// level=INFO msg=decision policy=ci.yaml event=Stop action=stop outcome=limit rule=limits.continuations streak=1 cause=continuations session=s1 reason="the limit of 1 continuations per prompt is reached"
	// span ralph.decision stop limits.continuations
	// metric ralph.decisions {decision}
	// metric ralph.decision.duration s
}

// printer exports spans to the terminal.
type printer struct{}

func (printer) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, s := range spans {
		of := attribute.NewSet(s.Attributes()...)
		action, _ := of.Value("ralph.action")
		rule, _ := of.Value("ralph.rule")
		fmt.Println("span", s.Name(), action.AsString(), rule.AsString())
	}
	return nil
}

func (printer) Shutdown(context.Context) error { return nil }

// steady leaves out what differs each time.
func steady(_ []string, a slog.Attr) slog.Attr {
	switch a.Key {
	case slog.TimeKey, "id", "took_ns":
		return slog.Attr{}
	}
	return a
}
