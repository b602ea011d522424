package main

import "github.com/spf13/cobra"

// dailyCommands set loops up, start, watch and end them.
func (a *app) dailyCommands() []*cobra.Command {
	return []*cobra.Command{
		a.initCommand(), a.installCommand(), a.uninstallCommand(),
		a.startCommand(), a.stopCommand(), a.pauseCommand(), a.resumeCommand(),
		a.statusCommand(), a.logCommand(), a.schemaCommand(), a.fmtCommand(),
		a.doctorCommand(),
	}
}
