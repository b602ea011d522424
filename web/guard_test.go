package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/web"
)

// Pages of other origins reach nothing, although the browser has the cookie and sends it to every port.
func TestOtherOrigins(t *testing.T) {
	w := world(t)
	eval(t, w, "s1", "first")
	p := serve(t, w)
	api := p.server.Base + "/api/decisions"
	port := p.server.Base[strings.LastIndex(p.server.Base, ":")+1:]
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>other</title><body>")
	}))
	defer other.Close()
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "evil.test", 1)
	script := func(base string) string {
		return `(async () => {
			const base = ` + web.Quote(base) + `, got = {};
			const load = (name, attributes) => new Promise((done) => {
				const e = Object.assign(document.createElement(name), attributes);
				e.onload = () => { let text = 'loaded'; try { text = e.contentDocument ? 'read ' + e.contentDocument.body.innerText : text; } catch { text = 'loaded, not read'; } done(text); };
				e.onerror = () => done('refused');
				document.body.append(e);
			});
			const ask = (options) => fetch(base + '/api/decisions', options).then(async (r) => r.type === 'opaque' ? 'opaque' : r.status + ' ' + (await r.text()).slice(0, 20), () => 'refused');
			got.fetch = await ask({});
			got.credentials = await ask({ credentials: 'include' });
			got['no-cors'] = await ask({ mode: 'no-cors', credentials: 'include' });
			got.post = await ask({ method: 'POST', credentials: 'include', body: 'x' });
			got.put = await ask({ method: 'PUT', credentials: 'include' });
			got.events = await new Promise((done) => { const e = new EventSource(base + '/api/events', { withCredentials: true }); e.onopen = () => { e.close(); done('open'); }; e.onerror = () => { e.close(); done('refused'); }; });
			got.script = await load('script', { src: base + '/page/app.js' });
			got.module = await load('script', { type: 'module', src: base + '/page/text.js' });
			got.style = await load('link', { rel: 'stylesheet', href: base + '/page/style.css' });
			got.image = await load('img', { src: base + '/api/decisions' });
			return got;
		})()`
	}
	refused := func() map[string]string {
		return map[string]string{
			"fetch": "refused", "credentials": "refused", "no-cors": "refused", "post": "refused", "put": "refused",
			"events": "refused", "script": "refused", "module": "refused", "style": "refused", "image": "refused",
		}
	}
	rebound := "http://evil.test:" + port
	for _, tt := range []struct{ name, from, to string }{
		{"another port", other.URL, p.server.Base},
		{"another site", elsewhere, p.server.Base},
		{"another name of this address", other.URL, rebound},
		{"another site under another name of this address", elsewhere, rebound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := &page{must(p.browser.Tab())(t), t, p.server, p.browser}
			defer q.Close()
			ok(t, q.Go(tt.from))
			got := map[string]string{}
			q.eval(script(tt.to), &got)
			if diff := cmp.Diff(refused(), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			// A frame has the browser's own page of an error.
			var frames []string
			q.eval(`Promise.all(['iframe', 'embed', 'object'].map((name) => new Promise((done) => {
				const e = document.createElement(name);
				e[name === 'object' ? 'data' : 'src'] = `+web.Quote(tt.to+"/")+`;
				const look = () => { try { done(name + ' ' + (e.contentDocument ? e.contentDocument.body.innerText : 'closed')); } catch { done(name + ' closed'); } };
				e.onload = look; e.onerror = () => done(name + ' refused');
				document.body.append(e);
			})))`, &frames)
			for _, f := range frames {
				if !strings.HasSuffix(f, " closed") && !strings.HasSuffix(f, " refused") && !strings.HasSuffix(f, " ") {
					t.Errorf("the frame shows %q", f)
				}
			}
			if said := strings.Join(q.Problems(), "\n"); !strings.Contains(said, "Framing '"+tt.to+"/' violates") {
				t.Errorf("the browser did not refuse the frame: %s", said)
			}
		})
	}

	t.Run("rebinding", func(t *testing.T) {
		q := &page{must(p.browser.Tab())(t), t, p.server, p.browser}
		defer q.Close()
		ok(t, q.Go(rebound+"/"))
		if got := q.text("body"); !strings.Contains(got, "this server answers for") {
			t.Errorf("the page has %q", got)
		}
		var got string
		q.eval("fetch('/api/decisions').then((r) => String(r.status))", &got)
		if got != "421" {
			t.Errorf("a request of its own has status %s", got)
		}
	})
	t.Run("the page itself", func(t *testing.T) {
		var got []string
		p.eval(`Promise.all(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'].map((method) => fetch('/api/decisions', { method }).then((r) => method + ' ' + r.status)))`, &got)
		if diff := cmp.Diff([]string{"GET 200", "POST 405", "PUT 405", "DELETE 405", "PATCH 405", "OPTIONS 405"}, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("another browser", func(t *testing.T) {
		b := browser(t)
		q := &page{must(b.Tab())(t), t, p.server, b}
		for _, address := range []string{p.server.URL, p.server.Base + "/", api, p.server.Base + "/?t=x"} {
			ok(t, q.Go(address))
			if got := q.text("body"); !strings.Contains(got, "run ralph view again") {
				t.Errorf("%s: %q", address, got)
			}
		}
	})
	p.open(p.server.Base + "/") // the one that was let in still is
}
