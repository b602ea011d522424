package run

import (
	"io"
	"os"
	"path/filepath"
	"time"
)

const (
	maxFile = 64 << 20            // bytes of what the agents of a run print that are kept, from the beginning
	oldFile = 30 * 24 * time.Hour // then a file is removed
)

// OpenOutput opens the file below a directory in which a run keeps what its agents print, for Runner.Output. The directory is made with
// mode 0700. Files of runs that printed nothing for 30 days are removed.
func OpenOutput(dir, id string) (io.WriteCloser, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > oldFile {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another process may have done so
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, id+".log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	at, err := f.Seek(0, io.SeekEnd)
	return &output{f, maxFile - at}, err
}

type output struct {
	file *os.File
	left int64
}

func (o *output) Close() error { return o.file.Close() }

// Write accepts everything: an output that is not kept ends no agent.
func (o *output) Write(b []byte) (int, error) {
	if o.left -= int64(len(b)); o.left >= 0 {
		_, _ = o.file.Write(b)
	}
	return len(b), nil
}
