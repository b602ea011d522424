const app = document.getElementById('app')
const answer = await fetch('/api/decisions')
const { rows } = await answer.json()
for (const row of rows) {
  const p = document.createElement('p')
  p.textContent = `${row.time} ${row.kind} ${row.policy} ${row.by}: ${row.said ?? ''}`
  app.append(p)
}
