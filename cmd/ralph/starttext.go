package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/project"
)

// todosTemplate is the template with the todos of a session.
const todosTemplate = "todos"

// templateList returns the templates, a line each.
func templateList() string {
	var b strings.Builder
	for _, t := range project.Templates() {
		fmt.Fprintf(&b, "  %-10s %s (%d iterations, until %q)\n", t.Name, t.Goal(), t.Max, t.Promise)
	}
	fmt.Fprintf(&b, "  %-10s do the open todos of a session of Claude Code (until %q)\n", todosTemplate, project.TodosPromise)
	return b.String()
}

// filledIn returns the flags with the values of a template or of the session's todos. The user's values override them.
func filledIn(ctx context.Context, p *project.Project, f startFlags, session string) (startFlags, error) {
	from := project.Template{Promise: project.TodosPromise}
	switch {
	case f.template != "" && f.prompt != "":
		return f, errors.New("--prompt and --template exclude each other")
	case f.template == todosTemplate:
		var err error
		if from.Text, err = p.Todos(ctx, session); err != nil {
			return f, err
		}
	case f.template != "":
		all := project.Templates()
		i := slices.IndexFunc(all, func(t project.Template) bool { return t.Name == f.template })
		if i < 0 {
			return f, fmt.Errorf("unknown template %q; expected one of:\n%s", f.template, templateList())
		}
		from = all[i]
	default:
		return f, nil
	}
	f.text = from.Text
	if !f.hasMax && from.Max > 0 {
		f.hasMax, f.max = true, from.Max
	}
	if !f.hasPromise {
		f.hasPromise, f.promise = true, from.Promise
	}
	return f, nil
}
