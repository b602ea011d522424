#!/usr/bin/env node
// Starts the program of this platform, which is in a package of its own. Hooks should name that program itself, as ralph install does:
// Node.js takes longer to start than a decision.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@ralph-sdk/ralph-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/ralph${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(
    `ralph: the package ${name} is not installed. Install without --omit=optional: npm install -g @ralph-sdk/ralph. ` +
      "If your platform has no package: go install github.com/ralph-sdk/ralph/cmd/ralph@latest",
  );
  process.exit(1); // never 2, which hosts read as an answer
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`ralph: ${program} does not start: ${error.message}`);
  process.exitCode = 1;
});
child.on("exit", (status, signal) => {
  process.exitCode = status ?? 128 + (constants.signals[signal] ?? 0);
});
