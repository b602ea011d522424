package main

import (
	"os"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
)

func TestPolicy(t *testing.T) {
	policytest.Run(t, os.DirFS("."), "policy.yaml", loop.Config())
}
