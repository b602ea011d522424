package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

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

	Lines string // in settings that ralph does not edit: what a person takes out of them, each part below its place
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

// Install returns settings with an entry at those of its events that the host has, instead of one with its identity. Every other byte
// stays. Nil, which is no file, becomes new ones. Settings that the host could not read are an error, which says where.
func Install(settings []byte, entry Entry) ([]byte, error) {
	h, d, err := openSettings(entry.Host, settings)
	if err != nil {
		return nil, err
	}
	line, args, err := command(runtime.GOOS, entry.words(), h.Settings.arguments)
	if err != nil {
		return nil, err
	}
	old, err := d.find(entry)
	if err != nil {
		return nil, err
	}
	events := h.hooked(entry.Events)
	if len(events) == 0 {
		return nil, fmt.Errorf("%s has no hook at %s", h.Title, strings.Join(entry.Events, " and "))
	}
	wanted := func(event string) string { return h.hookAt(event, line, args, entry.Timeout) }
	same := func(f found, event string) bool {
		return f.event == event && reflect.DeepEqual(f.hook, decoded[hook](wanted(event)))
	}
	sorted := slices.SortedFunc(slices.Values(old), func(a, b found) int { return strings.Compare(a.event, b.event) })
	if slices.EqualFunc(sorted, slices.Sorted(slices.Values(events)), same) {
		return settings, nil
	}
	d.remove(old)
	for _, event := range events {
		if err := d.add(h.theirs(event), wanted(event)); err != nil {
			return nil, err
		}
	}
	if d.made && h.Settings.version != "" {
		err = d.put(box{object: d.root()}, "", versionField, json.RawMessage(h.Settings.version))
	}
	return d.pack(), err
}

// Manual returns the text of an entry for settings that ralph does not edit, which a person adds at their end.
func Manual(entry Entry) (tables string, err error) {
	h, err := Lookup(entry.Host)
	if err != nil {
		return "", err
	}
	line, _, err := command(runtime.GOOS, entry.words(), false)
	for _, event := range h.hooked(entry.Events) {
		seconds := min(max(math.Ceil(entry.Timeout.Seconds()), 1), maxTOML)
		tables += fmt.Sprintf("\n[[hooks]]\nevent = %s\ncommand = %s\ntimeout = %.0f\n", text.JSON(event), text.JSON(line), seconds)
	}
	return strings.TrimPrefix(tables, "\n"), err
}

// maxTOML is the longest timeout of Kimi Code, in seconds.
const maxTOML = 600

// Uninstall returns settings without an entry: the bytes that were there before [Install] added it, or nil if it made the file. Settings
// without such an entry come back as they are.
func Uninstall(settings []byte, entry Entry) ([]byte, error) {
	_, d, err := openSettings(entry.Host, settings)
	if err != nil {
		return nil, err
	}
	old, err := d.find(entry)
	if err != nil || len(old) == 0 {
		return settings, err
	}
	if d.remove(old) {
		return nil, nil
	}
	return d.pack(), nil
}

// Installed returns the entries in settings of a host that ask ralph, in their order, each with its events sorted. An entry that names no
// host is for this one.
func Installed(host string, settings []byte) ([]Entry, error) {
	h, d, err := openSettings(host, settings)
	var all []found
	switch {
	case err == nil:
		all, err = d.find(Entry{})
	case errors.Is(err, errTOML):
		all, err = h.inTOML(settings), nil
	}
	var entries []Entry
	for _, f := range all {
		i := slices.IndexFunc(entries, f.Is)
		if i < 0 {
			entries, i = append(entries, f.Entry), len(entries)
			entries[i].Events, entries[i].Lines = nil, ""
		}
		entries[i].Events = append(entries[i].Events, f.event)
		entries[i].Lines += f.Lines
		slices.Sort(entries[i].Events)
	}
	return entries, err
}

// Peek is what settings have beside the hooks of ralph. Settings that cannot be read have nothing.
type Peek struct {
	DisableAllHooks bool            // no hook runs
	EnabledPlugins  map[string]bool // by name@marketplace
	Hooks           json.RawMessage
}

// Peek reads settings of the host.
func (h *Host) Peek(settings []byte) (p Peek) {
	if _, d, err := openSettings(h.Name, slices.Clone(settings)); err == nil { // it changes the bytes
		d.value.Standardize()
		p = decoded[Peek](d.value.Pack())
	}
	return p
}
