// Addresses: #/view/id?key=value. They work in a served page and in a file.

export function readRoute(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view = "", ...rest] = path.split("/");
  let id = rest.join("/");
  try { id = decodeURIComponent(id); } catch { /* as it is */ }
  return { view: view || "overview", id, query: Object.fromEntries(new URLSearchParams(query)) };
}

export function href(view, id = "", query = {}) {
  const kept = Object.entries(query).filter(([, v]) => v !== undefined && v !== "");
  const path = view === "overview" ? "#/" : "#/" + view + (id ? "/" + encodeURIComponent(id) : "");
  return path + (kept.length ? "?" + new URLSearchParams(kept) : "");
}

// replaceRoute changes the address of the view that is shown, without a step in the history.
export function replaceRoute(view, id, query) {
  history.replaceState(null, "", href(view, id, query));
}
