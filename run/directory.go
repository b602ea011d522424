package run

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/state"
)

// Dir is the directory of the runs in a project. Its files are for people and programs that watch: ralph resumes
// nothing from them, since agents and repositories can write them.
const Dir = ".ralph/runs"

// directory is the directory of one run.
type directory struct {
	root *os.Root
	log  *os.File
}

// logFile has one event a line.
const logFile = "run.jsonl"

// openDirectory opens the directory of the run, and appends events that were not written because of a kill.
func (r *Runner) openDirectory() error {
	d, err := openDirectory(cmp.Or(r.plan.Files, r.plan.Home), r.plan.ID)
	if err == nil && len(r.saved.Events) > 0 {
		var last int
		last, err = d.last()
		for _, ev := range r.saved.Events {
			if err == nil && last < ev.Seq {
				err = d.append(ev)
			}
		}
		if err != nil {
			d.close()
		}
	}
	if err != nil {
		return fmt.Errorf("the directory of the run cannot be used: %w", err)
	}
	r.out.directory = d
	return nil
}

func openDirectory(at, id string) (*directory, error) {
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.MkdirAll(Dir, 0o755); err != nil {
		return nil, err
	}
	name := path.Join(Dir, id) // readable by the user only: agents print what they read
	if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if info, err := root.Stat(name); err != nil || !info.IsDir() { // opening a pipe would block
		return nil, fmt.Errorf("%s is not a directory; remove it", name)
	}
	state.IgnoreDir(root, Dir)
	own, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	log, err := own.OpenFile(logFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		var info fs.FileInfo
		if info, err = log.Stat(); err == nil && !info.Mode().IsRegular() { // a full pipe would block the run
			log.Close()
			err = fmt.Errorf("%s is not a regular file; remove it", path.Join(name, logFile))
		}
	}
	if err != nil {
		own.Close()
		return nil, err
	}
	return &directory{own, log}, nil
}

func (d *directory) close() {
	d.log.Close()
	d.root.Close()
}

// append writes an event in one call.
func (d *directory) append(ev Event) error {
	line, err := json.Marshal(ev)
	if err == nil {
		_, err = io.WriteString(d.log, escape.Person(string(line))+"\n")
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", logFile, err)
	}
	return nil
}

// last returns the number of the last event, and truncates a line left incomplete by a kill.
func (d *directory) last() (int, error) {
	info, err := d.log.Stat()
	if err != nil {
		return 0, err
	}
	const most = 1 << 20 // far more than any line
	start := max(info.Size()-most, 0)
	b := make([]byte, info.Size()-start)
	if _, err := d.log.ReadAt(b, start); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	whole := bytes.LastIndexByte(b, '\n') + 1
	if whole < len(b) {
		if err := d.log.Truncate(start + int64(whole)); err != nil {
			return 0, err
		}
	}
	lines := bytes.Split(bytes.TrimSuffix(b[:whole], []byte("\n")), []byte("\n"))
	var ev Event
	_ = json.Unmarshal(lines[len(lines)-1], &ev) // lines that ralph did not write have no number
	return ev.Seq, nil
}

// outputName returns the file name for the output of iteration n; kind is out or err.
func outputName(n int, kind string) string { return fmt.Sprintf("%04d.%s", n, kind) }

// output creates the file for the output of iteration n. If that fails, the output is not kept: it is only for people.
func (d *directory) output(n int, kind string) *spool {
	if d == nil {
		return &spool{}
	}
	name := outputName(n, kind)
	_ = d.root.Remove(name) // an agent may have created a link or a pipe
	file, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &spool{}
	}
	return &spool{file, bufio.NewWriterSize(file, 64<<10), maxSpool}
}

// maxSpool bounds the output of an iteration on disk.
const maxSpool = 64 << 20

// spool writes the beginning of an output to a file.
type spool struct {
	to   io.WriteCloser
	buf  *bufio.Writer
	left int
}

func (s *spool) Write(b []byte) (int, error) {
	if n := min(len(b), s.left); n > 0 {
		s.left -= n
		_, _ = s.buf.Write(b[:n]) // a full disk must not end the agent
	}
	return len(b), nil
}

func (s *spool) close() {
	if s.to != nil {
		_ = s.buf.Flush()
		_ = s.to.Close()
	}
}

// lines passes on each line written to it, cut to max bytes.
type lines struct {
	max  int
	take func([]byte)
	part bytes.Buffer // doubles as it grows; append would leave several times as much garbage
}

func (l *lines) Write(b []byte) (int, error) {
	n := len(b)
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			l.add(b)
			return n, nil
		}
		if l.part.Len() == 0 && i <= l.max {
			l.take(bytes.TrimSuffix(b[:i], []byte("\r")))
		} else {
			l.add(b[:i])
			l.end()
		}
		b = b[i+1:]
	}
}

func (l *lines) add(b []byte) { l.part.Write(b[:min(len(b), l.max-l.part.Len())]) }

// end passes on what follows the last line end.
func (l *lines) end() {
	if l.part.Len() > 0 {
		l.take(bytes.TrimSuffix(l.part.Bytes(), []byte("\r")))
	}
	l.part.Reset()
}

// tail keeps the end of what is written to it.
type tail struct {
	kept []byte // up to max*2, so that most writes move nothing
	max  int
}

func (t *tail) Write(b []byte) (int, error) {
	n := len(b)
	b = b[max(0, n-t.max):]
	if len(t.kept)+len(b) > 2*t.max {
		t.kept = append(t.kept[:0], t.end()...)
	}
	t.kept = append(t.kept, b...)
	return n, nil
}

func (t *tail) end() []byte { return t.kept[max(0, len(t.kept)-t.max):] }

// newID returns an ID for a run: its start in milliseconds, so that IDs sort by start, then a random part.
func newID(at time.Time) string {
	at = at.UTC()
	return fmt.Sprintf("%s-%03d%s", at.Format("20060102-150405"), at.Nanosecond()/1e6, strings.ToLower(rand.Text()[:4]))
}
