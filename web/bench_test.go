package web_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkView measures the page with 10,000 decisions of 50 sessions, as medians: go test -run - -bench View -benchtime 5x
func BenchmarkView(b *testing.B) {
	w := must(shared.full())(b)
	p := serve(b, w)
	p.view("#/timeline")
	p.wait("document.querySelector('.found')?.textContent.match(/^[0-9,]+ decisions$/)")

	b.Run("first paint", func(b *testing.B) {
		var paints, whole []float64
		for b.Loop() {
			p.open(p.server.Base + "/#/timeline")
			var paint float64
			p.eval(`new Promise((done) => { const look = () => { const e = performance.getEntriesByName('first-contentful-paint')[0]; e ? done(e.startTime) : setTimeout(look, 10); }; look(); })`, &paint)
			paints = append(paints, paint)
			p.wait("document.querySelectorAll('.list a').length > 10")
			var rows float64
			p.eval("performance.now()", &rows)
			whole = append(whole, rows)
		}
		report(b, paints, "ms/paint")
		report(b, whole, "ms/rows")
	})

	// On a machine that does other work as well, a task is longer than the processor is at it: both are reported.
	b.Run("longest task", func(b *testing.B) {
		var wall, cpu []float64
		for b.Loop() {
			stop := must(p.Tasks())(b)
			p.open(p.server.Base + "/#/timeline")
			p.wait("document.querySelector('.list a')")
			p.eval(`(async () => {
				const list = document.querySelector('.list');
				while (document.querySelector('.found').textContent.includes('reading')) await new Promise((r) => setTimeout(r, 10));
				for (;;) {
					const top = list.scrollTop;
					list.scrollTop += 2 * list.clientHeight;
					if (list.scrollTop === top) return;
					await new Promise((r) => requestAnimationFrame(r));
				}
			})()`, nil)
			task, err := stop()
			ok(b, err)
			wall, cpu = append(wall, task.Wall), append(cpu, task.CPU)
		}
		report(b, wall, "ms/task")
		report(b, cpu, "cpu-ms/task")
	})

	b.Run("new decision", func(b *testing.B) {
		p.open(p.server.Base + "/#/timeline")
		p.wait("document.querySelector('#state').textContent === 'live' && document.querySelector('.found').textContent.match(/^[0-9,]+ decisions$/)")
		var shown []float64
		for b.Loop() {
			p.eval(`window.came = new Promise((done) => { const f = document.querySelector('.found'), was = f.textContent;
				const look = () => f.textContent === was ? requestAnimationFrame(look) : requestAnimationFrame(() => done(performance.timeOrigin + performance.now())); look(); })`, nil)
			must(w.Eval(context.Background(), "session-1", "measured"))(b)
			var at float64
			p.eval("window.came", &at)
			info := must(os.Stat(w.Log()))(b)
			shown = append(shown, at-float64(info.ModTime().UnixNano())/1e6)
		}
		report(b, shown, "ms/decision")
	})

	b.Run("idle", func(b *testing.B) {
		p.open(p.server.Base + "/#/timeline")
		p.wait("document.querySelector('#state').textContent === 'live' && document.querySelector('.found').textContent.match(/^[0-9,]+ decisions$/)")
		var page, server []float64
		for b.Loop() {
			before, used, start := p.busy(), processor(b, p.server.PID), time.Now()
			time.Sleep(10 * time.Second)
			took := time.Since(start).Seconds()
			page = append(page, 100*(p.busy()-before)/took)
			server = append(server, 100*(processor(b, p.server.PID)-used)/took)
		}
		report(b, page, "%page")
		report(b, server, "%server")
	})

	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
		}
		status := string(must(os.ReadFile(fmt.Sprintf("/proc/%d/status", p.server.PID)))(b))
		for _, name := range []string{"VmRSS", "VmHWM"} {
			_, after, _ := strings.Cut(status, name+":")
			kib := must(strconv.ParseFloat(strings.Fields(after)[0], 64))(b)
			b.ReportMetric(kib/1024, "MiB/"+name)
		}
	})
}

// report reports the median of the values.
func report(b *testing.B, values []float64, unit string) {
	slices.Sort(values)
	b.ReportMetric(values[len(values)/2], unit)
	b.ReportMetric(0, "ns/op")
}

// busy returns for how many seconds the page has worked.
func (p *page) busy() float64 {
	p.t.Helper()
	ok(p.t, p.Call("Performance.enable", map[string]any{"timeDomain": "threadTicks"}, nil))
	var got struct {
		Metrics []struct {
			Name  string  `json:"name"`
			Value float64 `json:"value"`
		} `json:"metrics"`
	}
	ok(p.t, p.Call("Performance.getMetrics", nil, &got))
	for _, m := range got.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value
		}
	}
	p.t.Fatal("the browser does not say how long it worked")
	return 0
}

// processor returns for how many seconds a process has worked.
func processor(b *testing.B, pid int) float64 {
	stat := string(must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(b))
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	user, system := must(strconv.ParseFloat(fields[11], 64))(b), must(strconv.ParseFloat(fields[12], 64))(b)
	return (user + system) / 100 // USER_HZ
}
