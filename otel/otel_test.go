package otel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/otel"
	"github.com/ralph-sdk/ralph/rules"
)

// build is a source that makes its own span, as a database driver does. With fails, its value cannot be used.
type build struct {
	tracer trace.Tracer
	fails  bool
}

func (build) Kind() rules.SourceKind {
	return rules.SourceKind{Name: "build", Doc: "The targets that are left.", Schema: true}
}

func (b build) Gather(ctx context.Context, q loop.Query) rules.Value {
	_, span := b.tracer.Start(ctx, "query")
	defer span.End()
	if b.fails {
		return rules.Value{Status: rules.Invalid, Problem: "secret is not a number"}
	}
	return rules.ValueOf(q.Fact, map[string]any{"left": 2})
}

const policy = `ralph: 1
facts:
  build: {build: all, schema: {properties: {left: {type: integer}}}}
limits: {continuations: 1}
rules:
  - name: left
    when: build.left > 0
    continue: ${build.left} targets of ${session_id} are left.
`

// seen is a span as tests compare it.
type seen struct {
	Name, Parent string
	Attributes   map[string]any
	Events       []string
	Status       string
}

func TestSpans(t *testing.T) {
	ran := func(ctx context.Context, l *loop.Loop, ev host.Event) { _, _ = l.Run(ctx, ev) }
	stop := host.Event{SessionID: "s1", Host: "codex", ID: "d7"}
	query := seen{Name: "query", Parent: "ralph.decision"}
	for _, test := range []struct {
		name  string
		fails bool
		event host.Event
		do    func(context.Context, *loop.Loop, host.Event)
		want  []seen
	}{
		{name: "continue", event: stop, do: ran, want: []seen{query, {
			Name: "ralph.decision", Parent: "request",
			Attributes: map[string]any{"ralph.event": "Stop", "ralph.host": "codex", "ralph.decision.id": "d7", "session.id": "s1",
				"ralph.policy": "p.yaml", "ralph.action": "continue", "ralph.outcome": "continued", "ralph.rule": "left", "ralph.kept": true},
			Events: []string{"ralph.fact build build ok"},
		}}},
		{name: "preview", event: host.Event{}, do: func(ctx context.Context, l *loop.Loop, ev host.Event) { l.Preview(ctx, ev) }, want: []seen{query, {
			Name: "ralph.decision", Parent: "request",
			Attributes: map[string]any{"ralph.event": "Stop", "ralph.policy": "p.yaml", "ralph.action": "continue", "ralph.outcome": "continued", "ralph.rule": "left", "ralph.kept": false},
			Events:     []string{"ralph.fact build build ok"},
		}}},
		{name: "hook", do: func(ctx context.Context, l *loop.Loop, _ host.Event) {
			l.Hook(ctx, nil, []byte(`{"hook_event_name": "Stop", "session_id": "s1"}`))
		}, want: []seen{query, {
			Name: "ralph.decision", Parent: "request",
			Attributes: map[string]any{"ralph.event": "Stop", "session.id": "s1", "ralph.policy": "p.yaml", "ralph.action": "continue", "ralph.outcome": "continued", "ralph.rule": "left", "ralph.kept": true},
			Events:     []string{"ralph.fact build build ok"},
		}}},
		{name: "a fact that cannot be used", fails: true, event: host.Event{}, do: ran, want: []seen{query, {
			Name: "ralph.decision", Parent: "request",
			Attributes: map[string]any{"ralph.event": "Stop", "ralph.policy": "p.yaml", "ralph.action": "stop", "ralph.outcome": "failed", "ralph.cause": "fact", "ralph.kept": true, "error.type": "fact"},
			Events:     []string{"ralph.fact build build invalid"}, Status: "Error",
		}}},
		{name: "interrupted", event: host.Event{}, do: func(ctx context.Context, l *loop.Loop, ev host.Event) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, _ = l.Run(ctx, ev)
		}, want: []seen{{
			Name: "ralph.decision", Parent: "request",
			Attributes: map[string]any{"ralph.event": "Stop", "ralph.policy": "p.yaml", "ralph.action": "stop", "ralph.outcome": "failed", "ralph.cause": "context", "ralph.kept": false, "error.type": "context"},
			Status:     "Error, context canceled",
		}}},
		{name: "an event of no rule", event: host.Event{Name: host.PreCompact}, do: ran, want: []seen{{
			Name: "ralph.decision", Parent: "request",
			Attributes: map[string]any{"ralph.event": "PreCompact", "ralph.policy": "p.yaml", "ralph.action": "stop", "ralph.outcome": "skipped", "ralph.cause": "event", "ralph.kept": false},
		}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			spans := tracetest.NewInMemoryExporter()
			provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
			tracer := provider.Tracer("test")
			metrics, err := otel.Metrics(sdkmetric.NewMeterProvider())
			if err != nil {
				t.Fatal(err)
			}
			l := load(t, loop.WithSource(build{tracer, test.fails}), otel.Spans(provider), loop.WithRecorder(metrics))
			ctx, request := tracer.Start(t.Context(), "request")
			test.do(ctx, l, test.event)
			request.End()
			got := shown(spans.GetSpans())
			if diff := cmp.Diff(append(test.want, seen{Name: "request"}), got); diff != "" {
				t.Errorf("spans (-want +got)\n%s", diff)
			}
		})
	}
}

