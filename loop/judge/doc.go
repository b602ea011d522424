// Package judge, which may change in any version, asks a language model one question about the end of a conversation and
// returns its answer as JSON.
//
// It promises that one deadline, that of the context, covers connecting, answering and every further try; that the
// answer is exactly one JSON object or an error that says why not; that the conversation is handed over as material,
// between marks that no text in it can write; and that the key goes to the address that was named and to no other.
// Nothing that a service sends makes it panic, and no more than [MaxResponse] bytes of it are read.
//
// It speaks two wire formats over net/http, Anthropic's messages and the chat completions that OpenAI defined and that
// servers of local models speak too. It leaves out the choice of the question, and what follows from the answer.
//
// [Source] is the source of facts that policies ask a model for. [Ask] alone is the question; it reads neither files nor
// the environment.
package judge
