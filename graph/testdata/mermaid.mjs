// Reads the names of files from stdin and parses each with Mermaid, as it is without configuration. What cleans HTML needs a
// browser and is no part of the grammar, so it is left out.
import {readFileSync} from 'node:fs';
import purify from 'dompurify';
purify.addHook = () => {};
purify.sanitize = (text) => String(text);
const {default: mermaid} = await import('mermaid');
const most = mermaid.mermaidAPI.defaultConfig.maxTextSize;
let failed = 0;
for (const file of readFileSync(0, 'utf8').trim().split('\n')) {
  try {
    const text = readFileSync(file, 'utf8');
    if (text.length > most) throw new Error(`${text.length} characters, more than ${most}`);
    await mermaid.parse(text);
  } catch (e) {
    failed++;
    console.log(`${file}: ${e.message ?? e}`);
  }
}
process.exit(failed ? 1 : 0);
