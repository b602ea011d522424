package web_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/web"
)

// appendLog writes to the end of the log, as another process does.
func appendLog(t *testing.T, w *web.World, text string) {
	t.Helper()
	f := must(os.OpenFile(w.Log(), os.O_APPEND|os.O_WRONLY, 0))(t)
	defer f.Close()
	must(f.WriteString(text))(t)
}

// line is a decision in the log.
func line(w *web.World, id string, more string) string {
	return fmt.Sprintf(`{"v":1,"id":%q,"time":"2026-11-23T10:00:00Z","root":%s,"policy":".ralph/policy.yaml","event":"Stop","session":"s1","action":"stop"%s}`, id, web.Quote(w.Dir), more)
}

// shows waits until the timeline has as many decisions as the log, and compares them. A page of the newest rows alone would be too few.
func (p *page) shows(want []string) {
	p.t.Helper()
	noun := "decisions"
	if len(want) == 1 {
		noun = "decision"
	}
	p.wait(fmt.Sprintf("document.querySelector('.found')?.textContent === '%d %s'", len(want), noun))
	if diff := cmp.Diff(want, p.ids()); diff != "" {
		p.t.Errorf("the rows (-log +page)\n%s", diff)
	}
}

// The page shows what happens without being loaded again: no decision is missing, and none is there twice.
func TestLive(t *testing.T) {
	for name, happens := range map[string]func(t *testing.T, w *web.World, p *page){
		"a decision": func(t *testing.T, w *web.World, _ *page) { eval(t, w, "s1", "more") },
		"the log is rotated": func(t *testing.T, w *web.World, p *page) {
			other := strings.Repeat(`{"v":1,"id":"x","time":"2026-11-23T10:00:00Z","root":"/elsewhere","policy":"p","event":"Stop","action":"stop","reason":"`+strings.Repeat("x", 1000)+`"}`+"\n", 4<<10)
			for i := range 3 {
				appendLog(t, w, other)
				eval(t, w, "s1", fmt.Sprint("after ", i))
				p.wait(fmt.Sprintf("document.querySelector('.found')?.textContent === '%d decisions'", i+2))
			}
		},
		"a line that was not finished": func(t *testing.T, w *web.World, _ *page) {
			appendLog(t, w, `{"v":1,"id":"torn","time":"2026-11-`)
			eval(t, w, "s1", "more")
		},
		"a line in two pieces": func(t *testing.T, w *web.World, p *page) {
			whole := line(w, "late", "")
			eval(t, w, "s1", "more")
			appendLog(t, w, whole[:50])
			p.wait("document.querySelector('.found')?.textContent === '2 decisions'")
			appendLog(t, w, whole[50:]+"\n")
		},
		"a line of a newer version": func(t *testing.T, w *web.World, p *page) {
			appendLog(t, w, strings.Replace(line(w, "new", `,"action":{"name":"wait"},"steps":"many"`), `"v":1`, `"v":2`, 1)+"\n")
			p.wait("document.querySelector('.list .k-newer')")
			p.eval("document.querySelector('.list .k-newer').closest('a').click()", nil)
			p.wait("location.hash.startsWith('#/decision/') && document.querySelector('main').textContent.includes('wait')")
			p.view("#/timeline")
			eval(t, w, "s1", "more")
		},
		"two sessions at once": func(t *testing.T, w *web.World, _ *page) { ok(t, w.Fill(t.Context(), 40, 2)) },
		"the machine sleeps": func(t *testing.T, w *web.World, p *page) {
			ok(t, syscall.Kill(p.server.PID, syscall.SIGSTOP))
			eval(t, w, "s1", "while it sleeps")
			ok(t, syscall.Kill(p.server.PID, syscall.SIGCONT))
			eval(t, w, "s1", "awake")
		},
		"the page is frozen": func(t *testing.T, w *web.World, p *page) {
			ok(t, p.Hide(true))
			p.wait("document.querySelector('#state').textContent === 'resting'")
			ok(t, p.Call("Page.setWebLifecycleState", map[string]any{"state": "frozen"}, nil))
			eval(t, w, "s1", "while it is frozen")
			ok(t, p.Call("Page.setWebLifecycleState", map[string]any{"state": "active"}, nil))
			ok(t, p.Hide(false))
			eval(t, w, "s1", "awake")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := world(t)
			eval(t, w, "s1", "first")
			p := serve(t, w)
			p.view("#/timeline")
			p.eval("window.notReloaded = true", nil)
			happens(t, w, p)
			p.shows(logged(t, w))
			p.eval("window.notReloaded", nil)
			p.calm()
		})
	}
}

// wire passes connections on to a server, and can be cut, as ssh -L can.
type wire struct {
	to string
	mu sync.Mutex
	ln net.Listener
	on []net.Conn
}

func (w *wire) listen(address string) error {
	ln, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	w.ln = ln
	go func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp4", w.to)
			if err != nil {
				in.Close()
				continue
			}
			w.mu.Lock()
			w.on = append(w.on, in, out)
			w.mu.Unlock()
			go func() { _, _ = io.Copy(in, out); in.Close() }()
			go func() { _, _ = io.Copy(out, in); out.Close() }()
		}
	}()
	return nil
}

func (w *wire) cut() {
	w.ln.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.on {
		c.Close()
	}
	w.on = nil
}

// A page whose connection is lost says so, and continues where it was when the connection is back.
func TestLostConnection(t *testing.T) {
	w := world(t)
	eval(t, w, "s1", "first")
	reserved := must(net.Listen("tcp4", "127.0.0.1:0"))(t)
	address := reserved.Addr().String()
	reserved.Close()
	b := browser(t)
	s := must(w.View(context.Background(), "--allow-host", address))(t)
	defer s.Close()
	line := &wire{to: strings.TrimPrefix(s.Base, "http://")}
	ok(t, line.listen(address))
	defer line.cut()
	through := *s
	through.URL, through.Base = strings.Replace(s.URL, s.Base, "http://"+address, 1), "http://"+address
	p := open(t, b, &through)
	p.view("#/timeline")
	for i := range 2 {
		p.wait("document.querySelector('#state').textContent === 'live'")
		eval(t, w, "s1", fmt.Sprint("before ", i))
		p.shows(logged(t, w))
		line.cut()
		p.wait("document.querySelector('#state').textContent !== 'live'")
		eval(t, w, "s1", fmt.Sprint("without ", i))
		eval(t, w, "s2", fmt.Sprint("without ", i))
		ok(t, line.listen(address))
		p.wait("document.querySelector('#state').textContent === 'live'")
		p.shows(logged(t, w))
	}
}

// Ten tabs of a browser show the page, although it opens six connections to a server at most: those in the background rest.
func TestTenthTab(t *testing.T) {
	w := world(t)
	eval(t, w, "s1", "first")
	p := serve(t, w)
	p.view("#/timeline")
	last := p
	for range 9 {
		ok(t, last.Hide(true)) // as one behind another
		last.wait("document.hidden && document.querySelector('#state').textContent === 'resting'")
		last = &page{must(p.browser.Tab())(t), t, p.server, p.browser}
		t.Cleanup(last.Close)
		last.open(p.server.Base + "/#/timeline")
		last.wait("document.querySelector('#state').textContent === 'live'")
	}
	eval(t, w, "s1", "second")
	last.shows(logged(t, w))
	ok(t, p.Hide(false))
	p.shows(logged(t, w))
}
