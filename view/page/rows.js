// The rows that the page knows, oldest first, and what is counted over them. Everything is kept up to date row by row, so
// that no step is long, however many there are.

export const known = { rows: [], first: 0, reading: false, sessions: new Map(), policies: new Map(), outcomes: new Map(), rules: new Map() };

const watchers = new Set();

// watchRows calls a function with each batch: rows, and whether they are older than those before. It returns what ends it.
export function watchRows(call) {
  watchers.add(call);
  return () => watchers.delete(call);
}

export const sessionKey = (row) => (row.root ?? "") + "\n" + (row.session ?? "");

function countRow(map, key, row, older) {
  if (!key) return;
  const entry = map.get(key) ?? { n: 0, last: row };
  entry.n++;
  if (!older) entry.last = row;
  map.set(key, entry);
}

// addRows takes rows that are newer than all, or older than all.
export function addRows(batch, older = false) {
  const held = known.rows;
  const fresh = batch.filter((row) => held.length === 0 || (older ? row.n < held[0].n : row.n > held.at(-1).n));
  if (older) known.rows = fresh.concat(held);
  else held.push(...fresh);
  for (const row of older ? fresh.slice().reverse() : fresh) {
    countRow(known.sessions, sessionKey(row), row, older);
    countRow(known.policies, row.policy, row, older);
    countRow(known.outcomes, row.outcome, row, older);
    countRow(known.rules, row.by, row, older);
  }
  for (const call of [...watchers]) call(fresh, older);
}

const hay = new WeakMap();

function searchable(row) {
  let s = hay.get(row);
  if (s === undefined) {
    s = [row.outcome, row.policy, row.by, row.said, row.session, row.loop, row.run, row.event, row.host, row.id, row.root].join(" ").toLowerCase();
    hay.set(row, s);
  }
  return s;
}

// matcher makes a function of the filters of an address.
export function matcher({ root, session, run, policy, outcome, rule, q }) {
  const words = (q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return (row) => (!root || row.root === root) && (!session || row.session === session) && (!run || row.run === run) &&
    (!policy || row.policy === policy) && (!outcome || row.outcome === outcome) &&
    (!rule || row.by === rule || (row.by ?? "").startsWith(rule + "/")) &&
    (words.length === 0 || words.every((w) => searchable(row).includes(w)));
}

const breath = (ms) => new Promise((done) => setTimeout(done, ms));

// loadOlder reads what the server has before the rows that are known, in steps that leave time for the reader.
export async function loadOlder(source) {
  while (known.reading || (known.rows.length > 0 && known.rows[0].n > known.first)) {
    const page = await source.decisions(known.rows[0]?.n);
    Object.assign(known, { first: page.first, reading: page.reading });
    if (page.rows.length === 0) {
      if (!page.reading) return;
      await breath(300);
    }
    for (let end = page.rows.length; end > 0; end -= 500) {
      addRows(page.rows.slice(Math.max(0, end - 500), end), true);
      await breath(0);
    }
  }
}
