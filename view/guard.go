package view

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
)

// contentPolicy restricts the page to its own scripts, styles and server.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types ralph"

// guard admits only the browser that opened the address with the token. Cookies and what browsers call a site ignore
// ports, so it rejects a page on another port by its headers.
type guard struct {
	address string   // on which the server listens
	hosts   []string // other names of it
	token   string   // of the address that is opened first
	used    atomic.Bool
	cookie  string // name of the cookie
	secret  string // its value
}

func newGuard(address string, hosts []string) *guard {
	_, port, _ := net.SplitHostPort(address) // it is of a listener
	g := &guard{address: address, token: rand.Text(), cookie: "ralph_" + port, secret: rand.Text()}
	for _, h := range hosts {
		g.hosts = append(g.hosts, h, net.JoinHostPort(h, port))
	}
	return g
}

// admits reports whether a request may be answered. One that may not was answered.
func (g *guard) admits(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")

	origin := r.Header.Get("Origin")
	switch {
	case r.Host != g.address && !slices.Contains(g.hosts, r.Host):
		refuse(w, http.StatusMisdirectedRequest, "this server answers for "+g.address+"; for another name start ralph view with --allow-host and the name that the address bar shows")
	case !slices.Contains([]string{"", "none", "same-origin"}, r.Header.Get("Sec-Fetch-Site")):
		refuse(w, http.StatusForbidden, "another page asked for this; copy the address into the address bar instead")
	case origin != "" && origin != "http://"+r.Host && origin != "https://"+r.Host:
		refuse(w, http.StatusForbidden, "another page asked for this")
	case slices.Contains([]string{"iframe", "frame", "embed", "object"}, r.Header.Get("Sec-Fetch-Dest")):
		refuse(w, http.StatusForbidden, "this page does not open inside of another")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "this server only answers GET and HEAD: it changes nothing")
	case r.URL.Query().Has("t"):
		g.open(w, r)
	case !g.knows(r):
		refuse(w, http.StatusForbidden, "open the address that ralph view printed; it opens the page once, so run ralph view again if another browser has opened it")
	default:
		return true
	}
	return false
}

// open lets the first browser in that has the token. The token leaves its address.
func (g *guard) open(w http.ResponseWriter, r *http.Request) {
	right := subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("t")), []byte(g.token)) == 1
	switch {
	case g.knows(r):
	case r.URL.Path == "/" && r.Method == http.MethodGet && right && g.used.CompareAndSwap(false, true):
		http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	default:
		refuse(w, http.StatusForbidden, "this address is not valid, or has been opened before; run ralph view again")
		return
	}
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
}

// knows reports whether a request is from the browser that opened the page.
func (g *guard) knows(r *http.Request) bool {
	c, err := r.Cookie(g.cookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(g.secret)) == 1
}

// refuse answers with a sentence, which has nothing of the request.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte("ralph view: " + why + "\n"))
}
