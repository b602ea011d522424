package view_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/view"
)

// A client that did not open the page is refused, whatever it requests and however it got the cookie.
func TestGuard(t *testing.T) {
	w := newWorld(t)
	w.decide("s1")
	b := w.serve(view.Config{AllowHosts: []string{"localhost:8080", "codespace.example"}})
	address := strings.TrimPrefix(b.url, "http://")
	_, port, _ := net.SplitHostPort(address)
	cookie := b.http.Jar.Cookies(must(http.NewRequest("GET", b.url, nil)).URL)[0]
	other := map[string]string{"Cookie": cookie.Name + "=AAAA"}
	none := map[string]string{"Cookie": ""}
	for _, tt := range []struct {
		name, method, path string
		headers            map[string]string
		want               int
	}{
		{name: "the browser that opened it", want: 200},
		{name: "its script", path: "/api/page", headers: map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": b.url}, want: 200},
		{name: "its address bar", headers: map[string]string{"Sec-Fetch-Site": "none"}, want: 200},
		{name: "HEAD", method: "HEAD", want: 200},
		{name: "HEAD of the stream", method: "HEAD", path: "/api/events", want: 200},
		{name: "a name that is allowed", headers: map[string]string{"Host": "localhost:8080", "Origin": "http://localhost:8080"}, want: 200},
		{name: "one without a port, behind TLS", headers: map[string]string{"Host": "codespace.example", "Origin": "https://codespace.example"}, want: 200},
		{name: "one with the port of the server", headers: map[string]string{"Host": "codespace.example:" + port}, want: 200},

		{name: "a foreign name", headers: map[string]string{"Host": "evil.example"}, want: 421},
		{name: "a foreign name with the port", headers: map[string]string{"Host": "evil.example:" + port}, want: 421},
		{name: "localhost", headers: map[string]string{"Host": "localhost:" + port}, want: 421},
		{name: "the address without the port", headers: map[string]string{"Host": "127.0.0.1"}, want: 421},
		{name: "the address with another port", headers: map[string]string{"Host": "127.0.0.1:1"}, want: 421},
		{name: "an allowed name with another port", headers: map[string]string{"Host": "localhost:8081"}, want: 421},
		{name: "a name that begins with an allowed one", headers: map[string]string{"Host": "codespace.example.evil.example"}, want: 421},
		{name: "another site", headers: map[string]string{"Sec-Fetch-Site": "cross-site"}, want: 403},
		{name: "another port of this machine", headers: map[string]string{"Sec-Fetch-Site": "same-site"}, want: 403},
		{name: "a site of an unknown kind", headers: map[string]string{"Sec-Fetch-Site": "x"}, want: 403},
		{name: "another origin", headers: map[string]string{"Origin": "http://evil.example"}, want: 403},
		{name: "the origin of another port", headers: map[string]string{"Origin": "http://127.0.0.1:1"}, want: 403},
		{name: "the origin of a sandbox", headers: map[string]string{"Origin": "null"}, want: 403},
		{name: "the origin of another allowed name", headers: map[string]string{"Origin": "http://localhost:8080"}, want: 403},
		{name: "a frame", headers: map[string]string{"Sec-Fetch-Dest": "iframe"}, want: 403},
		{name: "an object", headers: map[string]string{"Sec-Fetch-Dest": "object"}, want: 403},
		{name: "POST", method: "POST", want: 405},
		{name: "PUT", method: "PUT", path: "/api/page", want: 405},
		{name: "DELETE", method: "DELETE", want: 405},
		{name: "OPTIONS", method: "OPTIONS", want: 405},
		{name: "PATCH", method: "PATCH", want: 405},
		{name: "an unknown method", method: "STOP", want: 405},
		{name: "no cookie", headers: none, want: 403},
		{name: "no cookie for a script", path: "/page/app.js", headers: none, want: 403},
		{name: "no cookie for data", path: "/api/decisions", headers: none, want: 403},
		{name: "no cookie for the stream", path: "/api/events", headers: none, want: 403},
		{name: "another cookie", headers: other, want: 403},
		{name: "the cookie of another port", headers: map[string]string{"Cookie": "ralph_1=" + cookie.Value}, want: 403},
		{name: "a wrong token", path: "/?t=AAAA", headers: none, want: 403},
		{name: "an empty token", path: "/?t=", headers: none, want: 403},
		{name: "a wrong token of the browser that opened it", path: "/?t=AAAA", want: 303},

		{name: "a page that is none", path: "/x", want: 404},
		{name: "a path", path: "/page/../view.go", want: 404},
		{name: "an encoded path", path: "/page/%2e%2e%2fview.go", want: 404},
		{name: "the template", path: "/page/index.html", want: 404},
		{name: "a directory", path: "/page/", want: 404},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := must(http.NewRequest(or(tt.method, "GET"), b.url+or(tt.path, "/"), nil))
			r.AddCookie(cookie)
			for name, value := range tt.headers {
				r.Header.Set(name, value)
			}
			if h := r.Header.Get("Host"); h != "" {
				r.Host = h
			}
			got := must(http.DefaultTransport.RoundTrip(r))
			defer got.Body.Close()
			if got.StatusCode != tt.want {
				body, _ := io.ReadAll(got.Body)
				t.Errorf("%s, want %d: %s", got.Status, tt.want, body)
			}
			if tt.want == 405 && got.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("it allows %q", got.Header.Get("Allow"))
			}
			if got.Header.Get("Set-Cookie") != "" {
				t.Error("it sets a cookie")
			}
			for name, want := range map[string]string{
				"Content-Security-Policy": "frame-ancestors 'none'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
			} {
				if value := got.Header.Get(name); !strings.Contains(value, want) {
					t.Errorf("%s is %q, want %q in it", name, value, want)
				}
			}
			if value := got.Header.Get("Access-Control-Allow-Origin"); value != "" {
				t.Errorf("it allows the origin %q", value)
			}
		})
	}
}

