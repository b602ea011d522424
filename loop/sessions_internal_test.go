package loop

import "testing"

// A decision that gives up waits no longer, and one that gives up as its turn comes passes the turn on.
func TestGivingUpATurn(t *testing.T) {
	k := sessionKey{key: Key{Session: t.Name()}}
	came := func(turn chan struct{}) bool {
		select {
		case <-turn:
			return true
		default:
			return false
		}
	}
	if k.queue() != nil {
		t.Fatal("the first decision waits")
	}
	second, third, fourth := k.queue(), k.queue(), k.queue()
	k.leave(third)
	k.next() // of the first
	if !came(second) || came(fourth) {
		t.Fatal("the second does not come next")
	}
	k.leave(second) // its turn has come
	if !came(fourth) || came(third) {
		t.Fatal("the fourth does not come after those that gave up")
	}
	k.next()
	if k.queue() != nil {
		t.Fatal("the session is not free")
	}
	k.next()
}
