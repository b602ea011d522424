// Package manpage writes the manual pages of a command tree, in the man(7) form that
// every man program reads.
//
// It is for releases: no command of ralph imports it.
package manpage

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Name is the file of the page of c: ralph-eval.1.
func Name(c *cobra.Command) string { return title(c) + ".1" }

// title is the command with dashes, as man finds it.
func title(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// Write writes the page of c. The version stands at the foot of the page; it has no
// date, so that the same source gives the same bytes.
func Write(w io.Writer, c *cobra.Command, version string) error {
	var p page
	p.line(`.TH %s 1 "" %s ""`, quote(strings.ToUpper(title(c))), quote(strings.TrimSpace(c.Root().Name()+" "+version)))
	p.line(".SH NAME")
	p.text(title(c) + ` \- ` + escape(c.Short))
	p.line(".SH SYNOPSIS")
	if c.Runnable() {
		p.line(".B %s", escape(c.UseLine()))
	} else {
		p.line(".B %s COMMAND", escape(c.CommandPath()))
	}
	p.line(".SH DESCRIPTION")
	p.block(cmp.Or(c.Long, c.Short))
	p.flags("OPTIONS", c.NonInheritedFlags())
	p.flags("OPTIONS OF EVERY COMMAND", c.InheritedFlags())
	if c.HasExample() {
		p.line(".SH EXAMPLES")
		p.block(unindent(c.Example))
	}
	if also := seeAlso(c); also != nil {
		p.line(".SH SEE ALSO")
		for i, name := range also {
			comma := ","
			if i == len(also)-1 {
				comma = ""
			}
			p.line(".BR %s (1)%s", escape(name), comma)
		}
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// Tree calls create for c and each command below it that users see, and writes
// the page to what it gives.
func Tree(c *cobra.Command, version string, create func(name string) (io.WriteCloser, error)) error {
	if c.Hidden || c.IsAdditionalHelpTopicCommand() {
		return nil
	}
	c.InitDefaultHelpFlag()
	f, err := create(filepath.Base(Name(c)))
	if err != nil {
		return err
	}
	err = Write(f, c, version)
	if err := cmp.Or(err, f.Close()); err != nil {
		return err
	}
	for _, sub := range c.Commands() {
		if err := Tree(sub, version, create); err != nil {
			return err
		}
	}
	return nil
}

func seeAlso(c *cobra.Command) (names []string) {
	if c.HasParent() {
		names = append(names, title(c.Parent()))
	}
	for _, sub := range c.Commands() {
		if !sub.Hidden && !sub.IsAdditionalHelpTopicCommand() {
			names = append(names, title(sub))
		}
	}
	return names
}

type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// text writes a line that is escaped already, so that no character at its beginning is a request.
func (p *page) text(line string) {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	p.line("%s", line)
}

// block writes text whose lines stay as they are, as the help shows them.
func (p *page) block(text string) {
	p.line(".nf")
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		p.text(escape(strings.TrimRight(line, " ")))
	}
	p.line(".fi")
}

func (p *page) flags(section string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	p.line(".SH %s", section)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := `\fB` + escape("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			name = `\fB` + escape("-"+f.Shorthand) + `\fR, ` + name
		}
		if value != "" {
			name += ` \fI` + escape(value) + `\fR`
		}
		switch f.DefValue {
		case "", "[]", "false", "0", "0s":
		default:
			usage += " (default " + f.DefValue + ")"
		}
		p.line(".TP")
		p.line("%s", name)
		p.text(escape(usage))
	})
}

// escape writes text so that man shows it as it is, with dashes that can be copied.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\e`, `-`, `\-`, "`", `\(ga`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`).Replace(text)
}

func quote(word string) string { return `"` + strings.ReplaceAll(escape(word), `"`, `\(dq`) + `"` }

// unindent takes away the two blanks that cobra wants before each line of an example.
func unindent(text string) string {
	return strings.ReplaceAll("\n"+text, "\n  ", "\n")[1:]
}
