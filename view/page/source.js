// Where the data come from: the server that sent this page, or the file that it is in. Both have the same functions.

const failed = (status, message) => Object.assign(new Error(message), { status }); // 0: there is no answer

// gone reports whether only another ralph view can help.
export const gone = (error) => [0, 401, 403, 421].includes(error.status);

async function get(path, query = {}) {
  let answer;
  try {
    answer = await fetch("/api/" + path + "?" + new URLSearchParams(query), { headers: { Accept: "application/json" } });
  } catch {
    throw failed(0, "ralph view does not answer");
  }
  if (!answer.ok) throw failed(answer.status, (await answer.json().catch(() => ({}))).error ?? answer.statusText);
  return answer.json();
}

// follow reads what happens after the row n: rows in order, each once. The stream is closed while the page is hidden, and
// begins again where it ended.
function follow(n, { rows, status, state }) {
  let events, timer, pause = 1000;
  const retry = async () => {
    events?.close();
    events = undefined;
    clearTimeout(timer);
    if (document.hidden) return;
    try {
      await get("page");
      if (!events) state("lost");
    } catch (error) {
      state(gone(error) ? "gone" : "lost");
    }
    timer = setTimeout(open, pause);
    pause = Math.min(pause * 2, 15000);
  };
  const open = () => {
    clearTimeout(timer);
    if (events || document.hidden) return;
    events = new EventSource("/api/events?after=" + n);
    events.addEventListener("open", () => { pause = 1000; state("live"); });
    events.addEventListener("error", retry);
    events.addEventListener("status", status);
    events.addEventListener("rows", (event) => {
      const fresh = JSON.parse(event.data).filter((row) => row.n > n);
      if (fresh.length === 0) return;
      n = fresh.at(-1).n;
      rows(fresh);
    });
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      events?.close();
      events = undefined;
      state("hidden");
    } else {
      open();
      status();
    }
  });
  open();
}

function liveSource() {
  return {
    live: true,
    page: () => get("page"),
    status: () => get("status"),
    decisions: (before) => get("decisions", before ? { before } : {}),
    decision: (id) => get("decision", { id }),
    policy: (digest) => get("policy", { digest }),
    run: (id) => get("run", { id }),
    follow,
  };
}

async function fileSource(packed) {
  const bytes = Uint8Array.from(atob(packed.trim()), (c) => c.charCodeAt(0));
  const data = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  const kept = (map, id, what) => {
    if (!map || !Object.hasOwn(map, id)) throw failed(404, `this file does not hold ${what}`);
    return map[id];
  };
  const rows = data.rows ?? [];
  return {
    live: false,
    page: async () => data.page,
    status: async () => data.status ?? null,
    decisions: async () => ({ rows, first: rows[0]?.n ?? 0, last: rows.at(-1)?.n ?? 0, total: rows.length }),
    decision: async (id) => ({ records: kept(data.records, id, "this decision"), rows: rows.filter((r) => r.id === id) }),
    policy: async (digest) => kept(data.policies, digest, "this policy"),
    run: async (id) => kept(data.runs, id, "this run"),
    follow() {},
  };
}

export async function openSource() {
  const data = document.getElementById("data");
  return data ? fileSource(data.textContent) : liveSource();
}
