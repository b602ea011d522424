package main

func Example() {
	main()
	// Output:
	// continue - Continue until everything is done. Then write DONE, alone on a line.
	// stop - the agent is done
}
