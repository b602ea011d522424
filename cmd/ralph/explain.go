package main

import (
	"github.com/spf13/cobra"
)

func (a *app) explainCommand() *cobra.Command { return &cobra.Command{Use: "explain"} }
