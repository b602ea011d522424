// The whole input in the fragment of an address, which no browser sends: JSON, deflated, in base64 of addresses.
export const most = 32 << 10;

const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

export async function pack(input) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(input)), new CompressionStream("deflate-raw"));
  let s = "";
  for (const b of bytes) s += String.fromCharCode(b);
  return btoa(s).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export async function unpack(fragment) {
  if (fragment.length > most) throw new Error(`the link has more than ${most / 1024} KiB`);
  const packed = Uint8Array.from(atob(fragment.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  let text = "", size = 0;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for (let part; !(part = await reader.read()).done;) {
    if ((size += part.value.length) > 2 << 20) throw new Error("the link unpacks to more than 2 MiB");
    text += decoder.decode(part.value, { stream: true });
  }
  return complete(JSON.parse(text + decoder.decode()));
}

// complete reads what may be anything.
export function complete(input) {
  const files = {};
  for (const [name, text] of Object.entries(input?.files ?? {})) if (typeof text === "string") files[name] = text;
  const string = (s, otherwise) => (typeof s === "string" ? s : otherwise);
  const policy = string(input?.policy, ".ralph/policy.yaml");
  files[policy] ??= "";
  return { policy, files, state: string(input?.state, ""), event: string(input?.event, "Stop"), message: string(input?.message, "") };
}
