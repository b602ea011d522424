package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
)

// WithTrust sets who says whether a policy may do what needs a person's approval, see
// [rules.SourceKind.Trust], by the files that it is made of. Without it those that
// ship with ralph may, and with [Local] those whose content a person approved, see
// [TrustKey]. A program that brings its own policy says yes to it here.
func WithTrust(trusted func(files []rules.File) bool) Option {
	return func(l *Loop) error {
		l.trusts = trusted
		return nil
	}
}

// TrustKey names the content of a policy and of all that it includes, names and
// bytes, for the approvals of the store. Any change gives another key. The names
// count from the folder of the policy, so that it is the same policy from wherever
// it is loaded.
func TrustKey(files []rules.File) string {
	h := sha256.New()
	for _, f := range files {
		name := f.Name
		if !strings.HasPrefix(name, "ralph:") {
			if rel, err := filepath.Rel(path.Dir(files[0].Name), name); err == nil {
				name = filepath.ToSlash(rel)
			}
		}
		fmt.Fprintf(h, "%d %d\n%s\n", len(name), len(f.Src), name)
		h.Write(f.Src)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// trusted reports whether the policy of the loop, of which p is all, may do so. It
// is worked out when it is first asked for, since most policies never ask.
func (l *Loop) trusted(p *rules.Program) bool {
	l.trustOnce.Do(func() {
		files := p.Files
		switch {
		case l.trusts != nil:
			l.isTrusted = l.trusts(files)
		default:
			l.isTrusted = shipped(files) || l.disk != nil && l.disk.Approved(TrustKey(files))
		}
	})
	return l.isTrusted
}

// shipped reports whether files are those that ship with ralph, to the byte.
func shipped(files []rules.File) bool {
	for _, f := range files {
		src, err := examples.FS.ReadFile(strings.TrimPrefix(f.Name, "ralph:"))
		if err != nil || string(src) != string(f.Src) {
			return false
		}
	}
	return len(files) > 0
}
