package schema_test

import (
	"fmt"

	"github.com/ralph-sdk/ralph/schema"
)

// A state file that an agent wrote is seldom quite what its schema says. Numbers may be text, fields may be absent.
func Example() {
	s, err := schema.Compile("state.schema.json", []byte(`{
		"properties": {
			"phase":      {"enum": ["plan", "execution"], "default": "plan"},
			"taskIndex":  {"type": "integer", "minimum": 0},
			"totalTasks": {"type": "integer", "default": 0},
			"owner":      {"type": "string"}
		}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	doc, err := schema.ParseJSON([]byte("{\"taskIndex\": \"2\",\n \"phase\": \"excution\",\n \"owner\": 7}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	result := s.Check(doc)
	fmt.Println("value:   ", result.Value)
	for _, v := range result.Unusable {
		fmt.Println("unusable:", v)
	}
	for _, v := range result.Warnings {
		fmt.Println("warning: ", v)
	}
	// Output:
	// value:    map[phase:excution taskIndex:2 totalTasks:0]
	// unusable: 3:11: /owner: is 7, expected string; write a string such as "text"
	// warning:  2:11: /phase: is "excution", expected one of "plan" or "execution"; did you mean "execution"?
}

// Rules are checked against the type before there is any document.
func ExampleSchema_At() {
	src, _ := schema.Shipped("specum-state")
	s, err := schema.Compile("specum-state", src)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.At("taskIndex"))
	fmt.Println(s.At("granularity"))
	fmt.Println(s.At("fixTaskMap", "1.2", "fixTaskIds"))
	fmt.Println(s.At("taskIndx") == nil)
	// Output:
	// integer
	// "fine" | "coarse"
	// array of string
	// true
}
