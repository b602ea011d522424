package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// meaning returns a digest of a file of a policy without its comments, blank lines and layout. A file that cannot be
// parsed means its bytes.
func meaning(src []byte) string {
	h := sha256.New()
	if root, problems := yamltree.Parse(src); root != nil && len(problems) == 0 {
		writeMeaning(h, root)
	} else {
		h.Write(src)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func writeMeaning(w io.Writer, n *yamltree.Node) {
	fmt.Fprintf(w, "%d %d %s %q %d %d\n", n.Kind, n.Style, n.Tag, n.Value, len(n.Fields), len(n.Items))
	for _, f := range n.Fields {
		writeMeaning(w, f.Key)
		writeMeaning(w, f.Value)
	}
	for _, item := range n.Items {
		writeMeaning(w, item)
	}
}
