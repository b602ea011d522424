package e2e

import (
	"net"
	"sync"
	"testing"
)

// A relay is the network between a worker and the server. While it is cut, nothing arrives and nobody is told.
type relay struct {
	listener net.Listener
	mu       sync.Mutex
	healed   chan struct{} // closed: it carries
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: l, healed: make(chan struct{})}
	close(r.healed)
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				<-r.state()
				out, err := net.Dial("tcp", to)
				if err != nil {
					in.Close()
					return
				}
				go r.carry(in, out)
				r.carry(out, in)
			}()
		}
	}()
	t.Cleanup(func() { l.Close(); r.heal() })
	return r
}

func (r *relay) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		<-r.state()
		if _, failed := to.Write(b[:n]); failed != nil || err != nil {
			return
		}
	}
}

func (r *relay) state() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.healed
}

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.healed = make(chan struct{})
}

func (r *relay) heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.healed:
	default:
		close(r.healed)
	}
}
