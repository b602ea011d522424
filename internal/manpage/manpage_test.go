package manpage_test

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/manpage"
)

func tree() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "tool", Short: "A tool"}
	child := &cobra.Command{
		Use: "make FILE...", Short: `Makes "files"`, Run: run,
		Long:    "make reads these files:\n\n.hidden  one whose name begins with a dot\n'quoted' and a\\b",
		Example: "  tool make -n 3 .\n  tool make '*'",
	}
	child.Flags().IntP("number", "n", 2, "how `many`")
	child.Flags().Bool("secret", false, "")
	_ = child.Flags().MarkHidden("secret")
	root.AddCommand(child, &cobra.Command{Use: "internal", Hidden: true, Run: run})
	return root
}

type file struct{ *bytes.Buffer }

func (file) Close() error { return nil }

func TestTree(t *testing.T) {
	got := map[string]*bytes.Buffer{}
	err := manpage.Tree(tree(), "v1.2.3", func(name string) (io.WriteCloser, error) {
		got[name] = new(bytes.Buffer)
		return file{got[name]}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"tool-make.1", "tool.1"}, names); diff != "" {
		t.Fatalf("pages (-want +got)\n%s", diff)
	}
	want := `.TH "TOOL\-MAKE" 1 "" "tool v1.2.3" ""
.SH NAME
tool-make \- Makes "files"
.SH SYNOPSIS
.B tool make FILE... [flags]
.SH DESCRIPTION
.nf
make reads these files:

\&.hidden  one whose name begins with a dot
\(aqquoted\(aq and a\eb
.fi
.SH OPTIONS
.TP
\fB\-h\fR, \fB\-\-help\fR
help for make
.TP
\fB\-n\fR, \fB\-\-number\fR \fImany\fR
how many (default 2)
.SH EXAMPLES
.nf
tool make \-n 3 .
tool make \(aq*\(aq
.fi
.SH SEE ALSO
.BR tool (1)
`
	if diff := cmp.Diff(want, got["tool-make.1"].String()); diff != "" {
		t.Errorf("tool-make.1 (-want +got)\n%s", diff)
	}
}