// The token is valid once, for a browser that opens the page with it, and disappears from its address.
func TestToken(t *testing.T) {
	w := newWorld(t)
	s, err := view.New(view.Config{Project: w.project})
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(t.Context())
	base, token, _ := strings.Cut(s.URL(), "/?t=")
	ask := func(method, path string, cookies ...*http.Cookie) *http.Response {
		r := must(http.NewRequest(method, base+path, nil))
		for _, c := range cookies {
			r.AddCookie(c)
		}
		got := must(http.DefaultTransport.RoundTrip(r))
		t.Cleanup(func() { got.Body.Close() })
		return got
	}
	for _, request := range []string{"HEAD /?t=", "POST /?t=", "GET /api/page?t="} { // none of them uses it up
		method, path, _ := strings.Cut(request, " ")
		if got := ask(method, path+token); got.StatusCode < 400 || got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %s", request, got.Status)
		}
	}
	first := ask("GET", "/?t="+token)
	cookies := first.Cookies()
	if first.StatusCode != http.StatusSeeOther || first.Header.Get("Location") != "/" || len(cookies) != 1 {
		t.Fatalf("%s to %q with %v", first.Status, first.Header.Get("Location"), cookies)
	}
	c := cookies[0]
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(base, "http://"))
	if c.Name != "ralph_"+port || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.Value == token || len(c.Value) < 26 {
		t.Errorf("the cookie is %s", c)
	}
	again := ask("GET", "/?t="+token)
	if body := string(must(io.ReadAll(again.Body))); again.StatusCode != http.StatusForbidden || !strings.Contains(body, "run ralph view again") || again.Header.Get("Set-Cookie") != "" {
		t.Errorf("a used token: %s %s", again.Status, body)
	}
	if got := ask("GET", "/?t="+token, c); got.StatusCode != http.StatusSeeOther {
		t.Errorf("a used token in the browser that used it: %s", got.Status)
	}
	if got := ask("GET", "/", c); got.StatusCode != http.StatusOK {
		t.Errorf("the page: %s", got.Status)
	}
}

// The server listens only on the loopback address.
func TestLoopback(t *testing.T) {
	w := newWorld(t)
	b := w.serve(view.Config{})
	if !strings.HasPrefix(b.url, "http://127.0.0.1:") {
		t.Errorf("it is at %s", b.url)
	}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(b.url, "http://"))
	addresses := must(net.InterfaceAddrs())
	for _, a := range addresses {
		ip := a.(*net.IPNet).IP
		if ip.IsLoopback() {
			continue
		}
		if c, err := net.Dial("tcp", net.JoinHostPort(ip.String(), port)); err == nil {
			c.Close()
			t.Errorf("%s answers", ip)
		}
	}
	if _, err := view.New(view.Config{Project: w.project, Port: int(must(net.LookupPort("tcp", port)))}); err == nil || !strings.Contains(err.Error(), "cannot be served") {
		t.Errorf("a port that is in use: %v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprint("a test cannot go on: ", err))
	}
	return v
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
