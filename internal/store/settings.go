package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

const (
	settingsDir     = "settings"
	settingsSuffix  = ".json"
	maxSettingsSize = 64 << 10
)

// madeParts is what a file of settingsDir holds.
type madeParts struct {
	File string   `json:"file"`
	Made []string `json:"made"`
}

// Made lists the parts of a host's settings file that ralph made, as SaveMade keeps
// them. If they cannot be read, there are none.
func (s *Store) Made(file string) []string {
	if s.dir == "" {
		return nil
	}
	path := s.path(settingsDir, fileName(file, settingsSuffix))
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSettingsSize {
		return nil
	}
	data, err := os.ReadFile(path)
	var parts madeParts
	if err != nil || json.Unmarshal(data, &parts) != nil || parts.File != file {
		return nil
	}
	return parts.Made
}

// SaveMade keeps which parts of a host's settings file ralph made, in the place of
// what it kept before. The error is an [*Error].
func (s *Store) SaveMade(file string, made []string) error {
	const op = "write"
	path := s.path(settingsDir, fileName(file, settingsSuffix))
	if len(made) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &Error{Path: path, Op: op, Err: err}
		}
		return nil
	}
	data, err := json.MarshalIndent(madeParts{file, made}, "", "  ")
	if err != nil {
		return &Error{Path: path, Op: op, Err: err}
	}
	if err := s.ensure(op, settingsDir); err != nil {
		return err
	}
	if err := replace(path, append(data, '\n')); err != nil {
		return &Error{Path: path, Op: op, Err: err}
	}
	return nil
}
