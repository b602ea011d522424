// Package judge is the source judge of policies: it asks a language model one question about the end of a conversation, and its answer
// is a JSON object.
//
// It promises that the key is sent to its service only, follows no redirect and is in no error, that it reads at most 1 MiB of an
// answer, and that the conversation is quoted as material, which the texts in it cannot end. It leaves out the choice of the question
// and the use of the answer, which are the policy's, and whether it may ask at all, which the loop decides.
//
// Begin with [Option].
package judge
