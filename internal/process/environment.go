package process

import (
	"slices"
	"strings"
)

// Clean returns the environment for the programs of a policy, and the sorted names of the variables that it leaves out:
// those that make an interpreter, the dynamic loader or git load a file or start a program that no command line names.
// An approval does not cover what they name, and a git hook leads git to another repository with them. Variables that
// only say where to search, such as PATH and PYTHONPATH, stay.
func Clean(env []string) (kept, dropped []string) {
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if !loads(strings.ToUpper(name), value) { // Windows ignores case
			kept = append(kept, v)
		} else if !slices.Contains(dropped, name) {
			dropped = append(dropped, name)
		}
	}
	slices.Sort(dropped)
	return kept, dropped
}

// loads reports whether a variable makes a program load a file or start a program.
func loads(name, value string) bool {
	if slices.Contains(Loading(), name) || strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
		return true
	}
	value = strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(value) // quotes can be anywhere in a word
	if name == "NODE_OPTIONS" {
		value = strings.ReplaceAll(value, "_", "-") // they mean the same
	}
	return slices.ContainsFunc(loadingOptions()[name], func(option string) bool {
		return slices.ContainsFunc(strings.Fields(value), func(word string) bool {
			short := len(option) <= 2 // its value may follow without a separator
			return word == option || strings.HasPrefix(word, option) && (short || strings.ContainsRune(":=", rune(word[len(option)])))
		})
	})
}

// Loading returns the variables that [Clean] leaves out, whatever their value.
func Loading() []string {
	return []string{
		// Files and options of interpreters and of the dynamic loader.
		"BASH_ENV", "ENV", "ZDOTDIR", "PYTHONSTARTUP", "PERL5OPT", "PERL5DB", "RUBYOPT", "PHPRC", "PHP_INI_SCAN_DIR", "LUA_INIT",
		"R_PROFILE", "R_PROFILE_USER", "R_ENVIRON", "R_ENVIRON_USER", "DOTNET_STARTUP_HOOKS",
		"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES",
		// Programs and files of git.
		"GIT_ASKPASS", "GIT_ATTR_SOURCE", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_EDITOR", "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_PAGER",
		"GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_TEMPLATE_DIR",
		// The repository of a git hook, as git rev-parse --local-env-vars lists them.
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_DIR",
		"GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS",
		"GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
	}
}

// loadingOptions returns the options for which [Clean] leaves out a variable that can also hold harmless ones.
func loadingOptions() map[string][]string {
	java := []string{"-javaagent", "-agentlib", "-agentpath", "-Xbootclasspath/a", "-Xbootclasspath/p", "-XX:Flags", "-XX:VMOptionsFile"}
	return map[string][]string{
		"NODE_OPTIONS":      {"--require", "-r", "--import", "--loader", "--experimental-loader", "--env-file", "--env-file-if-exists"},
		"JAVA_TOOL_OPTIONS": java, "JDK_JAVA_OPTIONS": append([]string{"@"}, java...), "_JAVA_OPTIONS": java,
	}
}
