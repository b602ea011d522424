package view

import (
	"crypto/subtle"
	"net/http"
	"slices"
)

// admits reports whether a request is one of the browser that opened the address with the token. One that is not was answered. Cookies and
// what browsers call a site ignore ports, so a page on another port is known by its headers.
func (s *Server) admits(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	switch {
	case r.Host != s.address: // a name of others that leads here
		refuse(w, http.StatusMisdirectedRequest, "this server answers for "+s.address)
	case !slices.Contains([]string{"", "none", "same-origin"}, r.Header.Get("Sec-Fetch-Site")), origin != "" && origin != "http://"+s.address:
		refuse(w, http.StatusForbidden, "another page asked for this: copy the address into the address bar")
	case slices.Contains([]string{"iframe", "frame", "embed", "object"}, r.Header.Get("Sec-Fetch-Dest")):
		refuse(w, http.StatusForbidden, "this page does not open inside of another")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "this server answers GET and HEAD only: it changes nothing")
	case r.URL.Query().Has("t"):
		s.open(w, r)
	case !s.knows(r):
		refuse(w, http.StatusForbidden, "open the address that ralph view printed; it works once, so type ralph view again for another browser")
	default:
		return true
	}
	return false
}

// open lets the first browser in that has the token. The token leaves the address bar.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	right := subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("t")), []byte(s.token)) == 1
	switch {
	case s.knows(r):
	case right && r.URL.Path == "/" && r.Method == http.MethodGet && s.used.CompareAndSwap(false, true):
		http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: s.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	default:
		refuse(w, http.StatusForbidden, "this address is wrong, or was opened before: type ralph view again")
		return
	}
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
}

// knows reports whether a request is of the browser that opened the page.
func (s *Server) knows(r *http.Request) bool {
	c, err := r.Cookie(s.cookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(s.secret)) == 1
}

// refuse answers with a sentence, which has nothing of the request.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte("ralph view: " + why + "\n"))
}
