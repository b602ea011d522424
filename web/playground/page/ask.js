// The engine, in a Worker. It answers one question at a time. One that takes longer than limit ends with the Worker, and
// the next question starts another.
const limit = Number(document.querySelector("meta[name=limit]").content); // ms

let module, trusted;

function address(name) { // of a script of this page
  trusted ??= window.trustedTypes?.createPolicy("ralph-worker", { createScriptURL: (url) => url });
  const url = new URL(name, document.baseURI).href;
  return trusted ? trusted.createScriptURL(url) : url;
}

export class Runaway extends Error {}

export class Engine {
  #worker; #ready; #waiting = new Map(); #last = 0;

  words; // is called with what the language server says

  // started resolves with the Worker, once it can answer.
  started() {
    this.#ready ??= new Promise((ready, failed) => {
      const worker = this.#worker = new Worker(address("worker.js"));
      worker.onmessage = ({ data }) => {
        if (data.module) module = data.module;
        else if (data.ready) ready(worker);
        else if (data.words) this.words?.(data.words);
        else if (data.failed) this.#end(failed, new Error(data.failed));
        else this.#waiting.get(data.id)?.(data);
      };
      worker.onerror = (event) => this.#end(failed, new Error(event.message || "worker.js cannot be loaded"));
      worker.postMessage({ module });
    });
    return this.#ready;
  }

  #end(failed, error) {
    this.stop();
    failed(error);
    for (const done of [...this.#waiting.values()]) done({ problem: error.message });
  }

  stop() {
    this.#worker?.terminate();
    this.#worker = this.#ready = undefined;
  }

  async ask(name, question) {
    await this.started();
    const id = ++this.#last;
    return new Promise((answered, failed) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(id);
      };
      const timer = setTimeout(() => {
        end();
        this.stop();
        failed(new Runaway(`The engine did not answer within ${limit / 1000} seconds, so it was stopped.`));
      }, limit);
      this.#waiting.set(id, ({ answer, problem }) => {
        end();
        if (problem === undefined) answered(JSON.parse(answer));
        else failed(new Error(problem));
      });
      this.#worker.postMessage({ id, name, question: JSON.stringify(question ?? null) });
    });
  }
}
