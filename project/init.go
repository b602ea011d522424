package project

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/rules"
)

//go:embed template/basic.yaml template/basic_test.yaml template/tests.yaml template/tests_test.yaml
var templates embed.FS

// PolicyTemplates returns the templates of [Project.Init]: basic, a loop over the checklist TODO.md, tests, which
// continues until the tests pass, and the shipped policies.
func PolicyTemplates() []string { return append([]string{"basic", "tests"}, Shipped()...) }

// A templateFile is a file that Init writes.
type templateFile struct {
	path    string
	data    []byte
	version string // of the existing file; "" if there is none
}

// InitRequest describes the policy that [Project.Init] writes.
type InitRequest struct {
	Template string // one of [PolicyTemplates]: writes .ralph/NAME.yaml; "" is the first as the default policy
	Force    bool   // replace existing files
	Approve  bool   // the person who asks approves it as written: no values of the project's configuration, no program of the project
}

// Init writes a policy with its tests. It returns the files that it wrote; unapproved says why the policy is not approved
// although that was asked for.
func (p *Project) Init(ctx context.Context, q InitRequest) (written []string, unapproved, err error) {
	files, err := fromTemplate(q.Template)
	if err != nil {
		return nil, nil, err
	}
	src := files[0].data
	var inTheWay []string
	for i := range files {
		f := &files[i]
		old, version, err := p.root.ReadBytes(ctx, f.path)
		switch {
		case err != nil:
			return nil, nil, err
		case version == "":
		case bytes.Equal(old, f.data):
			f.data = nil // unchanged
		default:
			f.version = version
			inTheWay = append(inTheWay, f.path)
		}
	}
	if len(inTheWay) > 0 && !q.Force {
		return nil, nil, fmt.Errorf("%s already exists, so nothing was written; --force replaces it", strings.Join(inTheWay, " and "))
	}
	for _, f := range files {
		if f.data == nil {
			continue
		}
		if err := p.root.Write(ctx, f.path, f.data, f.version); err != nil {
			return written, nil, changed(f.path, err)
		}
		written = append(written, f.path)
	}
	if q.Approve {
		unapproved = p.approveWritten(ctx, files[0].path, src)
	}
	return written, unapproved, nil
}

func (p *Project) approveWritten(ctx context.Context, name string, src []byte) error {
	program, diags := rules.LoadBytes(ctx, name, src, p.Language())
	if program == nil {
		return diags.Err()
	}
	approved, err := approval.Policy{Root: p.dir, Name: name, Files: program.Files()}.Approval(nil)
	if err != nil {
		return err
	}
	approved.At = p.now().UTC()
	return p.orders.Approve(approved)
}

// fromTemplate returns the files of a template: its policy, and its tests if it has any.
func fromTemplate(name string) ([]templateFile, error) {
	base := ".ralph/" + cmp.Or(name, Short(workspace.DefaultPolicy))
	name = cmp.Or(name, PolicyTemplates()[0])
	if policySrc, err := templates.ReadFile("template/" + name + ".yaml"); err == nil {
		testSrc, err := templates.ReadFile("template/" + name + "_test.yaml")
		return []templateFile{{path: base + ".yaml", data: policySrc}, {path: base + "_test.yaml", data: testSrc}}, err
	}
	if !isShipped(name) {
		err := fmt.Errorf("unknown template %q; expected one of %s", name, strings.Join(PolicyTemplates(), ", "))
		if meant := nearest.DidYouMean(name, PolicyTemplates()); meant != "" {
			err = fmt.Errorf("%w; %s", err, meant)
		}
		return nil, err
	}
	policySrc, err := examples.FS.ReadFile(name + "/" + name + ".yaml")
	if err != nil {
		return nil, err
	}
	files := []templateFile{{path: base + ".yaml", data: policySrc}}
	testSrc, err := examples.Tests.ReadFile(name + "/" + name + "_test.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return files, nil
	}
	// Here they are next to the policy, where ralph test finds them.
	testSrc = bytes.Replace(testSrc, []byte("ralph test examples/"+name), []byte("ralph test"), 1)
	return append(files, templateFile{path: base + "_test.yaml", data: testSrc}), err
}
