package judge_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/ralph-sdk/ralph/loop/judge"
)

func ExampleAsk() {
	// A server of one's own; a service needs a Key.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"choices":[{"message":{"content":"{\"more\": true}"}}],"usage":{"prompt_tokens":90,"completion_tokens":6}}`)
	}))
	defer server.Close()

	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	answer, err := judge.Ask(ctx, judge.Request{
		API:      judge.OpenAI,
		BaseURL:  server.URL,
		Model:    "small",
		Question: "Is there more to do?",
		Turns:    []judge.Turn{{Role: "assistant", Text: "The tests still fail."}},
		Schema:   []byte(`{"type":"object","properties":{"more":{"type":"boolean"}}}`),
	})
	if err != nil {
		fmt.Println("no answer:", err)
		return
	}
	fmt.Println(answer.Value["more"], answer.InputTokens+answer.OutputTokens, "tokens")
	// Output: true 96 tokens
}
