// ralph writes this plugin of OpenCode 1, and removes it with `ralph uninstall opencode`. When a session becomes idle, it
// runs the hooks of ../ralph.json, each with the event as JSON on stdin, and prompts again if one answers "block".
import { spawn } from "node:child_process"
import { readFile } from "node:fs/promises"

const settings = new URL("../ralph.json", import.meta.url)

// run returns the answer of a hook, or {}: without one the agent stops.
function run(hook, input) {
  return new Promise((resolve) => {
    const child = spawn(hook.command, { cwd: input.cwd, shell: true, stdio: ["pipe", "pipe", "ignore"] })
    let out = ""
    const timer = setTimeout(() => child.kill(), (hook.timeout ?? 60) * 1000)
    child.stdout.on("data", (data) => (out += data))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve({}))
    child.on("close", (status) => {
      clearTimeout(timer)
      try {
        resolve(status === 0 ? (JSON.parse(out) ?? {}) : {})
      } catch {
        resolve({})
      }
    })
    child.stdin.end(JSON.stringify(input))
  })
}

const textOf = (message) =>
  message.parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("\n")

// isOurs reports whether a prompt is a continuation.
const isOurs = (message) => message.parts.some((part) => part.metadata?.ralph)

async function idle({ client, directory }, sessionID) {
  const session = (await client.session.get({ path: { id: sessionID } })).data
  const messages = (await client.session.messages({ path: { id: sessionID } })).data ?? []
  const prompts = messages.filter((message) => message.info.role === "user")
  const [prompt, last] = [prompts.at(-1), messages.at(-1)]
  if (!session || session.parentID || !prompt || last.info.role !== "assistant") return
  const input = {
    client: "opencode",
    hook_event_name: last.info.error ? "StopFailure" : "Stop",
    session_id: sessionID,
    cwd: directory,
    prompt_id: prompts.filter((message) => !isOurs(message)).at(-1)?.info.id,
    stop_hook_active: isOurs(prompt),
    last_assistant_message: textOf(last),
    error: last.info.error?.name,
  }
  const { hooks } = JSON.parse(await readFile(settings, "utf8"))
  const all = (hooks?.[input.hook_event_name] ?? []).flatMap((group) => group.hooks ?? [])
  const answers = await Promise.all(all.map((hook) => run(hook, input)))
  for (const message of answers.map((answer) => answer.systemMessage).filter(Boolean))
    await client.tui.showToast({ body: { message, variant: "info" } }).catch(() => {})
  const reasons = answers.filter((answer) => answer.decision === "block").map((answer) => answer.reason)
  if (input.error || reasons.length === 0) return
  const { agent, model } = prompt.info
  const parts = [{ type: "text", text: reasons.join("\n\n"), metadata: { ralph: true } }]
  await client.session.promptAsync({ path: { id: sessionID }, body: { agent, model, parts } })
}

export const Ralph = async (context) => ({
  event: async ({ event }) => {
    if (event.type === "session.idle") await idle(context, event.properties.sessionID).catch(() => {})
  },
})
