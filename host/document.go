package host

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/ralph-sdk/ralph/internal/text"
)

// maxSettings bounds settings, in bytes, and their objects and lists: the parser works with the stack.
const (
	maxSettings = 4 << 20
	maxNested   = 50_000
)

// versionField is the field that new settings of some hosts need.
const versionField = "version"

// errTOML is the error for settings that are no JSON.
var errTOML = errors.New("they are TOML, which ralph does not edit: change the [[hooks]] by hand")

// document is a settings file of a host.
type document struct {
	host    *Host
	value   hujson.Value
	bom     []byte
	newline string
	unit    string // of indentation
	made    bool   // there was no file
}

func openSettings(host string, settings []byte) (*Host, *document, error) {
	h, err := Lookup(host)
	if err != nil {
		return nil, nil, err
	}
	if !h.Installable() {
		return nil, nil, fmt.Errorf("ralph knows no settings of %s; set its hook to: ralph eval --host %s --policy NAME", h.Title, h.Name)
	}
	if h.Settings.TOML {
		return h, nil, errTOML
	}
	d := &document{host: h, newline: "\n", unit: "  "}
	src := bytes.TrimPrefix(settings, []byte("\ufeff"))
	d.bom = settings[:len(settings)-len(src)]
	if settings == nil {
		d.made, src = true, []byte("{}\n")
	}
	if len(bytes.TrimSpace(src)) == 0 {
		return nil, nil, fmt.Errorf("the settings are empty, which %s cannot read: write {} there, or remove the file", h.Title)
	}
	if len(src) > maxSettings || bytes.Count(src, []byte("{"))+bytes.Count(src, []byte("[")) > maxNested {
		return nil, nil, errors.New("the settings are too large to be edited")
	}
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

// hook is a command in any of the forms in which hosts write one.
type hook struct {
	Type, Command, Bash, PowerShell string
	Args                            []string
	Timeout, TimeoutSec             float64
	Trigger                         string
	Action                          struct{ Type, Command string }
}

// hookAt returns a hook of the host.
func (h *Host) hookAt(event, line string, args []string, timeout time.Duration) string {
	form, command := h.Settings.hook, text.JSON(line)
	if timeout <= 0 {
		form = regexp.MustCompile(`, "\w+": TIMEOUT`).ReplaceAllString(form, "")
	}
	if !stops(event) {
		form = strings.Replace(form, `, "loop_limit": null`, "", 1) // Cursor's, of a loop
	}
	if args != nil {
		command += `, "args": ` + text.JSON(args)
	}
	n := int(math.Ceil(timeout.Seconds())) * max(h.Settings.unit, 1)
	return strings.NewReplacer("COMMAND", command, "TIMEOUT", strconv.Itoa(n), "EVENT", text.JSON(h.theirs(event))).Replace(form)
}

// hooked returns those of some events at which the host has hooks.
func (h *Host) hooked(events []string) []string {
	return slices.DeleteFunc(slices.Clone(events), func(e string) bool { return h.theirs(e) == "" })
}

// found is a hook that asks ralph, with where it is.
type found struct {
	Entry
	hook  hook
	event string // ralph's name
	path  []step // the field with the hooks, the event unless they are listed, the group unless they are flat, the hook
}

// step is a member of an object or a list.
type step struct {
	in box
	i  int
}

// hooksField returns the name of the field with the hooks.
func (d *document) hooksField() string { return cmp.Or(d.host.Settings.root, "hooks") }

// find returns the hooks of an entry, or all that ask ralph. What does not have the form of hooks is somebody else's.
func (d *document) find(entry Entry) (all []found, err error) {
	name := d.hooksField()
	hooks, at, err := member(d.root(), name)
	if err != nil || at < 0 {
		return nil, err
	}
	path := []step{{box{object: d.root()}, at}}
	list, isList := hooks.(*hujson.Array)
	events, isObject := hooks.(*hujson.Object)
	switch {
	case d.host.Settings.listed && isList:
		return d.inList(list, path, "", entry), nil
	case d.host.Settings.listed:
		return nil, fmt.Errorf("%q in the settings is no list; fix it first", name)
	case !isObject:
		return nil, fmt.Errorf("%q in the settings is no object; fix it first", name)
	}
	for i, m := range events.Members {
		if list, ok := m.Value.Value.(*hujson.Array); ok {
			event := d.host.ours(m.Name.Value.(hujson.Literal).String())
			all = append(all, d.inList(list, append(slices.Clip(path), step{box{object: events}, i}), event, entry)...)
		}
	}
	return all, nil
}

// inList returns the hooks in a list, also those in its groups.
func (d *document) inList(list *hujson.Array, path []step, event string, entry Entry) (all []found) {
	for i, v := range list.Elements {
		at := append(slices.Clip(path), step{box{array: list}, i})
		if group, ok := v.Value.(*hujson.Object); ok {
			if value, _, err := member(group, "hooks"); err == nil && value != nil {
				if inner, ok := value.(*hujson.Array); ok {
					all = append(all, d.inList(inner, at, event, entry)...)
				}
				continue
			}
		}
		if f, ok := d.host.read(v); ok && (entry.Host == "" || f.Is(entry)) {
			f.path, f.event = at, cmp.Or(d.host.ours(f.hook.Trigger), event)
			all = append(all, f)
		}
	}
	return all
}

// read reads a hook that asks ralph.
func (h *Host) read(v hujson.Value) (f found, ok bool) {
	v = v.Clone()
	v.Standardize()
	in := decoded[hook](v.Pack())
	if cmp.Or(in.Type, in.Action.Type, "command") != "command" {
		return found{}, false
	}
	line := cmp.Or(in.Command, in.Bash, in.PowerShell, in.Action.Command)
	words := split(line)
	if in.Args != nil {
		words = append([]string{line}, in.Args...)
	}
	f.Entry, ok = asks(words)
	f.Host, f.hook = cmp.Or(f.Host, h.Name), in
	seconds := cmp.Or(in.Timeout, in.TimeoutSec) / float64(max(h.Settings.unit, 1))
	f.Timeout = time.Duration(min(max(seconds, 0), 1e6) * float64(time.Second))
	return f, ok
}

// inTOML returns the hooks in TOML that ask ralph, as [Manual] writes them.
func (h *Host) inTOML(settings []byte) (all []found) {
	field := regexp.MustCompile(`(?m)^\s*(event|command)\s*=\s*("(?:[^"\\\n]|\\.)*"|'[^'\n]*')`)
	line := 1
	for i, table := range strings.Split(string(settings), "[[hooks]]") {
		at, fields := line, map[string]string{}
		line += strings.Count(table, "\n")
		table, _, _ = strings.Cut(table, "\n[")
		for _, m := range field.FindAllStringSubmatch(table, -1) {
			fields[m[1]] = strings.Trim(m[2], "'")
			if m[2][0] == '"' {
				fields[m[1]] = decoded[string](m[2])
			}
		}
		if e, ok := asks(split(fields["command"])); ok && i > 0 {
			e.Host = cmp.Or(e.Host, h.Name)
			e.Lines = fmt.Sprintf("# line %d\n[[hooks]]%s\n", at, strings.TrimRight(table, " \t\r\n"))
			all = append(all, found{Entry: e, event: h.ours(fields["event"])})
		}
	}
	return all
}

// add puts a hook after those of an event, in a group of its own where the host has groups.
func (d *document) add(event, hook string) error {
	s := d.host.Settings
	if !s.flat && !s.listed {
		hook = `{"hooks": [` + hook + `]}`
	}
	element, list := json.RawMessage(hook), json.RawMessage("["+hook+"]")
	hooks, at, err := member(d.root(), d.hooksField())
	switch {
	case err != nil:
		return err
	case at < 0 && s.listed:
		return d.put(box{object: d.root()}, "", d.hooksField(), list)
	case at < 0:
		return d.put(box{object: d.root()}, "", d.hooksField(), map[string]any{event: list})
	}
	indent, _ := indentation(d.root().Members[at].Name.BeforeExtra)
	if s.listed {
		return d.put(box{array: hooks.(*hujson.Array)}, indent, "", element) // find has seen to it
	}
	events := hooks.(*hujson.Object)
	value, at, err := member(events, event)
	if err != nil {
		return err
	}
	if at < 0 {
		return d.put(box{object: events}, indent, event, list)
	}
	array, ok := value.(*hujson.Array)
	if !ok {
		return fmt.Errorf("%q of %q in the settings is no list; fix it first", event, d.hooksField())
	}
	indent, _ = indentation(events.Members[at].Name.BeforeExtra)
	return d.put(box{array: array}, indent, "", element)
}

// remove takes hooks away, and what becomes empty around them: the group, the list of the event, the field with the hooks. What was empty
// before ralph put something there stays. It reports whether nothing is left, since ralph made the file.
func (d *document) remove(hooks []found) (gone bool) {
	for _, f := range slices.Backward(hooks) { // from the end, so that the others keep their places
		gone = true
		for _, s := range slices.Backward(f.path) {
			if gone = s.in.cut(s.i); !gone {
				gone = s.in.object == d.root() && s.i == 0 && d.onlyVersion()
				break
			}
		}
	}
	return gone
}

// onlyVersion reports whether nothing is left but the version, which follows the hooks only in a file that ralph made.
func (d *document) onlyVersion() bool {
	root := d.root()
	return len(root.Members) == 1 && root.Members[0].Name.Value.(hujson.Literal).String() == versionField &&
		strings.TrimSpace(root.Members[0].Value.String()) == d.host.Settings.version
}
