package loop

import (
	"strings"

	"github.com/ralph-sdk/ralph/internal/approval"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
)

// WithTrust sets who says whether a policy may do what needs a user's approval, see
// [rules.SourceKind.Trust], by the files that it is made of. Without it those that
// ship with ralph may, and with [Local] or [WithState] those whose content a user
// approved. A program that brings its own policy says yes to it here.
func WithTrust(trusted func(files []rules.File) bool) Option {
	return func(l *Loop) error {
		l.trusts = trusted
		return nil
	}
}

// trusted reports whether the policy of the loop may do so. It is found out when it
// is first asked for, since most policies never ask.
func (l *Loop) trusted() bool {
	l.trustOnce.Do(func() {
		files := l.program.Files()
		switch {
		case l.trusts != nil:
			l.isTrusted = l.trusts(files)
		default:
			l.isTrusted = shipped(files) || l.disk != nil && l.disk.Approved(approval.Key(files))
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
