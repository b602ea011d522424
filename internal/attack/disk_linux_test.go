package attack_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// On a disk without room, with a quota that is used up, or without a name for one more file, nothing is counted, so no
// agent continues, and the session counts on where it was once there is room. The file systems are real and small.
func TestFullDisks(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	const policy = "ralph: 1\nfacts: {state: {json: state.json, schema: {properties: {n: {type: integer, default: 0}}}}}\nrules: [{name: r, continue: 'on, ${loop.total} so far', then: [{set: state.n = state.n + 1}]}]\n"
	// $1 is the small file system, and $2 is who runs ralph. A file that takes what is left stands for another program.
	const script = `
stop() { echo "{\"session_id\":\"$1\",\"hook_event_name\":\"Stop\",\"cwd\":\"$PWD\"}" | $as ralph eval; echo; }
chown -R $owner "$RALPH_STATE_DIR" .
stop a
$as sh -c "$fill" 2>/dev/null
echo full; stop $next; stop $next; echo free
find "$small" -name fill\* -delete
stop a
cat state.json
`
	for _, c := range []struct{ name, small, mount, owner, as, fill, next string }{
		{"counts", "STATE", "size=256k", "0", "", `yes > "$small/fill"`, "a"},
		{"counts of another session", "STATE", "size=256k", "0", "", `yes > "$small/fill"`, "b"},
		{"names of counts", "STATE", "nr_inodes=40", "0", "", `for i in $(seq 50); do : > "$small/fill$i"; done`, "b"},
		{"effects", "PROJECT", "size=64k", "0", "", `yes > "$small/fill"`, "a"},
		{"quota of counts", "STATE", "size=64m,usrquota,usrquota_block_hardlimit=256k", "65534", "setpriv --reuid 65534 --clear-groups", `yes > "$small/fill"`, "a"},
		{"quota of effects", "PROJECT", "size=64m,usrquota,usrquota_block_hardlimit=64k", "65534", "setpriv --reuid 65534 --clear-groups", `yes > "$small/fill"`, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := newAssault(t, &scene{files: []file{{"none", ""}}}, "")
			small := a.places[c.small]
			sh := func(script string) (string, error) {
				cmd := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", script)
				cmd.Env = append(a.env, "small="+small, "options="+c.mount, "owner="+c.owner, "as="+c.as, "fill="+c.fill, "next="+c.next, "PROJECT="+a.places["PROJECT"], "policy="+policy)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				return string(out) + stderr.String(), err
			}
			const mount = `mount -t tmpfs -o "mode=700,$options" tmpfs "$small" || exit 1; `
			if out, err := sh(mount); err != nil {
				t.Skipf("this system has no such file system: %s", out)
			}
			if c.owner != "0" { // the directories above are root's
				for dir := small; dir != os.TempDir() && len(dir) > 1; dir = dir[:strings.LastIndexByte(dir, '/')] {
					if err := os.Chmod(dir, 0o755); err != nil {
						t.Fatal(err)
					}
				}
			}
			out, err := sh(mount + `mkdir -p "$PROJECT/.ralph"; cd "$PROJECT"; printf %s "$policy" > .ralph/policy.yaml; echo '{"n": 0}' > state.json` + script)
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			before, rest, _ := strings.Cut(out, "full\n")
			full, after, _ := strings.Cut(rest, "free\n")
			if !strings.Contains(before, "on, 0 so far") || strings.Contains(full, "block") || strings.Count(full, "so it ends")+strings.Count(full, "so the loop ends") < 2 {
				t.Errorf("it says\n%s\nand on the full disk\n%s", before, full)
			}
			if !strings.Contains(after, "on, 1 so far") || !strings.Contains(after, `{"n": 2}`) {
				t.Errorf("once there is room:\n%s", after)
			}
		})
	}
}
