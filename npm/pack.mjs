// Makes the npm packages from the programs of a release:
//
//	node npm/pack.mjs DIST OUT VERSION
//
// DIST has the programs as goreleaser leaves them, ralph_OS_ARCH*/ralph. OUT gets a
// folder for the wrapper and one for each platform.
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [dist, out, version] = process.argv.slice(2);
if (!version || !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) {
  console.error("usage: node npm/pack.mjs DIST OUT VERSION, such as dist npm-packages 1.2.3");
  process.exit(2);
}

const wrapper = JSON.parse(readFileSync(join(here, "ralph-loop", "package.json"), "utf8"));
const names = { linux: "linux", darwin: "darwin", windows: "win32", amd64: "x64", arm64: "arm64" }; // Go's and Node's

const made = [];
for (const folder of readdirSync(dist).sort()) {
  const [, goos, goarch] = /^ralph_(linux|darwin|windows)_(amd64|arm64)(?:_[^/]*)?$/.exec(folder) ?? [];
  if (!goos) continue;
  const os = names[goos];
  const cpu = names[goarch];
  const program = goos === "windows" ? "ralph.exe" : "ralph";
  const name = `${wrapper.name}-${os}-${cpu}`;
  const dir = join(out, `ralph-loop-${os}-${cpu}`);
  mkdirSync(join(dir, "bin"), { recursive: true });
  copyFileSync(join(dist, folder, program), join(dir, "bin", program));
  chmodSync(join(dir, "bin", program), 0o755);
  copyFileSync(join(here, "..", "LICENSE"), join(dir, "LICENSE"));
  copyFileSync(join(here, "..", "cmd", "ralph", "licenses.txt"), join(dir, "licenses.txt"));
  writeFileSync(join(dir, "README.md"), `# ${name}\n\nThe program of [${wrapper.name}](https://www.npmjs.com/package/${wrapper.name}) for ${os} on ${cpu}. Install that package instead.\n`);
  const { license, homepage, repository } = wrapper;
  writeJSON(join(dir, "package.json"), {
    name, version, description: `ralph for ${os} on ${cpu}`, license, homepage, repository,
    os: [os], cpu: [cpu], files: ["bin", "licenses.txt"], preferUnplugged: true,
  });
  made.push(name);
}

const missing = Object.keys(wrapper.optionalDependencies).filter((name) => !made.includes(name));
const odd = made.filter((name) => !(name in wrapper.optionalDependencies));
if (missing.length > 0 || odd.length > 0) {
  console.error(`${dist} has programs for ${made.join(", ") || "no platform"}; ralph-loop/package.json lists ${Object.keys(wrapper.optionalDependencies).join(", ")}`);
  process.exit(1);
}

const dir = join(out, "ralph-loop");
mkdirSync(join(dir, "bin"), { recursive: true });
for (const file of ["bin/ralph.js", "README.md"]) copyFileSync(join(here, "ralph-loop", file), join(dir, file));
copyFileSync(join(here, "..", "LICENSE"), join(dir, "LICENSE"));
writeJSON(join(dir, "package.json"), {
  ...wrapper, version, optionalDependencies: Object.fromEntries(made.map((name) => [name, version])),
});

function writeJSON(file, value) {
  writeFileSync(file, JSON.stringify(value, null, 2) + "\n");
}
