package project

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// approval is the document of one approved file.
type approval struct {
	Path   string    `json:"path"`
	SHA256 string    `json:"sha256"`
	Time   time.Time `json:"time"`
}

// An approval is for one file with one content, as direnv does it: a changed file needs a new one.
func approvalKey(f File) string {
	return "approval/" + digest([]byte(f.Path))
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Approved reports whether a person approved a file with the content that it has. A shipped policy needs no approval.
func (h *Home) Approved(ctx context.Context, f File) (bool, error) {
	if f.Path == "" {
		return true, nil
	}
	b, err := h.Store.Load(ctx, approvalKey(f))
	if err != nil || b == nil {
		return false, err
	}
	var a approval
	if err := json.Unmarshal(b, &a); err != nil {
		return false, fmt.Errorf("the approval of %s cannot be read: run ralph trust again: %w", f.Path, err)
	}
	return a.Path == f.Path && a.SHA256 == digest(f.Source), nil
}

// Approve keeps that a person approved a file with the content that it has.
func (h *Home) Approve(ctx context.Context, f File, now time.Time) error {
	b, err := json.Marshal(approval{Path: f.Path, SHA256: digest(f.Source), Time: now})
	if err != nil {
		return err
	}
	return h.Store.Update(ctx, approvalKey(f), func([]byte) ([]byte, error) { return b, nil })
}

// Revoke forgets the approval of a file.
func (h *Home) Revoke(ctx context.Context, f File) error {
	return h.Store.Update(ctx, approvalKey(f), func([]byte) ([]byte, error) { return nil, nil })
}
