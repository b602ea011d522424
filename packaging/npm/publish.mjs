// Publishes the packages that pack.mjs made, the wrapper last, so that it never asks for
// a package that is not published. A version that is published already stays, so that
// a release that broke off can be run again.
//
//	node packaging/npm/publish.mjs OUT [--dry-run]
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [out, ...flags] = process.argv.slice(2);
if (!out) {
  console.error("usage: node packaging/npm/publish.mjs OUT [--dry-run]");
  process.exit(2);
}
const npm = process.platform === "win32" ? "npm.cmd" : "npm";
const isWrapper = (dir) => dir === "ralph";
const dirs = readdirSync(out).sort((a, b) => isWrapper(a) - isWrapper(b) || (a < b ? -1 : 1));
for (const dir of dirs) {
  const { name, version } = JSON.parse(readFileSync(join(out, dir, "package.json"), "utf8"));
  if (flags.length === 0) {
    const found = spawnSync(npm, ["view", `${name}@${version}`, "version"], { encoding: "utf8" });
    if (found.status === 0 && found.stdout.trim() === version) {
      console.log(`${name}@${version} is published already`);
      continue;
    }
  }
  const tag = version.includes("-") ? "next" : "latest";
  const done = spawnSync(npm, ["publish", "--access", "public", "--tag", tag, ...flags], { cwd: join(out, dir), stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
}
