package host

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/ralph-sdk/ralph/internal/text"
)

// Entry is a hook in the settings of a host that asks ralph. Host, Policies and Project are its identity: settings have one entry of
// each, at one or more events.
type Entry struct {
	Host     string
	Policies []string      // as --policy takes them; none is the default policy
	Project  string        // the only project that it is for, in a person's own settings; "": the one in which the host starts it
	Program  string        // the full path of ralph, or "ralph" for the one that PATH finds
	Set      []string      // values of params, as name=value
	Events   []string      // ralph's names, such as "Stop"
	Timeout  time.Duration // for which the host waits, in whole seconds; 0 is the host's own default

	Once         bool // it goes when the work is done
	OnlyApproved bool // policies of a project count only when a person approved them: for settings of all projects
}

// Names returns the policies, or the default one.
func (e Entry) Names() []string {
	if len(e.Policies) == 0 {
		return []string{defaultPolicy}
	}
	return e.Policies
}

// defaultPolicy is the one that ralph eval takes where none is named.
const defaultPolicy = "policy"

// Is reports whether two entries have one identity.
func (e Entry) Is(other Entry) bool { return slices.Equal(e.identity(), other.identity()) }

func (e Entry) identity() []string {
	project := e.Project
	if project != "" {
		project = filepath.Clean(project)
	}
	return append([]string{e.Host, project}, e.Names()...)
}

// Install returns settings with an entry at its events, instead of one with its identity. Every other byte stays. No settings, which is
// no file, become new ones. Settings that the host could not read are an error, which says where.
func Install(settings []byte, entry Entry) ([]byte, error) {
	h, d, err := openSettings(entry.Host, settings)
	if err != nil {
		return nil, err
	}
	line, args, err := command(runtime.GOOS, entry.words(), h.Settings.arguments)
	if err != nil {
		return nil, err
	}
	want := hook{Type: "command", Command: line, Args: args, Timeout: math.Ceil(entry.Timeout.Seconds())}
	old, err := d.find(h, entry)
	if err != nil {
		return nil, err
	}
	is := func(f found, event string) bool { return f.event == event && reflect.DeepEqual(f.hook, want) }
	sorted := slices.SortedFunc(slices.Values(old), func(a, b found) int { return strings.Compare(a.event, b.event) })
	if slices.EqualFunc(sorted, slices.Sorted(slices.Values(entry.Events)), is) {
		return settings, nil
	}
	d.remove(old)
	for _, event := range entry.Events {
		if err := d.add(event, want); err != nil {
			return nil, err
		}
	}
	return d.pack(), nil
}

// Uninstall returns settings without an entry: the bytes that were there before [Install] added it, or nil if it made the file. Settings
// without such an entry come back as they are.
func Uninstall(settings []byte, entry Entry) ([]byte, error) {
	h, d, err := openSettings(entry.Host, settings)
	if err != nil {
		return nil, err
	}
	old, err := d.find(h, entry)
	if err != nil || len(old) == 0 {
		return settings, err
	}
	if d.remove(old) {
		return nil, nil
	}
	return d.pack(), nil
}

// Installed returns the entries in settings of a host that ask ralph, in their order, each with its events sorted. An entry that names no host is for this one.
func Installed(host string, settings []byte) ([]Entry, error) {
	h, d, err := openSettings(host, settings)
	if err != nil {
		return nil, err
	}
	all, err := d.find(h, Entry{})
	var entries []Entry
	for _, f := range all {
		i := slices.IndexFunc(entries, f.Is)
		if i < 0 {
			entries, i = append(entries, f.Entry), len(entries)
			entries[i].Events = nil
		}
		entries[i].Events = append(entries[i].Events, f.event)
		slices.Sort(entries[i].Events)
	}
	return entries, err
}

// Disabled says by which setting a host runs no hook at all, or "". Settings that cannot be read disable nothing.
func (h *Host) Disabled(settings []byte) string {
	_, d, err := openSettings(h.Name, settings)
	if err != nil || h.Settings.off == "" {
		return ""
	}
	if v, _, err := member(d.root(), h.Settings.off); err == nil && v != nil && v.Kind() == 't' {
		return h.Settings.off + " is true"
	}
	return ""
}

// maxSettings bounds settings, in bytes, and their objects and lists: the parser works with the stack.
const (
	maxSettings = 4 << 20
	maxNested   = 50_000
)

// document is a settings file of a host.
type document struct {
	value   hujson.Value
	bom     []byte
	newline string
	unit    string // of indentation
	made    bool   // there was no file
}

