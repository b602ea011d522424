package main

func Example() {
	main()
	// Output:
	// continue - Continue until everything is done. When it is true, and not before, write this line:
	//
	// DONE
	// stop - the agent is done
}
