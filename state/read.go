package state

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-sdk/ralph/internal/jsonedit"
	"github.com/ralph-sdk/ralph/schema"
)

// MaxFileSize bounds a file in bytes. A larger file is invalid.
const MaxFileSize = 8 << 20

// defaultTimeout bounds reading one file, see [File.Timeout].
const defaultTimeout = 2 * time.Second

// Status is the status of a document.
type Status uint8

const (
	OK      Status = iota // there is a document, and it is well formed
	Missing               // there is no document
	Invalid               // there is content, but it is malformed
)

var statusNames = [...]string{"ok", "missing", "invalid"}

// String returns "ok", "missing" or "invalid".
func (s Status) String() string {
	if int(s) >= len(statusNames) {
		return "status " + strconv.Itoa(int(s))
	}
	return statusNames[s]
}

// Format is the format of a file.
type Format uint8

const (
	Text        Format = iota // a trimmed string; the zero value
	JSON                      // one JSON object
	FrontMatter               // Markdown after YAML between two lines of three dashes
	Checklist                 // a Markdown task list

	// LenientFrontMatter is front matter as people write it by hand. Blank lines may precede it, and each top-level
	// field is parsed separately: one that is not YAML is the text of its line, which [Doc.Problem] reports.
	LenientFrontMatter
)

var formatNames = [...]string{"text", "JSON", "front matter", "checklist", "lenient front matter"}

// String returns the format's name for users.
func (f Format) String() string {
	if int(f) >= len(formatNames) {
		return "format " + strconv.Itoa(int(f))
	}
	return formatNames[f]
}

// A File names what to read, and how.
type File struct {
	Path   string // see [Root] for valid paths
	Format Format

	// Schema says which values can be used, for a file that may be half written, and which fields of LenientFrontMatter
	// are strings: where YAML reads a list, an alias or a tag, such a field is the text of its line. It may be nil.
	Schema *schema.Schema

	// Check returns why a well formed document cannot be used, as an error that completes a sentence beginning with its
	// path; the document is then invalid. It may be nil.
	Check func(Doc) error

	// Timeout bounds each read of the file; 0 is 2 s. A file that takes longer is missing. It does not interrupt a read
	// from a disk of this machine, except in the home directory.
	Timeout time.Duration

	// Now is the clock for the file's age; nil is time.Now. It may be fixed: waiting does not depend on it.
	Now func() time.Time
}

// A Doc is the result of reading a file. The format determines which fields after Document are set; all are empty
// unless the status is OK.
type Doc struct {
	Status Status

	// Quiet is set if the document is missing for an ordinary reason: no such file, an empty text, a first line that
	// begins no front matter. Report any other reason to the user.
	Quiet bool

	// Found, of a document that is Quiet, says that something is at the path: an empty text, text without front matter, a
	// link to a file that does not exist.
	Found bool

	// Problem is why the document is missing or invalid, on one line that completes a sentence beginning with its path,
	// with line:col of the document if known: "is not valid JSON: 3:14: unexpected end". It never contains an absolute
	// path. For LenientFrontMatter that is OK it is what was not read as YAML, one a line: "loop.md:3: …".
	Problem string

	Path string // for users: cleaned, relative to the root, or with "~/" in front

	// Version is opaque: equal if and only if content and target of the path are equal; for a file that is too large,
	// size and the part that was read are its content. It is empty if there is no file. Pass it to [Root.Apply].
	Version string

	ModTime time.Time // zero if there is no file

	// Document has the fields of JSON and of front matter: its Value is a map[string]any, with positions in the whole
	// file. The Value is nil for other formats.
	Document schema.Document

	// Unusable lists fields of LenientFrontMatter that have no known value. They are
	// not in the Document.
	Unusable []schema.Violation

	Text  string // Text: the content without surrounding white space and byte order mark
	Body  string // front matter: what follows the closing fence, unchanged
	Items []Item // Checklist: its items in order
}

// Read reads a file. It never fails: problems are in the Doc. A file that was written in the last two seconds and cannot
// be used, by its format or its schema, is read again for up to a second, because something may be writing it.
func (r *Root) Read(ctx context.Context, f File) Doc {
	loc, err := r.locate(f.Path)
	if err != nil {
		doc := Doc{Status: Missing, Path: f.Path, Problem: "cannot be used"}
		var refused *PathError
		if errors.As(err, &refused) {
			doc.Problem = "has an unusable path: it " + refused.Message
		}
		return doc
	}
	for s := newSettling(f); ; {
		raw := r.fetchWithin(ctx, loc, f.Timeout, r.budget)
		doc := raw.decode(f, loc.shown, r.budget)
		if raw.spent || !s.again(ctx, doc) {
			return doc
		}
		r.budget.giveBack(int64(len(raw.data)))
	}
}

// A raw is the content of a file before it is parsed, or the reason why there is none (status is not OK).
type raw struct {
	status  Status
	quiet   bool
	problem string
	data    []byte
	version string
	mod     time.Time
	mode    fs.FileMode
	place   string // of its place; empty if there is no file
	found   bool   // there is a file, or a link to none
	spent   bool   // it did not fit into the budget
}

func absent() raw {
	return raw{status: Missing, quiet: true, problem: "does not exist"}
}

func missing(problem string) raw { return raw{status: Missing, problem: problem} }