func openSettings(host string, settings []byte) (*Host, *document, error) {
	h, ok := Lookup(host)
	if !ok {
		return nil, nil, fmt.Errorf("there is no host %q; %s", host, text.Nearest(host, Names()))
	}
	if h.Settings.Project == "" && h.Settings.User == "" {
		return nil, nil, fmt.Errorf("ralph knows no settings of %s; set its hook to: ralph eval --host %s --policy NAME", h.Title, h.Name)
	}
	d := &document{newline: "\n", unit: "  "}
	src := bytes.TrimPrefix(settings, []byte("\ufeff"))
	d.bom = settings[:len(settings)-len(src)]
	if len(settings) == 0 {
		d.made, src = true, []byte("{}\n")
	}
	if len(src) > maxSettings || bytes.Count(src, []byte("{"))+bytes.Count(src, []byte("[")) > maxNested {
		return nil, nil, errors.New("the settings are too large to be edited")
	}
	var err error
	if d.value, err = hujson.Parse(src); err != nil {
		why := strings.TrimPrefix(err.Error(), "hujson: ")
		if place, _, word := strings.Cut(why, "invalid literal: "); word { // a link may lead to a secret, so no word is shown
			why = place + "invalid literal"
		}
		return nil, nil, fmt.Errorf("the settings are not valid JSON: %s; fix them first", why)
	}
	if !h.Settings.comments && !d.value.IsStandard() {
		return nil, nil, fmt.Errorf("the settings have a comment or a comma before a bracket, and %s reads plain JSON; remove it first", h.Title)
	}
	root, ok := d.value.Value.(*hujson.Object)
	if !ok {
		return nil, nil, errors.New("the settings are no JSON object: { … }")
	}
	if bytes.Contains(src, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	if len(root.Members) > 0 {
		if indent, multiline := indentation(root.Members[0].Name.BeforeExtra); multiline && indent != "" {
			d.unit = indent
		}
	}
	return h, d, nil
}

func (d *document) root() *hujson.Object { return d.value.Value.(*hujson.Object) }

func (d *document) pack() []byte { return append(bytes.Clone(d.bom), d.value.Pack()...) }

// hook is a command as hosts write it, and group the object around it.
type (
	hook struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args,omitempty"`
		Timeout float64  `json:"timeout,omitempty"`
	}
	group struct {
		Hooks []hook `json:"hooks"`
	}
)

// found is a hook that asks ralph, with where it is.
type found struct {
	Entry
	hook  hook
	event string
	path  []step // "hooks", the event, the group, the hook
}

// step is a member of an object or a list.
type step struct {
	in box
	i  int
}

// find returns the hooks of an entry, or all that ask ralph. What does not have the form of hooks is somebody else's.
func (d *document) find(h *Host, entry Entry) (all []found, err error) {
	hooks, at, err := member(d.root(), "hooks")
	if err != nil || at < 0 {
		return nil, err
	}
	events, ok := hooks.(*hujson.Object)
	if !ok {
		return nil, errors.New(`"hooks" in the settings is no object; fix it first`)
	}
	for i, m := range events.Members {
		list, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		for j, v := range list.Elements {
			inner := commands(v)
			for n, v := range inner.Elements {
				f := found{event: m.Name.Value.(hujson.Literal).String()}
				f.Entry, f.hook, ok = h.read(v)
				if ok && (entry.Host == "" || f.Is(entry)) {
					f.path = []step{{box{object: d.root()}, at}, {box{object: events}, i}, {box{array: list}, j}, {box{array: inner}, n}}
					all = append(all, f)
				}
			}
		}
	}
	return all, nil
}

// commands returns the hooks of a group.
func commands(v hujson.Value) *hujson.Array {
	if group, ok := v.Value.(*hujson.Object); ok {
		value, _, err := member(group, "hooks")
		if list, ok := value.(*hujson.Array); ok && err == nil {
			return list
		}
	}
	return &hujson.Array{}
}

// read reads a hook that asks ralph.
func (h *Host) read(v hujson.Value) (e Entry, in hook, ok bool) {
	v = v.Clone()
	v.Standardize()
	if !lenient(v.Pack(), &in) || in.Type != "command" {
		return Entry{}, in, false
	}
	words := split(in.Command)
	if in.Args != nil {
		words = append([]string{in.Command}, in.Args...)
	}
	e, ok = asks(words)
	e.Host = cmp.Or(e.Host, h.Name)
	e.Timeout = time.Duration(min(max(in.Timeout, 0), 1e6) * float64(time.Second))
	return e, in, ok
}

// add puts a hook in a group of its own after those of an event.
func (d *document) add(event string, h hook) error {
	groups := []group{{[]hook{h}}}
	hooks, at, err := member(d.root(), "hooks")
	if err != nil {
		return err
	}
	if at < 0 {
		return d.put(box{object: d.root()}, "", "hooks", map[string]any{event: groups})
	}
	events := hooks.(*hujson.Object) // find has seen to it
	indent, _ := indentation(d.root().Members[at].Name.BeforeExtra)
	list, at, err := member(events, event)
	if err != nil {
		return err
	}
	if at < 0 {
		return d.put(box{object: events}, indent, event, groups)
	}
	array, ok := list.(*hujson.Array)
	if !ok {
		return fmt.Errorf("%q of \"hooks\" in the settings is no list; fix it first", event)
	}
	indent, _ = indentation(events.Members[at].Name.BeforeExtra)
	return d.put(box{array: array}, indent, "", groups[0])
}

// remove takes hooks away, and what becomes empty around them: the group, the list of the event, "hooks". What was empty before ralph
// put something there stays. It reports whether nothing is left, since ralph made the file.
func (d *document) remove(hooks []found) (gone bool) {
	for _, f := range slices.Backward(hooks) { // from the end, so that the others keep their places
		gone = true
		for _, s := range slices.Backward(f.path) {
			if gone = s.in.cut(s.i); !gone {
				break
			}
		}
	}
	return gone
}
