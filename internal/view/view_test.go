package view_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/view"
)

// serve serves what read returns until the test ends.
func serve(t *testing.T, read func(context.Context) view.Data) *view.Server {
	t.Helper()
	s, err := view.Listen(read)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// ask sends one request, follows no redirection, and returns the answer with its body. A header Host is the name that is asked for.
func ask(t *testing.T, method, url string, headers map[string]string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	if host := headers["Host"]; host != "" {
		r.Host = host
	}
	got, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got, string(body)
}

// The token is good for one browser, which then has a cookie, and it leaves the address.
func TestToken(t *testing.T) {
	s := serve(t, func(context.Context) view.Data { return view.Data{} })
	base, token, _ := strings.Cut(s.URL(), "/?t=")
	for _, request := range []string{"HEAD /?t=", "POST /?t=", "GET /data?t="} { // none of them uses it up
		method, path, _ := strings.Cut(request, " ")
		if got, _ := ask(t, method, base+path+token, nil); got.StatusCode < 400 || got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %s", request, got.Status)
		}
	}
	first, _ := ask(t, "GET", s.URL(), nil)
	if first.StatusCode != http.StatusSeeOther || first.Header.Get("Location") != "/" || len(first.Cookies()) != 1 {
		t.Fatalf("%s to %q with %v", first.Status, first.Header.Get("Location"), first.Cookies())
	}
	c := first.Cookies()[0]
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(base, "http://"))
	if c.Name != "ralph_"+port || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.Value == token || len(c.Value) < 26 {
		t.Errorf("the cookie is %s", c)
	}
	if got, body := ask(t, "GET", s.URL(), nil); got.StatusCode != http.StatusForbidden || !strings.Contains(body, "type ralph view again") || got.Header.Get("Set-Cookie") != "" {
		t.Errorf("a used token: %s %s", got.Status, body)
	}
	mine := map[string]string{"Cookie": c.Name + "=" + c.Value}
	if got, _ := ask(t, "GET", s.URL(), mine); got.StatusCode != http.StatusSeeOther {
		t.Errorf("a used token in the browser that used it: %s", got.Status)
	}
	if got, _ := ask(t, "GET", base, mine); got.StatusCode != http.StatusOK {
		t.Errorf("the page: %s", got.Status)
	}
}

// Whoever did not open the page is refused, whatever the request says, and so is a page of others in the browser that did.
func TestGuard(t *testing.T) {
	s := serve(t, func(context.Context) view.Data { return view.Data{} })
	base, _, _ := strings.Cut(s.URL(), "/?t=")
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(base, "http://"))
	opened, _ := ask(t, "GET", s.URL(), nil)
	cookie := opened.Cookies()[0]
	type headers = map[string]string
	for _, tt := range []struct {
		name, method, path string
		headers            headers
		want               int
	}{
		{name: "the browser that opened it", want: 200},
		{name: "its script", path: "/data", headers: headers{"Sec-Fetch-Site": "same-origin", "Origin": base}, want: 200},
		{name: "its address bar", headers: headers{"Sec-Fetch-Site": "none"}, want: 200},
		{name: "HEAD", method: "HEAD", want: 200},
		{name: "another name that leads here", headers: headers{"Host": "evil.example"}, want: 421},
		{name: "one with the port", headers: headers{"Host": "evil.example:" + port}, want: 421},
		{name: "localhost", headers: headers{"Host": "localhost:" + port}, want: 421},
		{name: "the address without the port", headers: headers{"Host": "127.0.0.1"}, want: 421},
		{name: "another site", headers: headers{"Sec-Fetch-Site": "cross-site"}, want: 403},
		{name: "another port of this machine", headers: headers{"Sec-Fetch-Site": "same-site"}, want: 403},
		{name: "another origin", path: "/data", headers: headers{"Origin": "http://evil.example"}, want: 403},
		{name: "the origin of another port", headers: headers{"Origin": "http://127.0.0.1:1"}, want: 403},
		{name: "the origin of a sandbox", headers: headers{"Origin": "null"}, want: 403},
		{name: "a frame", headers: headers{"Sec-Fetch-Dest": "iframe"}, want: 403},
		{name: "POST", method: "POST", want: 405},
		{name: "PUT", method: "PUT", path: "/data", want: 405},
		{name: "OPTIONS", method: "OPTIONS", want: 405},
		{name: "no cookie", headers: headers{"Cookie": ""}, want: 403},
		{name: "no cookie for data", path: "/data", headers: headers{"Cookie": ""}, want: 403},
		{name: "another cookie", headers: headers{"Cookie": cookie.Name + "=AAAA"}, want: 403},
		{name: "the cookie of another port", headers: headers{"Cookie": "ralph_1=" + cookie.Value}, want: 403},
		{name: "a wrong token", path: "/?t=AAAA", headers: headers{"Cookie": ""}, want: 403},
		{name: "an empty token", path: "/?t=", headers: headers{"Cookie": ""}, want: 403},
		{name: "no page", path: "/page/page.js", want: 404},
		{name: "a path", path: "/%2e%2e/view.go", want: 404},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.method == "" {
				tt.method = "GET"
			}
			all := headers{"Cookie": cookie.Name + "=" + cookie.Value}
			for name, value := range tt.headers {
				all[name] = value
			}
			got, body := ask(t, tt.method, base+tt.path, all)
			if got.StatusCode != tt.want || got.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s, want %d: %s", got.Status, tt.want, body)
			}
			for name, want := range map[string]string{
				"Content-Security-Policy": "frame-ancestors 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
			} {
				if value := got.Header.Get(name); !strings.Contains(value, want) {
					t.Errorf("%s is %q, and needs %q", name, value, want)
				}
			}
			if value := got.Header.Get("Access-Control-Allow-Origin"); value != "" {
				t.Errorf("the origin %q may read it", value)
			}
		})
	}
}