// fetchWithin reads the file, with a timeout.
func (r *Root) fetchWithin(ctx context.Context, loc location, timeout time.Duration, b *Budget) raw {
	if ctx.Err() != nil {
		return missing("was not read: out of time")
	}
	read := func() raw { return r.fetch(loc, b) }
	if r.local && !loc.home {
		return read() // local disks do not count against the time
	}
	ctx, done := r.budget.within(ctx, timeout)
	defer done()
	got, ok := await(ctx, false, read)
	if !ok {
		return missing(tooLate(ctx))
	}
	return got
}

// fetch reads the file at loc, if it fits into the budget.
func (r *Root) fetch(loc location, b *Budget) raw {
	at, err := r.resolve(loc)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		got := absent()
		if _, link, _ := r.look(loc); link {
			got.problem, got.found = "is a link to a file that does not exist", true
		}
		return got
	case errors.Is(err, errOutside):
		if loc.home {
			return missing("is a link that leads outside the home directory")
		}
		return missing("is a link that leads outside the project")
	case errors.Is(err, syscall.ELOOP):
		return missing("is a link in a cycle")
	case err != nil:
		return missing("cannot be read: " + reason(err))
	}
	defer at.close()
	return fetchAt(at, b)
}

// fetchAt reads the file at a place without links.
func fetchAt(at place, b *Budget) raw {
	// Check before opening, because opening a device may have effects.
	info, err := at.root.Lstat(at.rel)
	if err == nil && info.Mode().IsRegular() {
		var f *os.File
		if f, err = at.root.OpenFile(at.rel, os.O_RDONLY|openNonblocking, 0); err == nil {
			defer f.Close()
			return readRegular(f, at, b)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return absent()
	case err != nil:
		return missing("cannot be read: " + reason(err))
	}
	return missing(notAFile(info.Mode()))
}

func readRegular(f *os.File, at place, b *Budget) raw {
	info, err := f.Stat()
	if err != nil {
		return missing("cannot be read: " + reason(err))
	}
	if !info.Mode().IsRegular() { // replaced in the meantime
		return missing(notAFile(info.Mode()))
	}
	size := min(info.Size(), MaxFileSize+1)
	if !b.take(size) {
		return raw{status: Missing, problem: b.spent(), spent: true}
	}
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := buf.ReadFrom(io.LimitReader(f, MaxFileSize+1)); err != nil {
		return missing("cannot be read: " + reason(err))
	}
	data := buf.Bytes()
	if grown := int64(len(data)) - size; grown < 0 {
		b.giveBack(-grown)
	} else if !b.take(grown) {
		return raw{status: Missing, problem: b.spent(), spent: true}
	}
	got := raw{
		data:    data,
		version: versionOf(at.id, data),
		mod:     info.ModTime(),
		mode:    info.Mode(),
		place:   at.rel,
		found:   true,
	}
	if len(data) > MaxFileSize {
		got.status, got.problem = Invalid, "is too big: more than 8 MiB"
		got.version += "+" + strconv.FormatInt(info.Size(), 10)
	}
	return got
}

func notAFile(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "is a directory, not a file"
	case mode&fs.ModeNamedPipe != 0:
		return "is a named pipe, not a file"
	case mode&fs.ModeSocket != 0:
		return "is a socket, not a file"
	case mode&fs.ModeSymlink != 0:
		return "is a link that changed while it was read"
	}
	return "is not a regular file"
}

// versionOf returns the version of a content at a place.
func versionOf(place string, data []byte) string {
	h := sha256.New()
	io.WriteString(h, place)
	h.Write([]byte{0})
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// decode parses the bytes, if the document fits into the budget.
func (r *raw) decode(f File, path string, b *Budget) Doc {
	doc := Doc{Status: r.status, Quiet: r.quiet, Found: r.found, Problem: r.problem, Path: path, Version: r.version, ModTime: r.mod}
	if r.status != OK {
		return doc
	}
	fits := true
	var err error
	switch f.Format {
	case Text:
		if doc.Text = strings.TrimSpace(string(trimBOM(r.data))); doc.Text == "" {
			doc.Status, doc.Quiet, doc.Problem = Missing, true, "is empty"
		}
	case Checklist:
		doc.Items = parseChecklist(r.data)
		fits = b.take(perItem * int64(len(doc.Items)))
	case JSON:
		values := perValue * jsonValues(r.data)
		if fits = b.take(values); fits {
			if doc.Document, err = jsonedit.Decode(r.data); err != nil {
				b.giveBack(values)
			}
		}
	case FrontMatter, LenientFrontMatter:
		var m *matter
		if m, err = decodeMatter(r.data, f.Format, f.Schema); err == nil {
			doc.Document, doc.Unusable, doc.Body, doc.Problem = m.document(), m.unusable, string(m.body), m.problem(path)
			fits = b.take(perValue * m.values)
		}
	default:
		err = errors.New("cannot be read as " + f.Format.String())
	}
	if err == nil && fits && doc.Status == OK && f.Check != nil {
		err = f.Check(doc)
	}
	switch {
	case !fits:
		r.spent = true
		return Doc{Status: Missing, Problem: b.spent(), Path: path, Version: r.version, ModTime: r.mod}
	case errors.Is(err, errNoFrontMatter):
		doc.Status, doc.Quiet, doc.Problem = Missing, true, err.Error()
	case err != nil:
		doc.Status, doc.Problem = Invalid, err.Error()
	}
	return doc
}

// trimBOM drops a byte order mark.
func trimBOM(src []byte) []byte { return bytes.TrimPrefix(src, bom) }

var bom = []byte("\xef\xbb\xbf")