func load(t *testing.T, opts ...loop.Option) *loop.Loop {
	t.Helper()
	l, diags := loop.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(policy)}}, "p.yaml", opts...)
	if l == nil {
		t.Fatal(diags.Err())
	}
	return l
}

// shown are spans in the order in which they ended.
func shown(spans tracetest.SpanStubs) (all []seen) {
	names := map[trace.SpanID]string{}
	for _, s := range spans {
		names[s.SpanContext.SpanID()] = s.Name
	}
	for _, s := range spans {
		one := seen{Name: s.Name, Parent: names[s.Parent.SpanID()], Attributes: values(s.Attributes)}
		for _, e := range s.Events {
			of := values(e.Attributes)
			if of["ralph.fact.duration"].(float64) < 0 {
				one.Events = append(one.Events, "a duration below 0")
			}
			one.Events = append(one.Events, strings.Join([]string{e.Name, of["ralph.fact.name"].(string), of["ralph.fact.source"].(string), of["ralph.fact.status"].(string)}, " "))
		}
		if s.Status.Code.String() != "Unset" {
			one.Status = s.Status.Code.String()
			if strings.Contains(s.Status.Description, "context canceled") {
				one.Status += ", context canceled"
			}
		}
		all = append(all, one)
	}
	return all
}

func values(attrs []attribute.KeyValue) map[string]any {
	if len(attrs) == 0 {
		return nil
	}
	out := map[string]any{}
	for _, a := range attrs {
		out[string(a.Key)] = a.Value.AsInterface()
	}
	return out
}

// Decisions are counted by who decided them, and measured; previews are not.
func TestMetrics(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	metrics, err := otel.Metrics(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	if err != nil {
		t.Fatal(err)
	}
	tracer := sdktrace.NewTracerProvider().Tracer("test")
	good := load(t, loop.WithSource(build{tracer, false}), loop.WithRecorder(metrics))
	bad := load(t, loop.WithSource(build{tracer, true}), loop.WithRecorder(metrics))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		_, _ = good.Run(t.Context(), host.Event{SessionID: "s1"})
	}
	good.Preview(t.Context(), host.Event{})
	_, _ = bad.Run(t.Context(), host.Event{})
	_, _ = good.Run(cancelled, host.Event{})

	got := counted(t, reader)
	want := map[string]uint64{
		"ralph.decisions ralph.action=continue,ralph.event=Stop,ralph.outcome=continued,ralph.policy=p.yaml,ralph.rule=left":                                                             1,
		"ralph.decisions ralph.action=stop,ralph.cause=continuations,ralph.event=Stop,ralph.limit=continuations,ralph.outcome=limit,ralph.policy=p.yaml,ralph.rule=limits.continuations": 2,
		"ralph.decisions error.type=fact,ralph.action=stop,ralph.cause=fact,ralph.event=Stop,ralph.outcome=failed,ralph.policy=p.yaml":                                                   1,
		"ralph.decisions error.type=context,ralph.action=stop,ralph.cause=context,ralph.event=Stop,ralph.outcome=failed,ralph.policy=p.yaml":                                             1,
		"ralph.decision.duration ralph.action=continue,ralph.event=Stop,ralph.outcome=continued,ralph.policy=p.yaml":                                                                     1,
		"ralph.decision.duration ralph.action=stop,ralph.event=Stop,ralph.outcome=limit,ralph.policy=p.yaml":                                                                             2,
		"ralph.decision.duration ralph.action=stop,ralph.event=Stop,ralph.outcome=failed,ralph.policy=p.yaml":                                                                            2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// counted are the metrics by name and attributes.
func counted(t *testing.T, reader sdkmetric.Reader) map[string]uint64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	got := map[string]uint64{}
	for _, m := range all.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				got[m.Name+" "+p.Attributes.Encoded(attribute.DefaultEncoder())] = uint64(p.Value)
			}
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				got[m.Name+" "+p.Attributes.Encoded(attribute.DefaultEncoder())] = p.Count
			}
		}
	}
	return got
}

