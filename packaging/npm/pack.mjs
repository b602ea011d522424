// Makes the npm packages from the programs of a release:
//
//	node packaging/npm/pack.mjs DIST OUT VERSION
//
// DIST has the programs as goreleaser leaves them, ralph_OS_ARCH*/ralph. OUT gets a directory for the wrapper and one for each platform.
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [dist, out, version] = process.argv.slice(2);
if (!version || !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) {
  console.error("usage: node packaging/npm/pack.mjs DIST OUT VERSION, such as dist npm-packages 1.2.3");
  process.exit(2);
}

const wrapper = JSON.parse(readFileSync(join(here, "ralph", "package.json"), "utf8"));
const { license, homepage, repository } = wrapper;
const names = { linux: "linux", darwin: "darwin", windows: "win32", amd64: "x64", arm64: "arm64" }; // Go's and Node's

const made = [];
for (const folder of readdirSync(dist).sort()) {
  const [, goos, goarch] = /^ralph_(linux|darwin|windows)_(amd64|arm64)(?:_[^/]*)?$/.exec(folder) ?? [];
  if (!goos) continue;
  const os = names[goos];
  const cpu = names[goarch];
  const program = goos === "windows" ? "ralph.exe" : "ralph";
  const name = `${wrapper.name}-${os}-${cpu}`;
  const dir = start(`ralph-${os}-${cpu}`);
  copyFileSync(join(dist, folder, program), join(dir, "bin", program));
  chmodSync(join(dir, "bin", program), 0o755);
  copyFileSync(join(here, "..", "licenses.txt"), join(dir, "licenses.txt"));
  writeFileSync(join(dir, "README.md"), `# ${name}\n\nThe program of the package ${wrapper.name} for ${os} on ${cpu}. Install that package instead.\n`);
  writeJSON(join(dir, "package.json"), {
    name, version, description: `ralph for ${os} on ${cpu}`, license, homepage, repository,
    os: [os], cpu: [cpu], files: ["bin", "licenses.txt"], preferUnplugged: true,
  });
  made.push(name);
}

const wanted = Object.keys(wrapper.optionalDependencies);
if (made.toSorted().join() !== wanted.toSorted().join()) {
  console.error(`${dist} has programs for ${made.join(", ") || "no platform"}; ralph/package.json lists ${wanted.join(", ")}`);
  process.exit(1);
}

const dir = start("ralph");
for (const file of ["bin/ralph.js", "README.md"]) copyFileSync(join(here, "ralph", file), join(dir, file));
writeJSON(join(dir, "package.json"), { ...wrapper, version, optionalDependencies: Object.fromEntries(made.map((name) => [name, version])) });

// start makes the directory of a package.
function start(name) {
  const dir = join(out, name);
  mkdirSync(join(dir, "bin"), { recursive: true });
  copyFileSync(join(here, "..", "..", "LICENSE"), join(dir, "LICENSE"));
  return dir;
}

function writeJSON(file, value) {
  writeFileSync(file, JSON.stringify(value, null, 2) + "\n");
}
