module github.com/ralph-sdk/ralph/temporal

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/ralph-sdk/ralph v0.1.0
	go.temporal.io/api v1.63.5
	go.temporal.io/sdk v1.50.0
)
