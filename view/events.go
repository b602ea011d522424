package view

import (
	"fmt"
	"net/http"
	"time"
)

// beat is the interval for keeping an idle stream alive.
const beat = 15 * time.Second

// events streams the rows after a number, and each further one as it comes.
func (s *Server) events(w http.ResponseWriter, r *http.Request, after int) {
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	out := http.NewResponseController(w)
	tick := time.NewTicker(beat)
	defer tick.Stop()
	message := ": ralph\n\n" // so that the browser knows at once that the stream is open
	for {
		list, changed := s.data.rows.after(after, atFirst)
		if n := len(list); n > 0 {
			after = list[n-1].N
			message += fmt.Sprintf("id: %d\nevent: rows\ndata: %s\n\nevent: status\ndata: {}\n\n", after, asJSON(list))
		}
		if message != "" {
			if _, err := w.Write([]byte(message)); err != nil || out.Flush() != nil {
				return
			}
			message = ""
			continue // there may be more
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		case <-tick.C:
			message = ": alive\n\nevent: status\ndata: {}\n\n"
		}
	}
}