// busy is a store in which something else changes the memory before the first saves.
type busy struct {
	loop.Store
	conflicts int
}

func (b *busy) Save(ctx context.Context, w loop.Write) error {
	if b.conflicts--; b.conflicts >= 0 {
		return loop.ErrConflict
	}
	return b.Store.Save(ctx, w)
}

// Conflicts are counted with the decision, and what is skipped is counted although no log has it.
func TestConflictsAndSkips(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	metrics, err := otel.Metrics(provider)
	if err != nil {
		t.Fatal(err)
	}
	tracer := sdktrace.NewTracerProvider().Tracer("test")
	l := load(t, loop.WithSource(build{tracer, false}), loop.WithRecorder(metrics), otel.Skips(provider), loop.WithScope("acme"), loop.WithStore(&busy{loop.InMemory(), 2}))
	for _, name := range []string{host.Stop, host.PreCompact, host.SessionEnd} {
		_, _ = l.Run(t.Context(), host.Event{Name: name, SessionID: "s1"})
	}
	got := counted(t, reader)
	for name := range got {
		if strings.HasPrefix(name, "ralph.decision") {
			delete(got, name)
		}
	}
	want := map[string]uint64{
		"ralph.conflicts ralph.action=continue,ralph.event=Stop,ralph.outcome=continued,ralph.policy=p.yaml,ralph.rule=left,ralph.scope=acme": 2,
		"ralph.skips ralph.cause=event,ralph.event=PreCompact,ralph.outcome=skipped,ralph.policy=p.yaml,ralph.scope=acme":                     1,
		"ralph.skips ralph.cause=event,ralph.event=SessionEnd,ralph.outcome=skipped,ralph.policy=p.yaml,ralph.scope=acme":                     1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// An effect that fails is counted, and its decision's span is an error; a delivery that comes again says so.
func TestFailuresAndRepeats(t *testing.T) {
	reader, exported := sdkmetric.NewManualReader(), tracetest.NewInMemoryExporter()
	metrics, err := otel.Metrics(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	if err != nil {
		t.Fatal(err)
	}
	l, diags := loop.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte("ralph: 1\nrules: [{name: go, continue: on, then: [{page: x}]}]\n")}}, "p.yaml",
		loop.WithEffect(rules.EffectDecl{Name: "page", Doc: "Pages."}, func(context.Context, loop.Call) error { return errors.New("secret") }),
		loop.WithRecorder(metrics), otel.Spans(sdktrace.NewTracerProvider(sdktrace.WithSyncer(exported))))
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := l.Run(t.Context(), host.Event{ID: "1", SessionID: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, s := range exported.GetSpans() {
		line := s.Status.Code.String() + " " + s.Status.Description
		for _, a := range s.Attributes {
			if a.Key == "ralph.repeated" || a.Key == "ralph.failures" {
				line += fmt.Sprintf(" %s=%v", a.Key, a.Value.AsInterface())
			}
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"Error page was not made ralph.failures=1", "Unset  ralph.repeated=true"}, got); diff != "" {
		t.Errorf("spans (-want +got)\n%s", diff)
	}
	if n := counted(t, reader)["ralph.effects.failed ralph.dead=false,ralph.effect=page,ralph.policy=p.yaml"]; n != 1 {
		t.Errorf("%v", counted(t, reader))
	}
}

// A provider that is nil is refused where it is given.
func TestNoProvider(t *testing.T) {
	if _, err := otel.Metrics(nil); err == nil || !strings.Contains(err.Error(), "has no meter provider: leave it out") {
		t.Errorf("Metrics(nil) returns the error %v", err)
	}
	if l, diags := loop.Load(t.Context(), policies, "ci.yaml", otel.Skips(nil)); l != nil || !strings.Contains(diags.Format(), "otel.Skips has no meter provider: leave it out") {
		t.Errorf("Skips(nil) is not refused: %s", diags.Format())
	}
	l, diags := loop.Load(t.Context(), policies, "ci.yaml", otel.Spans(nil))
	if l != nil || !strings.Contains(diags.Format(), "has no tracer provider: leave it out") {
		t.Errorf("Spans(nil) is not refused: %s", diags.Format())
	}
}
