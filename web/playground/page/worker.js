// The Worker of the engine. It begins with {module}: the compiled engine, or nothing, and then it fetches it. Later messages
// are questions {id, name, question}, and {words} for the language server; the engine answers them itself.
import "./memory.js";
import "wasm_exec"; // of the Go that built the engine

// unpacked decompresses what the host did not.
async function unpacked(response) {
  if (!response.ok) throw new Error(`engine.wasm.gz: ${response.status} ${response.statusText}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

onmessage = async ({ data }) => {
  onmessage = ({ data: { words, id, name, question } }) => (words ? globalThis.ralphWords(words) : globalThis.ralph(id, name, question));
  try {
    const module = data.module ?? await WebAssembly.compile(await unpacked(await fetch("engine.wasm.gz")));
    if (!data.module) postMessage({ module });
    const go = new Go();
    Object.assign(go.env, { GOGC: "400", TMPDIR: "/", HOME: "/" });
    go.run(await WebAssembly.instantiate(module, go.importObject)).then(() => postMessage({ failed: "the engine ended" }));
  } catch (error) {
    postMessage({ failed: error.message });
  }
};
