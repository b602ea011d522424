package attack_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Where a disk is full, a quota is used up, or there is no name for one more file, nothing is counted, so no agent
// continues. Once there is room, the session counts on where it was. The file systems are real, and small.
func TestFullDisks(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	const quota = `truncate -s 128M "$TMPDIR/disk" && mkfs.btrfs -q "$TMPDIR/disk" && mount -o loop "$TMPDIR/disk" "$small" && chmod 700 "$small" &&
		btrfs quota enable "$small" && btrfs qgroup limit 1M "$small"`
	const script = `
eval "$mount" >&2 || exit 77
stop() { echo "{\"session_id\":\"$1\",\"hook_event_name\":\"Stop\",\"cwd\":\"$PWD\"}" | ralph eval; echo; }
mkdir "$PROJECT/.ralph"; cd "$PROJECT"; echo '{"n": 0}' > state.json
cat > .ralph/policy.yaml <<'END'
ralph: 1
facts: {state: {json: state.json, schema: {properties: {n: {type: integer, default: 0}}}}}
rules: [{name: r, continue: 'on, ${loop.total} so far', then: [{set: state.n = state.n + 1}]}]
END
stop a; sync
eval "$fill" 2>/dev/null
echo full; stop $next; stop $next; echo free
find "$small" -name fill\* -delete; sync
stop a
cat state.json
`
	const fill = `yes > "$small/fill"`
	for _, c := range []struct{ name, small, mount, fill, next string }{
		{"counts", "STATE", `mount -t tmpfs -o mode=700,size=256k tmpfs "$small"`, fill, "b"},
		{"names of counts", "STATE", `mount -t tmpfs -o mode=700,nr_inodes=40 tmpfs "$small"`, `for i in $(seq 50); do touch "$small/fill$i"; done`, "b"},
		{"effects", "PROJECT", `mount -t tmpfs -o mode=700,size=64k tmpfs "$small"`, fill, "a"},
		{"quota of counts", "STATE", quota, fill, "b"},
		{"quota of effects", "PROJECT", quota, fill, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := newAssault(t, &scene{}, "")
			cmd := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", script)
			cmd.Env = append(a.env, "small="+a.places[c.small], "PROJECT="+a.places["PROJECT"], "mount="+c.mount, "fill="+c.fill, "next="+c.next)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 77 {
				t.Skipf("this system cannot make the file system: %s", stderr.String())
			}
			before, rest, _ := strings.Cut(string(out), "full\n")
			full, after, _ := strings.Cut(rest, "free\n")
			if err != nil || !strings.Contains(before, "on, 0 so far") {
				t.Fatalf("%v, it says %s%s", err, out, stderr.String())
			}
			if ends := strings.Count(full, "so it ends") + strings.Count(full, "so the loop ends") + strings.Count(full, "so the loop cannot be counted"); strings.Contains(full, "block") || ends < 2 {
				t.Errorf("on the full disk it says\n%s", full)
			}
			if !strings.Contains(after, "on, 1 so far") || !strings.Contains(after, `{"n": 2}`) {
				t.Errorf("once there is room it says\n%s", after)
			}
		})
	}
}
