package rules

import (
	"fmt"
	"io/fs"
	"maps"
)

// Option changes how Parse reads a policy.
type Option func(*config)

type config struct {
	files     fs.FS
	params    map[string]string
	values    map[string]any
	functions map[string]any
	sources   map[string]bool
	effects   map[string]bool
	lazy      bool
}

// WithFiles says where schemas are that a policy names by their paths. Without it, such a schema is an error.
func WithFiles(fsys fs.FS) Option { return func(c *config) { c.files = fsys } }

// WithParams sets params by text, as --set does. An unknown name or a value that breaks the param's schema is a finding.
func WithParams(params map[string]string) Option {
	return func(c *config) { c.params = merged(c.params, params) }
}

// WithValues declares names with the Go types of the values, besides those of the policy. For a fact of source value with that name,
// and without schema, it gives the type. A value nil declares a name of any type.
func WithValues(values map[string]any) Option {
	return func(c *config) { c.values = merged(c.values, values) }
}

// WithFunction declares a function of the embedding program, which expressions call. fn is a Go function, whose last result may be an
// error. It must be safe for concurrent use if the policy is used concurrently.
func WithFunction(name string, fn any) Option {
	return func(c *config) { c.functions = merged(c.functions, map[string]any{name: fn}) }
}

// WithSource declares a source of the embedding program: facts may be written {name: argument}. World.Fact gathers them.
func WithSource(name string) Option {
	return func(c *config) { c.sources = merged(c.sources, map[string]bool{name: true}) }
}

// WithEffect declares an effect of the embedding program: rules may write then: [{name: text}].
func WithEffect(name string) Option {
	return func(c *config) { c.effects = merged(c.effects, map[string]bool{name: true}) }
}

// Lazy makes Parse compile an expression when a decision first reaches it, for a process that makes one decision. What is wrong with it
// is then a problem of the verdict.
func Lazy() Option { return func(c *config) { c.lazy = true } }

func merged[V any](old, more map[string]V) map[string]V {
	out := make(map[string]V, len(old)+len(more))
	maps.Copy(out, old)
	maps.Copy(out, more)
	return out
}

// ValueError is the error of Eval for a value that the program must give and did not, or whose type is wrong. Another try with the same
// Input fails again.
type ValueError struct {
	Name    string // of the fact or value, with the path of the field that was read
	Message string // what was expected
}

func (e *ValueError) Error() string { return fmt.Sprintf("rules: value %s %s", e.Name, e.Message) }
