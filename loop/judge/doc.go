// Package judge asks a language model one question about the end of a conversation and returns its answer as JSON. It
// may change in any version.
//
// The context's deadline covers connecting, answering and all retries. The result is exactly one JSON object or an
// error with the reason. The conversation is passed as material, between marks that no text in it can contain, and the
// key is sent only to the configured address. No response makes the package panic, and it reads at most [MaxResponse]
// bytes of it.
//
// It implements two wire formats over net/http: Anthropic's messages, and the chat completions of OpenAI, which servers
// of local models also use. It leaves out the choice of the question and the use of the answer.
//
// Start with [Source], the source of facts for policies. [Ask] only asks the question; it reads neither files nor the
// environment.
package judge