// The server listens on the loopback address only.
func TestLoopback(t *testing.T) {
	s := serve(t, func(context.Context) view.Data { return view.Data{} })
	base, _, _ := strings.Cut(s.URL(), "/?t=")
	host, port, _ := net.SplitHostPort(strings.TrimPrefix(base, "http://"))
	if host != "127.0.0.1" {
		t.Errorf("it is at %s", host)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if ip, _, err := net.ParseCIDR(a.String()); err == nil && !ip.IsLoopback() {
			if c, err := net.Dial("tcp", net.JoinHostPort(ip.String(), port)); err == nil {
				c.Close()
				t.Errorf("%s answers", ip)
			}
		}
	}
}

// A page has two scripts, a style and data, whatever the data is, and its policy allows no more.
func TestHostileTexts(t *testing.T) {
	d := states()["hostile"]
	s := serve(t, func(context.Context) view.Data { return d })
	base, _, _ := strings.Cut(s.URL(), "/?t=")
	opened, _ := ask(t, "GET", s.URL(), nil)
	mine := map[string]string{"Cookie": opened.Cookies()[0].Name + "=" + opened.Cookies()[0].Value}
	answer, live := ask(t, "GET", base, mine)
	_, data := ask(t, "GET", base+"/data", mine)
	tags := regexp.MustCompile(`(?i)<(/?script|/?style|img|!--)`)
	want := []string{"<style", "</style", "<script", "</script", "<script", "</script"}
	for name, page := range map[string]string{"live": live, "file": string(view.File(d))} {
		if diff := cmp.Diff(want, tags.FindAllString(page, -1)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="(.*)"`).FindStringSubmatch(page)
		if policy == nil || strings.Contains(policy[1], "unsafe") || !strings.Contains(policy[1], "trusted-types 'none'") ||
			name == "live" && answer.Header.Get("Content-Security-Policy") != policy[1]+"; frame-ancestors 'none'" {
			t.Errorf("%s: the policy is %q", name, policy)
		}
	}
	_, inside, _ := strings.Cut(string(view.File(d)), `type="application/json">`)
	inside, _, _ = strings.Cut(inside, "</script>")
	for name, text := range map[string]string{"answer": data, "file": inside} {
		var got view.Data
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Project != d.Project || len(got.Decisions) != len(hostile) {
			t.Errorf("%s: %v, %q with %d decisions", name, err, got.Project, len(got.Decisions))
		}
	}
	for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "http:", "https:"} {
		if strings.Contains(live, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}
