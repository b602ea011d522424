// Package approval names what a user approves: the content of a policy. It keeps
// nothing itself; package store does.
package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-sdk/ralph/rules"
)

// Key names the content of a policy and of all that it includes, names and
// bytes, for the approvals of the store. Any change gives another key. The names
// count from the folder of the policy, so that it is the same policy from wherever
// it is loaded.
func Key(files []rules.File) string {
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
