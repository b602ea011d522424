package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Texts of policies are kept beside the log, so that old decisions are shown with the policy that made them.
const (
	textDir    = "policies"
	textSuffix = ".json"
	maxText    = 2 << 20 // of one policy with all that it includes
	maxTexts   = 500     // an agent that changes its policy again and again must not fill the disk

	// textAge is how old a text can be and count as just used: a decision looks at its text, and writes nothing.
	textAge = 24 * time.Hour
)

// KeepText saves the result of text under a key unless it is already saved, and records that it is in use. The error is
// an [*Error].
func (s *Store) KeepText(key string, now time.Time, text func() ([]byte, error)) error {
	if s.dir == "" {
		return nil
	}
	path := s.path(textDir, fileName(key, textSuffix))
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		data, err := text()
		if err != nil {
			return failed("write", path, err)
		}
		return errors.Join(s.write("write", data, maxText, textDir, fileName(key, textSuffix)), s.limitTexts())
	case err == nil && !info.Mode().IsRegular():
		err = errNotRegular
	case err == nil && now.Sub(info.ModTime()) > textAge:
		err = os.Chtimes(path, now, now)
	}
	return failed("write", path, err)
}

// Text returns what is saved under a key, or nil. The error is an [*Error].
func (s *Store) Text(key string) ([]byte, error) {
	if s.dir == "" {
		return nil, nil
	}
	path := s.path(textDir, fileName(key, textSuffix))
	data, err := readFile(path, maxText)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, failed("read", path, err)
}

// Sizes returns the sizes of the log and of policies' texts in bytes. Inaccessible files do not count.
func (s *Store) Sizes() (log, texts int64) {
	own, _ := s.list("")
	kept, _ := s.list(textSuffix, textDir)
	for _, path := range append(own, kept...) {
		info, err := os.Lstat(path)
		switch {
		case err != nil || !info.Mode().IsRegular():
		case filepath.Dir(path) != s.dir:
			texts += info.Size()
		case strings.HasPrefix(filepath.Base(path), logName):
			log += info.Size()
		}
	}
	return log, texts
}

// limitTexts removes the text that was not used for longest if there are too many.
func (s *Store) limitTexts() error {
	files, err := s.list(textSuffix, textDir)
	if len(files) <= maxTexts {
		return err
	}
	oldest, at := "", time.Time{}
	for _, path := range files {
		if info, err := os.Lstat(path); err == nil && (oldest == "" || info.ModTime().Before(at)) {
			oldest, at = path, info.ModTime()
		}
	}
	return failed("remove", oldest, remove(oldest))
}
